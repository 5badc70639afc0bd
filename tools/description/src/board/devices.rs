//! The devices of a board.

use super::{Board, InterruptController, PHYSICAL_LIMIT};
use crate::names::NameKind;
use crate::place::{Located, Place};
use crate::report::{Error, Report};
use crate::table::Value;
use cairn_abi::address::{DEVICES_OFFSET, PAGE_SIZE, REGION_SIZE};
use cairn_abi::device::VirtioKind;
use std::ops::Range;

/// Bytes of an instance's region that device registers can take.
const DEVICE_MAXIMUM: u64 = REGION_SIZE - DEVICES_OFFSET;
/// What the interrupt controller is called on every board that has one.
const CONTROLLER: &str = "interrupt-controller";
/// What the emulator's test finisher is called.
const FINISHER: &str = "finisher";

/// A device.
#[derive(Clone, Debug)]
pub struct Device {
    /// Name of its device-tree node.
    pub name: Located<String>,
    /// What it is on every board that has one, for descriptions of systems that run on several: `serial0`,
    /// `interrupt-controller`.
    pub aliases: Vec<Located<String>>,
    /// First physical address of its registers.
    pub base: u64,
    /// Bytes of its registers.
    pub size: u64,
    /// Its interrupt sources.
    pub interrupts: Vec<Located<u32>>,
    /// It is the emulator's test finisher, to which the nucleus writes the exit status.
    pub finisher: bool,
    /// It can be told to read and write memory at any physical address.
    pub dma: bool,
    /// Its registers answer user mode.
    pub user_access: bool,
    /// It is a virtio device. In a system a slot that was chosen for a kind says that kind.
    pub virtio: Option<Virtio>,
    /// The board says that it is a slot: what answers is what is plugged in.
    pub is_slot: bool,
}

/// What answers at the registers of a virtio device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Virtio {
    /// Whatever is plugged in there.
    Slot,
    /// A device of this kind.
    Kind(VirtioKind),
}

impl Device {
    /// The physical addresses of the pages that hold its registers.
    pub fn pages(&self) -> Range<u64> {
        self.base / PAGE_SIZE * PAGE_SIZE..(self.base + self.size).next_multiple_of(PAGE_SIZE)
    }

    /// The name by which descriptions of systems should call it.
    pub fn shown(&self) -> &str {
        self.aliases.first().unwrap_or(&self.name)
    }

    /// Its kind, if it is a virtio device of a kind that is known.
    pub fn kind(&self) -> Option<VirtioKind> {
        match self.virtio? {
            Virtio::Kind(kind) => Some(kind),
            Virtio::Slot => None,
        }
    }

    pub(super) fn is_called(&self, name: &str) -> bool {
        *self.name == name || self.aliases.iter().any(|alias| **alias == name)
    }
}

/// The devices, and the names of those that are reported: who names one of them makes no mistake.
pub(super) fn read(value: &Value<'_>, report: &mut Report) -> (Vec<Device>, Vec<String>) {
    let (mut devices, mut broken) = (Vec::new(), Vec::new());
    let Some(mut table) = value.table("`device`", report) else {
        return (devices, broken);
    };
    for value in table.take_all() {
        match read_device(&value, report) {
            Some(device) => devices.push(device),
            None => broken.push(value.name.to_string()),
        }
    }
    (devices, broken)
}

fn read_device(value: &Value<'_>, report: &mut Report) -> Option<Device> {
    let name = value.key_name(NameKind::DeviceNode, "a device", "\"serial@10000000\"", report);
    let mut table = value.table(format!("the device `{}`", value.name), report)?;
    let registers = table
        .require("registers", "registers = [0x1000_0000, 0x100]", report)
        .and_then(|value| read_registers(&value, report));
    let interrupts = match table.take("interrupt") {
        Some(value) => read_interrupts(&value, report)?,
        None => Vec::new(),
    };
    let mut flag = |key, default| match table.take(key) {
        Some(value) => value.boolean(report).map(|flag| flag.value),
        None => Some(default),
    };
    let (finisher, dma, user_access) =
        (flag("finisher", false)?, flag("dma", true)?, flag("user_access", true)?);
    let virtio = match table.take("virtio") {
        Some(value) => Some(read_virtio(&value, dma, report)?),
        None => None,
    };
    let aliases = match table.take("alias") {
        Some(value) => vec![value.name(NameKind::Plain, "serial0", report)?],
        None => Vec::new(),
    };
    table.finish(report);
    let (name, (place, base, size)) = (name?, registers?);
    let unit = name.split_once('@').map(|(_, unit)| unit);
    if let Some(unit) = unit
        && u64::from_str_radix(unit, 16).ok() != Some(base)
    {
        report.push(
            Error::new(
                &place,
                format!("the registers of `{name}` are not where its name says"),
                format!("expected the address 0x{unit}, found {base:#x}"),
                "a node's name ends in `@` and the hexadecimal address of its registers; \
                 correct one of them",
            )
            .note(&name.place, "the name"),
        );
        return None;
    }
    let is_slot = virtio == Some(Virtio::Slot);
    Some(Device {
        name,
        aliases,
        base,
        size,
        interrupts,
        finisher,
        dma,
        user_access,
        virtio,
        is_slot,
    })
}

/// One source, or a list of some.
fn read_interrupts(value: &Value<'_>, report: &mut Report) -> Option<Vec<Located<u32>>> {
    let source = |value: &Value<'_>, report: &mut Report| {
        Some(value.integer(1..=1023, report)?.map(|source| source as u32))
    };
    if !value.is_array() {
        return Some(vec![source(value, report)?]);
    }
    let elements = value.array("[5, 6]", report)?;
    elements.iter().map(|element| source(element, report)).collect()
}

