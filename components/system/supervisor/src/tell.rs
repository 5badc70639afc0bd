//! Says what happened to which instance. What is to be said is noted at once, since the thread goes on; the text is made
//! later, at the priority of the threads that let it happen.

use crate::death::Reason;
use crate::printer;
use crate::system::System;
use cairn::exclusive::Exclusive;
use cairn::time::ticks;
use cairn::{Error, InstanceId};
use cairn_abi::address::{PAGE_SIZE, REGION_SIZE};
use cairn_abi::arch::trap::{PANIC_MARK_REGISTER, PANIC_REGISTERS, STACK_REGISTER};
use cairn_abi::descriptor::name_text;
use cairn_abi::record::{FLOAT_OFF, Instance};
use cairn_abi::thread::{TRAP_SEPC, trap_register};
use cairn_abi::upcall::{Access, Fault};
use cairn_supervisor::report;
use cairn_supervisor::stack::{Frame, Words};
use core::fmt::Write;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// A bad access this close to the stack pointer looks like a full stack: below each lies a page
/// without access.
const STACK_HINT: u64 = 2 * PAGE_SIZE;
/// Deaths whose text is not made yet; of more, the text is made at once.
const NOTED: usize = 4;

const MESSAGE: usize = (PANIC_REGISTERS.end - PANIC_REGISTERS.start) as usize;

/// What the registers of a fault say.
#[derive(Clone, Copy)]
struct Registers {
    pc: u64,
    stack: u64,
    mark: u64,
    message: [u64; MESSAGE],
}

impl Registers {
    const NONE: Registers = Registers { pc: 0, stack: 0, mark: 0, message: [0; MESSAGE] };

    fn of(system: &System, frame: Frame) -> Registers {
        let word = |offset: i64| system.load(frame.header.wrapping_add_signed(offset)).unwrap_or(0);
        let mut registers = Registers {
            pc: word(TRAP_SEPC),
            stack: word(trap_register(STACK_REGISTER)),
            mark: word(trap_register(PANIC_MARK_REGISTER)),
            ..Registers::NONE
        };
        for (place, number) in registers.message.iter_mut().zip(PANIC_REGISTERS) {
            *place = word(trap_register(number));
        }
        registers
    }

    fn register(&self, number: i64) -> u64 {
        match number {
            PANIC_MARK_REGISTER => self.mark,
            _ => self.message[(number - PANIC_REGISTERS.start) as usize % MESSAGE],
        }
    }
}

#[derive(Clone, Copy)]
struct Note {
    instance: InstanceId,
    reason: Reason,
    delay: Option<u64>,
    registers: Registers,
    /// Of the threads that let it die.
    priority: u8,
}

/// Whether it was said which image this is, by which the host finds the files of a report's addresses.
static IMAGE_SAID: AtomicBool = AtomicBool::new(false);
/// How many there are: the worker asks before each step.
static COUNT: AtomicUsize = AtomicUsize::new(0);
static NOTES: Exclusive<[Option<Note>; NOTED]> = Exclusive::new([None; NOTED]);

/// The best priority of what is to be told; `None` if nothing is.
pub fn priority() -> Option<u8> {
    if COUNT.load(Relaxed) == 0 {
        return None;
    }
    NOTES.with(|notes| notes.iter().flatten().map(|note| note.priority).max())
}

impl System {
    /// Notes why an instance died and when it starts again.
    pub fn note(&self, instance: InstanceId, reason: Reason, delay: Option<u64>, priority: u8) {
        let registers = match reason {
            Reason::Fault { frame, .. } => Registers::of(self, frame),
            _ => Registers::NONE,
        };
        let note = Note { instance, reason, delay, registers, priority };
        let is_noted = NOTES.with(|notes| {
            // The order in which they are told is that of the places.
            let free = notes.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
            notes.get_mut(free).map(|place| *place = Some(note)).is_some()
        });
        COUNT.fetch_add(usize::from(is_noted), Relaxed);
        if !is_noted {
            self.tell(&note);
        }
    }

