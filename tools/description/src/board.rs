//! Board descriptions: the machine that a system is built for.

mod devices;

use crate::document;
use crate::names::{NameKind, suggestion};
use crate::place::{Located, Source};
use crate::report::{Error, Report};
use crate::table::{Table, Value};
use crate::tree::Node;
use crate::units::show_size;
use cairn_abi::address::{PAGE_SIZE, ROLE_MEMORY, STACK_GROUPS};
pub use devices::{Device, Virtio};
use std::ops::Range;
use std::sync::Arc;

/// Bytes of physical address space that Sv39 reaches.
const PHYSICAL_LIMIT: u64 = 1 << 56;

/// Behind the last physical address that the memory manager's view of memory reaches.
const MEMORY_END_MAXIMUM: u64 = STACK_GROUPS - ROLE_MEMORY;

/// Where main memory begins in the harness of `boards/rtl/`.
const SIMULATED_BASE: u64 = 0x8000_0000;

/// A machine.
#[derive(Clone, Debug)]
pub struct Board {
    /// Its name, the same as the file's.
    pub name: Located<String>,
    /// Number of harts that the system uses.
    pub harts: u32,
    /// Ticks of the `time` counter in a second.
    pub time_base: u64,
    /// Cycles in a second, if execution is counted by the `cycle` counter, since reading the time is a trap.
    pub cycle_base: Option<Located<u64>>,
    /// Implemented bits of an address-space identifier.
    pub asid_bits: u32,
    /// What a translation fence of an address and an identifier compares.
    pub fence_by_address: FenceByAddress,
    /// What its cores keep of translations, if the board says so.
    pub tlb: Option<Tlb>,
    /// The supervisor's own timer comparator (Sstc) exists.
    pub sstc: bool,
    /// Harts have a floating-point unit, with the extensions F and D.
    pub float: bool,
    /// The kernel domain's data and portal code are mapped in large pages.
    pub large_kernel_pages: bool,
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

/// What the identifier of a translation is compared with by a fence of an address and an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceByAddress {
    /// The fence's, as the manual says.
    Asid,
    /// That in `satp`; so is assumed of a core of which nothing is said.
    SatpAsid,
}

/// Translations that a core keeps at a time, apart for instructions and data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tlb {
    /// Entries for instructions.
    pub instruction: u32,
    /// Entries for data.
    pub data: u32,
    /// Pages of an entry, which follow each other, aligned: a power of two. A large page takes an entry of its own.
    pub sector: u32,
    /// Further entries of each, for large pages alone; without, they take those above.
    pub large: Option<u32>,
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
    /// Bytes at the end, which a reset keeps, for what the supervisor said last.
    pub kept: u64,
}

/// What stands for a board on the host.
#[derive(Clone, Debug)]
pub enum Emulation {
    /// QEMU.
    Qemu(Qemu),
    /// A core's RTL, cycle by cycle, in the harness of `boards/rtl/`.
    Simulator(Simulator),
}

/// How the harness of `boards/rtl/` is the board.
#[derive(Clone, Debug)]
pub struct Simulator {
    /// The core: its folder in `boards/rtl/`.
    pub core: Located<String>,
    /// Cycles in a second.
    pub clock: u64,
    /// Cycles in which the core is held in reset.
    pub reset: u64,
    /// Registers of the timer, of the core's own or of the harness'.
    pub timer: u64,
}

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

    /// Bytes of memory from the load address on: the image, and what is handed out.
    pub fn room(&self) -> u64 {
        self.memory_end() - *self.load_address
    }

    /// Behind the last physical address of what is handed out.
    pub fn memory_end(&self) -> u64 {
        self.memory.base + *self.memory.size - self.memory.kept
    }

    /// What the run clock counts in a tick.
    pub fn run_rate(&self) -> u64 {
        self.cycle_base.as_ref().map_or(1, |base| **base / self.time_base)
    }

    /// The devices that have registers in these pages.
    pub fn devices_in(&self, pages: Range<u64>) -> impl Iterator<Item = &Device> {
        self.devices.iter().filter(move |device| {
            let own = device.pages();
            own.start < pages.end && pages.start < own.end
        })
    }

    /// The index of the device called `name`, by its node's name or by what it is on every board that has one.
    pub fn device(&self, name: &str) -> Option<usize> {
        self.devices.iter().position(|device| device.is_called(name))
    }
}