fn read_virtio(value: &Value<'_>, dma: bool, report: &mut Report) -> Option<Virtio> {
    let kinds = VirtioKind::ALL.map(|kind| (kind.name(), Virtio::Kind(kind)));
    let choices: Vec<_> = [("slot", Virtio::Slot)].into_iter().chain(kinds).collect();
    let virtio = value.choice(&choices, report)?;
    if !dma {
        report.push(Error::new(
            &virtio.place,
            "a virtio device without DMA",
            "expected no `dma = false` beside it",
            "remove that: every virtio device reads and writes memory by itself",
        ));
    }
    Some(virtio.value)
}

fn read_registers(value: &Value<'_>, report: &mut Report) -> Option<(Place, u64, u64)> {
    let example = "[0x1000_0000, 0x100]";
    let elements = value.array(example, report)?;
    let [base, size] = elements.as_slice() else {
        report.push(Error::new(
            &value.place(),
            "bad value for `registers`",
            format!("expected two numbers, found {}", elements.len()),
            format!("write the address and the number of bytes: registers = {example}"),
        ));
        return None;
    };
    let base = base.integer(0..=PHYSICAL_LIMIT / 2, report);
    let size = size.size(1..=DEVICE_MAXIMUM, 1, report);
    Some((value.place(), base?.value, size?.value))
}

/// Names the devices that the board's other tables single out, and refuses names for two devices.
pub(super) fn named(
    mut devices: Vec<Device>,
    interrupts: Option<&InterruptController>,
    report: &mut Report,
) -> Vec<Device> {
    let finisher = devices.iter().position(|device| device.finisher);
    let controller = interrupts.map(|controller| controller.device);
    for (index, alias) in [(controller, CONTROLLER), (finisher, FINISHER)] {
        let Some(device) = index.and_then(|index| devices.get_mut(index)) else { continue };
        let place = device.name.place.clone();
        device.aliases.push(Located::new(alias.to_owned(), place));
    }
    for (index, device) in devices.iter().enumerate() {
        for alias in &device.aliases {
            // Of two with the same alias the second is reported.
            let same = |(at, other): &(usize, &Device)| {
                *at != index && (*other.name == **alias || *at < index && other.is_called(alias))
            };
            let Some((_, other)) = devices.iter().enumerate().find(same) else { continue };
            report.push(
                Error::new(
                    &alias.place,
                    format!("two devices are called `{alias}`"),
                    "expected a name that no other device has",
                    "number them, as `serial0` and `serial1`",
                )
                .note(&other.name.place, "the other one"),
            );
        }
    }
    devices
}

/// `has_interrupts`: there is a table `[interrupts]`. The board has none of one that is reported.
pub(super) fn check(board: &Board, has_interrupts: bool, report: &mut Report) {
    for (index, device) in board.devices.iter().enumerate() {
        check_device(board, device, &board.devices[..index], has_interrupts, report);
    }
}

fn check_device(
    board: &Board,
    device: &Device,
    before: &[Device],
    has_interrupts: bool,
    report: &mut Report,
) {
    let registers = device.base..device.base + device.size;
    let memory = board.memory.base..board.memory.base + *board.memory.size;
    let overlap = |other: &Range<u64>| registers.start < other.end && other.start < registers.end;
    if overlap(&memory) {
        report.push(
            Error::new(
                &device.name.place,
                format!("the registers of `{}` lie in main memory", device.name),
                format!("expected addresses outside {:#x} to {:#x}", memory.start, memory.end),
                "correct the registers, or the memory's base and size",
            )
            .note(&board.memory.size.place, "the memory"),
        );
    }
    let same = before.iter().find(|other| overlap(&(other.base..other.base + other.size)));
    if let Some(other) = same {
        report.push(
            Error::new(
                &device.name.place,
                format!("the registers of `{}` and `{}` overlap", device.name, other.name),
                format!(
                    "expected addresses of its own, found {:#x} to {:#x}",
                    registers.start, registers.end
                ),
                "correct the registers of one of them",
            )
            .note(
                &other.name.place,
                format!("{:#x} to {:#x}", other.base, other.base + other.size),
            ),
        );
    }
    for (number, interrupt) in device.interrupts.iter().enumerate() {
        check_source(board, device, (number, interrupt), before, has_interrupts, report);
    }
}

fn check_source(
    board: &Board,
    device: &Device,
    (number, interrupt): (usize, &Located<u32>),
    before: &[Device],
    has_interrupts: bool,
    report: &mut Report,
) {
    match &board.interrupts {
        None if has_interrupts => {}
        None => report.push(Error::new(
            &interrupt.place,
            "an interrupt without an interrupt controller",
            "expected a table `[interrupts]` in this board description",
            "add `[interrupts]` with the keys `controller`, `sources` and `context`",
        )),
        Some(controller) if **interrupt > controller.sources => report.push(Error::new(
            &interrupt.place,
            format!("the interrupt controller has no source {interrupt}"),
            format!("expected 1 to {}", controller.sources),
            "correct the interrupt, or `sources` of `[interrupts]`",
        )),
        Some(_) => {}
    }
    let has = |sources: &[Located<u32>]| sources.iter().any(|source| **source == **interrupt);
    if has(&device.interrupts[..number]) {
        report.push(Error::new(
            &interrupt.place,
            format!("`{}` has the interrupt {interrupt} twice", device.name),
            "expected one that is not in the list yet",
            "correct one of them",
        ));
    }
    if let Some(other) = before.iter().find(|other| has(&other.interrupts)) {
        report.push(
            Error::new(
                &interrupt.place,
                format!("`{}` and `{}` have the same interrupt", device.name, other.name),
                "expected an interrupt of its own",
                "interrupt sources cannot be shared; correct one of them",
            )
            .note(&other.name.place, "has the same"),
        );
    }
}