    /// Makes the text of what was noted first.
    pub fn tell_next(&self) {
        let note = NOTES.with(|notes| notes.iter_mut().find_map(Option::take));
        if let Some(note) = note {
            COUNT.fetch_sub(1, Relaxed);
            self.tell(&note);
        }
    }

    /// Says that something did not work that should.
    pub fn expect(&self, what: &str, instance: &Instance, result: Result<(), Error>) {
        if let Err(error) = result {
            let name = name_text(&instance.name);
            let _ =
                writeln!(printer::log(), "supervisor: cannot {what} `{name}`: {}", error.text());
        }
    }

    /// The name of an instance.
    pub fn name(&self, instance: InstanceId) -> &'static str {
        self.instance(instance).map_or("?", |record| name_text(&record.name))
    }

    fn tell(&self, note: &Note) {
        let mut log = printer::log();
        let Some(leader) = self.instance(note.instance) else { return };
        if !IMAGE_SAID.swap(true, Relaxed) {
            let _ = writeln!(log, "supervisor: image {:016x}", self.header.identifier);
        }
        // Of those that end together it is the one whose code it was.
        let has = |one: &&Instance| (note.registers.pc ^ one.start_address) < REGION_SIZE;
        let culprit = self.fellows(leader).find(has).unwrap_or(leader);
        let place = if culprit.in_kernel != 0 { ", in the kernel" } else { "" };
        let name = name_text(&culprit.name);
        let _ = write!(log, "supervisor: `{name}` (domain {}{place}", culprit.domain);
        for fellow in self.fellows(leader).filter(|fellow| fellow.number != culprit.number) {
            let _ = write!(log, ", with `{}`", name_text(&fellow.name));
        }
        let _ = write!(log, ") ");
        let _ = match note.reason {
            Reason::RanAway { thread, longest } => writeln!(
                log,
                "kept thread {thread} for longer than {} us",
                longest * 1000 / ticks(1000)
            ),
            Reason::Kept { thread } => {
                writeln!(log, "kept thread {thread}, which was asked to come home")
            }
            Reason::Asked { .. } | Reason::Idle => writeln!(log, "was killed"),
            Reason::Returned => writeln!(log, "returned from its main function"),
            Reason::Fault { thread, fault, value, .. } => {
                // Who may use the unit did what it does not have.
                let fault = match fault {
                    Fault::FloatingPoint if culprit.float != FLOAT_OFF => Fault::Illegal,
                    fault => fault,
                };
                self.tell_fault(&note.registers, thread, fault, value)
            }
        };
        let _ = match note.delay {
            None => writeln!(log, "supervisor:   it stays dead"),
            Some(0) => writeln!(log, "supervisor:   it starts again"),
            Some(delay) => writeln!(log, "supervisor:   it starts again in {delay} ms"),
        };
    }

    fn tell_fault(
        &self,
        registers: &Registers,
        thread: u64,
        fault: Fault,
        value: u64,
    ) -> core::fmt::Result {
        let mut log = printer::log();
        let mut text = [0; 128];
        let message = match fault {
            Fault::Breakpoint => {
                report::panic_message(|number| registers.register(number), &mut text)
            }
            _ => None,
        };
        if let Some(message) = message {
            // It has file and line; the function that was left last is the panic handler.
            return writeln!(log, "panicked in thread {thread}: {message}");
        }
        writeln!(log, "{} in thread {thread}: value {value:#x}", report::fault_text(fault))?;
        let hint = match fault {
            Fault::Denied(Access::Read | Access::Write, to)
                if to.abs_diff(registers.stack) < STACK_HINT =>
            {
                ": perhaps its stack is full"
            }
            _ => "",
        };
        let pc = registers.pc;
        match report::nearest_symbol(self.symbols, pc) {
            Some((symbol, offset)) => writeln!(
                log,
                "supervisor:   at {pc:#x}, {}+{offset:#x}{hint}",
                self.symbol_name(symbol)
            ),
            None => writeln!(log, "supervisor:   at {pc:#x}, in no known function{hint}"),
        }
    }
}
