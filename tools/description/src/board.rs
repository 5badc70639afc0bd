//! Board descriptions: the machine that a system is built for.

use crate::document;
use crate::names::{NameKind, suggestion};
use crate::place::{Located, Place, Source};
use crate::report::{Error, Report};
use crate::table::{Table, Value};
use crate::units::show_size;
use cairn_abi::address::{DEVICES_OFFSET, PAGE_SIZE, REGION_SIZE};
use std::ops::Range;
use std::sync::Arc;

/// Bytes of physical address space that Sv39 reaches.
const PHYSICAL_LIMIT: u64 = 1 << 56;
/// Bytes of an instance's region that device registers can take.
const DEVICE_MAXIMUM: u64 = REGION_SIZE - DEVICES_OFFSET;

/// A machine.
#[derive(Clone, Debug)]
pub struct Board {
    /// Its name, the same as the file's.
    pub name: Located<String>,
    /// Number of harts that the system uses.
    pub harts: u32,
    /// Ticks of the `time` counter in a second.
    pub time_base: u64,
    /// Implemented bits of an address-space identifier.
    pub asid_bits: u32,
    /// The supervisor's own timer comparator (Sstc) exists.
    pub sstc: bool,
    /// Where the firmware enters the image.
    pub load_address: Located<u64>,
    /// Main memory.
    pub memory: Memory,
    /// What stands for it on the host; absent for a board that only exists as hardware.
    pub emulation: Option<Emulation>,
    /// The interrupt controller; absent if no device has an interrupt.
    pub interrupts: Option<InterruptController>,
    /// The devices, in the order of the file.
    pub devices: Vec<Device>,
}

/// Main memory.
#[derive(Clone, Debug)]
pub struct Memory {
    /// First physical address.
    pub base: u64,
    /// Bytes.
    pub size: Located<u64>,
    /// Bytes at the base that belong to the firmware.
    pub firmware: u64,
}

impl Memory {
    /// Bytes that the system can use.
    pub fn usable(&self) -> u64 {
        *self.size - self.firmware
    }
}

/// What stands for a board on the host.
#[derive(Clone, Debug)]
pub enum Emulation {
    /// QEMU.
    Qemu(Qemu),
    /// A core's RTL, cycle by cycle, in the harness of `boards/rtl/`: the name of the core.
    Simulator(String),
}

/// The cores that `boards/rtl/build.sh` makes simulators of.
pub const SIMULATED_CORES: [&str; 2] = ["rocket", "cva6"];

/// How QEMU emulates the board.
#[derive(Clone, Debug)]
pub struct Qemu {
    /// `-machine`.
    pub machine: String,
    /// `-cpu`.
    pub cpu: String,
    /// Further arguments.
    pub arguments: Vec<String>,
}

/// The platform-level interrupt controller.
#[derive(Clone, Debug)]
pub struct InterruptController {
    /// Its registers, as an index into [`Board::devices`].
    pub device: usize,
    /// Number of its highest interrupt source; sources count from 1.
    pub sources: u32,
    /// The context of the first hart's supervisor mode.
    pub context: u32,
}

/// A device.
#[derive(Clone, Debug)]
pub struct Device {
    /// Name of its device-tree node.
    pub name: Located<String>,
    /// First physical address of its registers.
    pub base: u64,
    /// Bytes of its registers.
    pub size: u64,
    /// Its interrupt source.
    pub interrupt: Option<Located<u32>>,
    /// It is the emulator's test finisher, to which the nucleus writes the exit status.
    pub finisher: bool,
}

impl Device {
    /// The physical addresses of the pages that hold its registers.
    pub fn pages(&self) -> Range<u64> {
        self.base / PAGE_SIZE * PAGE_SIZE..(self.base + self.size).next_multiple_of(PAGE_SIZE)
    }
}

impl Board {
    /// Reads and checks a board description.
    pub fn parse(source: &Arc<Source>) -> Result<Board, Report> {
        let mut report = Report::new();
        let board = read(source, &mut report);
        match board {
            Some(board) => report.into_result(board),
            None => Err(report.into_result(()).expect_err("what is not read is reported")),
        }
    }

    /// The index of the device called `name`.
    pub fn device(&self, name: &str) -> Option<usize> {
        self.devices.iter().position(|device| *device.name == name)
    }
}