fn read(source: &Arc<Source>, report: &mut Report) -> Option<Board> {
    read_tree(&document::parse(source, report)?, report)
}

/// Reads a board description from its tree.
pub(crate) fn read_tree(tree: &Node, report: &mut Report) -> Option<Board> {
    let mut top = Table::top(tree, "the board description");
    let board = top.require("board", "[board]", report);
    let memory = top.require("memory", "[memory]", report);
    let qemu = top.take("qemu");
    let simulator = top.take("simulator");
    let interrupts = top.take("interrupts");
    let devices = top.take("device");
    top.finish(report);

    let memory = memory.and_then(|value| read_memory(&value, report));
    let emulation = read_emulation(qemu, simulator, report);
    let (devices, broken) =
        devices.map_or_else(Default::default, |value| devices::read(&value, report));
    let has_interrupts = interrupts.is_some();
    let interrupts =
        interrupts.and_then(|value| read_interrupts(&value, &devices, &broken, report));
    let devices = devices::named(devices, interrupts.as_ref(), report);
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
    let mut flag = |key, report: &mut Report| {
        table.take(key).map_or(Some(false), |value| value.boolean(report).map(|flag| flag.value))
    };
    let sstc = flag("sstc", report);
    let float = flag("float", report);
    let large_kernel_pages = flag("large_kernel_pages", report);
    let choices = [("asid", FenceByAddress::Asid), ("satp-asid", FenceByAddress::SatpAsid)];
    let fence_by_address =
        table.take("fence_by_address").map_or(Some(FenceByAddress::SatpAsid), |value| {
            value.choice(&choices, report).map(|choice| choice.value)
        });
    let tlb = table.take("tlb").map(|value| read_tlb(&value, report));
    let cycle_base =
        table.take("cycle_base").and_then(|value| value.integer(1..=1_000_000_000_000, report));
    table.finish(report);

    let board = Board {
        name: name?,
        harts: harts?.value as u32,
        time_base: time_base?.value,
        cycle_base,
        asid_bits: asid_bits?.value as u32,
        fence_by_address: fence_by_address?,
        tlb: match tlb {
            Some(tlb) => Some(tlb?),
            None => None,
        },
        sstc: sstc?,
        float: float?,
        large_kernel_pages: large_kernel_pages?,
        load_address: load_address?,
        memory: memory?,
        emulation,
        interrupts,
        devices,
    };
    check(&board, report);
    devices::check(&board, has_interrupts, report);
    Some(board)
}

fn read_tlb(value: &Value<'_>, report: &mut Report) -> Option<Tlb> {
    let mut table = value.table("`tlb`", report)?;
    let example = "tlb = { instruction = 32, data = 32 }";
    let mut entries = |key, report: &mut Report| {
        let value = table.require(key, example, report)?;
        value.integer(1..=65536, report).map(|entries| entries.value as u32)
    };
    let (instruction, data) = (entries("instruction", report), entries("data", report));
    let sector = match table.take("sector") {
        Some(value) => {
            let powers = [1, 2, 4, 8, 16];
            let sector = value.integer(1..=16, report)?;
            if !powers.contains(&*sector) {
                report.push(Error::new(
                    &sector.place,
                    "an entry has a power of two of pages",
                    "expected 1, 2, 4, 8 or 16",
                    "write for example: sector = 4",
                ));
                return None;
            }
            sector.value as u32
        }
        None => 1,
    };
    let large = match table.take("large") {
        Some(value) => Some(value.integer(1..=65536, report)?.value as u32),
        None => None,
    };
    table.finish(report);
    Some(Tlb { instruction: instruction?, data: data?, sector, large })
}