fn read(source: &Arc<Source>, report: &mut Report) -> Option<Board> {
    let trees = [(source, document::parse(source, report)?)];
    let mut top = document::top(&trees, "the board description");
    let board = top.require("board", "[board]", report);
    let memory = top.require("memory", "[memory]", report);
    let qemu = top.take("qemu");
    let simulator = top.take("simulator");
    let interrupts = top.take("interrupts");
    let devices = top.take("device");
    top.finish(report);

    let memory = memory.and_then(|value| read_memory(&value, report));
    let emulation = read_emulation(qemu, simulator, report);
    let devices = devices.map_or(Vec::new(), |value| read_devices(&value, report));
    let interrupts = interrupts.and_then(|value| read_interrupts(&value, &devices, report));
    let mut table = board?.table("`[board]`", report)?;
    let name = table
        .require("name", "name = \"qemu-virt\"", report)
        .and_then(|value| value.name(NameKind::Plain, "qemu-virt", report));
    let mut number = |key, example: &str, range, default: Option<u64>, report: &mut Report| {
        let value = match default {
            Some(_) => table.take(key),
            None => table.require(key, example, report),
        };
        match value {
            Some(value) => value.integer(range, report),
            None => default.map(|default| Located::new(default, table.place().clone())),
        }
    };
    let harts = number("harts", "harts = 1", 1..=1, Some(1), report);
    let time_base = number("time_base", "time_base = 10_000_000", 1..=10_000_000_000, None, report);
    let asid_bits = number("asid_bits", "asid_bits = 16", 0..=16, None, report);
    let load_address =
        number("load_address", "load_address = 0x8020_0000", 0..=PHYSICAL_LIMIT - 1, None, report);
    let sstc = table
        .take("sstc")
        .map_or(Some(false), |value| value.boolean(report).map(|sstc| sstc.value));
    table.finish(report);

    let board = Board {
        name: name?,
        harts: harts?.value as u32,
        time_base: time_base?.value,
        asid_bits: asid_bits?.value as u32,
        sstc: sstc?,
        load_address: load_address?,
        memory: memory?,
        emulation,
        interrupts,
        devices,
    };
    check(&board, report);
    Some(board)
}

fn read_memory(value: &Value<'_>, report: &mut Report) -> Option<Memory> {
    let mut table = value.table("`[memory]`", report)?;
    let base = table
        .require("base", "base = 0x8000_0000", report)
        .and_then(|value| value.size(0..=PHYSICAL_LIMIT / 2, PAGE_SIZE, report));
    let size = table
        .require("size", "size = \"128M\"", report)
        .and_then(|value| value.size(1 << 20..=PHYSICAL_LIMIT / 2, PAGE_SIZE, report));
    let firmware = match table.take("firmware") {
        Some(value) => value.size(0..=PHYSICAL_LIMIT / 2, PAGE_SIZE, report),
        None => Some(Located::new(0, table.place().clone())),
    };
    table.finish(report);
    let (base, size, firmware) = (base?, size?, firmware?);
    if *firmware >= *size {
        report.push(
            Error::new(
                &firmware.place,
                "the firmware takes all of the memory",
                format!("expected less than {}", show_size(*size)),
                "make `firmware` smaller or `size` larger",
            )
            .note(&size.place, "all of the memory"),
        );
        return None;
    }
    Some(Memory { base: *base, size, firmware: *firmware })
}

fn read_emulation(
    qemu: Option<Value<'_>>,
    simulator: Option<Value<'_>>,
    report: &mut Report,
) -> Option<Emulation> {
    match (qemu, simulator) {
        (Some(qemu), Some(simulator)) => {
            report.push(
                Error::new(
                    &simulator.place(),
                    "a board is emulated either by QEMU or by a simulator",
                    "expected no `[simulator]` beside `[qemu]`",
                    "remove one of the two tables",
                )
                .note(&qemu.place(), "the other one"),
            );
            None
        }
        (Some(qemu), None) => read_qemu(&qemu, report).map(Emulation::Qemu),
        (None, Some(simulator)) => read_simulator(&simulator, report).map(Emulation::Simulator),
        (None, None) => None,
    }
}

fn read_simulator(value: &Value<'_>, report: &mut Report) -> Option<String> {
    let mut table = value.table("`[simulator]`", report)?;
    let core = table
        .require("core", "core = \"rocket\"", report)
        .and_then(|value| value.text("rocket", report));
    table.finish(report);
    let core = core?;
    if !SIMULATED_CORES.contains(&core.as_str()) {
        report.push(Error::new(
            &core.place,
            format!("unknown core `{core}`"),
            "expected a core that can be simulated",
            suggestion(&core, "the cores are", SIMULATED_CORES, "add it to boards/rtl/"),
        ));
        return None;
    }
    Some(core.value)
}