fn read_memory(value: &Value<'_>, report: &mut Report) -> Option<Memory> {
    let mut table = value.table("`[memory]`", report)?;
    let base = table
        .require("base", "base = 0x8000_0000", report)
        .and_then(|value| value.size(0..=PHYSICAL_LIMIT / 2, PAGE_SIZE, report));
    let size = table
        .require("size", "size = \"128M\"", report)
        .and_then(|value| value.size(1 << 20..=PHYSICAL_LIMIT / 2, PAGE_SIZE, report));
    let mut part = |key, report: &mut Report| match table.take(key) {
        Some(value) => value.size(0..=PHYSICAL_LIMIT / 2, PAGE_SIZE, report),
        None => Some(Located::new(0, table.place().clone())),
    };
    let (firmware, kept) = (part("firmware", report), part("kept", report));
    table.finish(report);
    let (base, size, firmware, kept) = (base?, size?, firmware?, kept?);
    let parts = [
        (
            &firmware,
            "the firmware takes all of the memory",
            "make `firmware` smaller or `size` larger",
        ),
        (&kept, "what a reset keeps is all of the memory", "make `kept` smaller or `size` larger"),
    ];
    let mut left = *size;
    for (part, title, help) in parts {
        if **part >= left {
            report.push(
                Error::new(
                    &part.place,
                    title,
                    format!("expected less than {}", show_size(left)),
                    help,
                )
                .note(&size.place, "all of the memory"),
            );
            return None;
        }
        left -= **part;
    }
    Some(Memory { base: *base, size, firmware: *firmware, kept: *kept })
}

fn read_emulation(
    qemu: Option<Value<'_>>,
    simulator: Option<Value<'_>>,
    report: &mut Report,
) -> Option<Emulation> {
    if let (Some(qemu), Some(simulator)) = (&qemu, &simulator) {
        report.push(
            Error::new(
                &simulator.place(),
                "a board is emulated either by QEMU or by a simulator",
                "expected no `[simulator]` beside `[qemu]`",
                "remove one of the two tables",
            )
            .note(&qemu.place(), "the other one"),
        );
    }
    let qemu = qemu.and_then(|value| read_qemu(&value, report)).map(Emulation::Qemu);
    let simulator = simulator.and_then(|value| read_simulator(&value, report));
    qemu.or(simulator.map(Emulation::Simulator))
}

fn read_simulator(value: &Value<'_>, report: &mut Report) -> Option<Simulator> {
    let mut table = value.table("`[simulator]`", report)?;
    let core = table
        .require("core", "core = \"rocket\"", report)
        .and_then(|value| value.name(NameKind::Plain, "rocket", report));
    let mut number = |key, range, default| match table.take(key) {
        Some(value) => value.integer(range, report).map(|number| number.value),
        None => Some(default),
    };
    let clock = number("clock", 1..=100_000_000_000, 100_000_000);
    let reset = number("reset", 1..=1_000_000, 20);
    let timer = number("timer", 0..=PHYSICAL_LIMIT / 2, 0x200_0000);
    table.finish(report);
    Some(Simulator { core: core?, clock: clock?, reset: reset?, timer: timer? })
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

fn read_interrupts(
    value: &Value<'_>,
    devices: &[Device],
    broken: &[String],
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
        if broken.contains(&controller) {
            return None;
        }
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
    let usable = memory.base + memory.firmware..board.memory_end();
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
    if let Some(Emulation::Simulator(_)) = &board.emulation
        && (memory.base != SIMULATED_BASE || !memory.size.is_multiple_of(1 << 20))
    {
        report.push(Error::new(
            &memory.size.place,
            "no simulation has this memory",
            format!("expected whole megabytes from {SIMULATED_BASE:#x} on"),
            "correct `base` and `size` in `[memory]`: the harness in boards/rtl has memory there",
        ));
    }
    if let Some(Emulation::Simulator(simulator)) = &board.emulation
        && !simulator.clock.is_multiple_of(board.time_base)
    {
        report.push(Error::new(
            &simulator.core.place,
            "the timer of the simulation ticks in no whole number of cycles",
            format!(
                "expected a `clock` that `time_base`, {}, divides, found {}",
                board.time_base, simulator.clock
            ),
            "correct `clock` in `[simulator]`, or `time_base` in `[board]`",
        ));
    }
    if let Some(cycle_base) = &board.cycle_base
        && !cycle_base.is_multiple_of(board.time_base)
    {
        report.push(Error::new(
            &cycle_base.place,
            "there is no whole number of cycles in a tick",
            format!("expected a multiple of `time_base`, {}, found {}", board.time_base, **cycle_base),
            "write the frequency of the `cycle` counter, or leave the line out: execution is counted by the time then",
        ));
    }
    if memory.base + *memory.size > MEMORY_END_MAXIMUM {
        report.push(Error::new(
            &memory.size.place,
            "memory lies too high",
            format!(
                "expected its end at {MEMORY_END_MAXIMUM:#x} or below, found {:#x}",
                memory.base + *memory.size
            ),
            "describe the part of the memory that lies below: the memory manager has no addresses for more",
        ));
    }
}