fn read_qemu(value: &Value<'_>, report: &mut Report) -> Option<Qemu> {
    let mut table = value.table("`[qemu]`", report)?;
    let machine = table
        .require("machine", "machine = \"virt\"", report)
        .and_then(|value| value.text("virt", report));
    let cpu = match table.take("cpu") {
        Some(value) => value.text("rv64", report).map(|cpu| cpu.value),
        None => Some("rv64".to_owned()),
    };
    let arguments = match table.take("arguments") {
        Some(value) => value.texts("[\"-device\", \"virtio-rng-device\"]", report),
        None => Some(Vec::new()),
    };
    table.finish(report);
    let arguments = arguments?.into_iter().map(|argument| argument.value).collect();
    Some(Qemu { machine: machine?.value, cpu: cpu?, arguments })
}

fn read_devices(value: &Value<'_>, report: &mut Report) -> Vec<Device> {
    let Some(mut table) = value.table("`device`", report) else {
        return Vec::new();
    };
    let values = table.take_all();
    values.iter().filter_map(|value| read_device(value, report)).collect()
}

fn read_device(value: &Value<'_>, report: &mut Report) -> Option<Device> {
    let name = value.key_name(NameKind::DeviceNode, "a device", "\"serial@10000000\"", report);
    let mut table = value.table(format!("the device `{}`", value.name), report)?;
    let registers = table
        .require("registers", "registers = [0x1000_0000, 0x100]", report)
        .and_then(|value| read_registers(&value, report));
    let interrupt = match table.take("interrupt") {
        Some(value) => Some(value.integer(1..=1023, report)?.map(|source| source as u32)),
        None => None,
    };
    let finisher = match table.take("finisher") {
        Some(value) => value.boolean(report)?.value,
        None => false,
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
    Some(Device { name, base, size, interrupt, finisher })
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

fn read_interrupts(
    value: &Value<'_>,
    devices: &[Device],
    report: &mut Report,
) -> Option<InterruptController> {
    let mut table: Table<'_> = value.table("`[interrupts]`", report)?;
    let controller = table
        .require("controller", "controller = \"plic@c000000\"", report)
        .and_then(|value| value.text("plic@c000000", report));
    let sources = table
        .require("sources", "sources = 95", report)
        .and_then(|value| value.integer(1..=1023, report));
    let context = table
        .require("context", "context = 1", report)
        .and_then(|value| value.integer(0..=15871, report));
    table.finish(report);
    let controller = controller?;
    let Some(device) = devices.iter().position(|device| *device.name == *controller) else {
        let names = devices.iter().map(|device| device.name.as_str());
        report.push(Error::new(
            &controller.place,
            format!("unknown device `{controller}`"),
            "expected a device of this board",
            suggestion(&controller, "the devices are", names, "add a table `[device.\"...\"]`"),
        ));
        return None;
    };
    Some(InterruptController {
        device,
        sources: sources?.value as u32,
        context: context?.value as u32,
    })
}

fn check(board: &Board, report: &mut Report) {
    let memory = &board.memory;
    let usable = memory.base + memory.firmware..memory.base + *memory.size;
    if !usable.contains(&board.load_address) || !board.load_address.is_multiple_of(PAGE_SIZE) {
        report.push(
            Error::new(
                &board.load_address.place,
                "the image cannot be loaded here",
                format!(
                    "expected a multiple of 4K from {:#x} to {:#x}",
                    usable.start,
                    usable.end - PAGE_SIZE
                ),
                "write the address at which the firmware enters its payload",
            )
            .note(&memory.size.place, "the memory"),
        );
    }
    for (index, device) in board.devices.iter().enumerate() {
        check_device(board, device, &board.devices[..index], report);
    }
}

fn check_device(board: &Board, device: &Device, before: &[Device], report: &mut Report) {
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
    let Some(interrupt) = &device.interrupt else {
        return;
    };
    match &board.interrupts {
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
    let same = before
        .iter()
        .find(|other| other.interrupt.as_ref().is_some_and(|other| **other == **interrupt));
    if let Some(other) = same {
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
