//! Says what happened to which instance. What is to be said is noted at once, since the thread goes on; the text is made
//! later, at the priority of the threads that let it happen.

use crate::death::Reason;
use crate::printer;
use crate::system::System;
use crate::trace::{Calls, Registers};
use cairn::exclusive::Exclusive;
use cairn::time::ticks;
use cairn::{Error, InstanceId};
use cairn_abi::address::{PAGE_SIZE, REGION_SIZE};
use cairn_abi::descriptor::name_text;
use cairn_abi::record::{FLOAT_OFF, Instance};
use cairn_abi::upcall::{Access, Fault};
use cairn_supervisor::report;
use core::fmt::Write;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// A bad access this close to the stack pointer looks like a full stack: below each lies a page
/// without access.
const STACK_HINT: u64 = 2 * PAGE_SIZE;
/// Bytes that are shown of the message of a panic, and while the log is rather full.
const MESSAGE_SHOWN: usize = 1024;
const MESSAGE_SHOWN_SHORT: usize = 128;
/// Deaths whose text is not made yet; of more, the text is made at once.
const NOTED: usize = 4;

#[derive(Clone, Copy)]
struct Note {
    instance: InstanceId,
    reason: Reason,
    delay: Option<u64>,
    registers: Registers,
    calls: Calls,
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

/// Whether the memory of an instance is needed for what is to be told of it.
pub fn needs(instance: InstanceId) -> bool {
    let is_it =
        |note: &Note| note.instance == instance && matches!(note.reason, Reason::Fault { .. });
    COUNT.load(Relaxed) != 0 && NOTES.with(|notes| notes.iter().flatten().any(is_it))
}

impl System {
    /// Notes why an instance died and when it starts again.
    pub fn note(&self, instance: InstanceId, reason: Reason, delay: Option<u64>, priority: u8) {
        let registers = match reason {
            Reason::Fault { frame, .. } => Registers::of(self, frame),
            _ => Registers::NONE,
        };
        let calls = match (reason.thread(), self.instance(instance)) {
            (Some(thread), Some(record)) => Calls::of(self, thread, record.domain),
            _ => Calls::NONE,
        };
        let note = Note { instance, reason, delay, registers, calls, priority };
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

    /// Makes the text of what was noted first, or of what was noted of an instance.
    pub fn tell_next(&self, of: Option<InstanceId>) {
        let is_it = |note: &&mut Option<Note>| {
            note.is_some_and(|note| of.is_none_or(|instance| instance == note.instance))
        };
        let note = NOTES.with(|notes| notes.iter_mut().find(is_it).and_then(Option::take));
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
        let is_long = printer::has_room();
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
                self.tell_fault(culprit, &note.registers, thread, fault, value, is_long)
            }
        };
        if is_long {
            self.tell_calls(&note.calls);
        }
        let _ = match note.delay {
            None => writeln!(log, "supervisor:   it stays dead"),
            Some(0) => writeln!(log, "supervisor:   it starts again"),
            Some(delay) => writeln!(log, "supervisor:   it starts again in {delay} ms"),
        };
    }

    fn tell_fault(
        &self,
        culprit: &Instance,
        registers: &Registers,
        thread: u64,
        fault: Fault,
        value: u64,
        is_long: bool,
    ) -> core::fmt::Result {
        let mut log = printer::log();
        if fault == Fault::Breakpoint && registers.is_panic() {
            // The message has file and line; the function that was left last is the panic handler.
            write!(log, "panicked in thread {thread}: ")?;
            let most = if is_long { MESSAGE_SHOWN } else { MESSAGE_SHOWN_SHORT };
            self.tell_message(culprit.number, registers, most);
            writeln!(log)?;
        } else {
            writeln!(log, "{} in thread {thread}: value {value:#x}", report::fault_text(fault))?;
            write!(log, "supervisor:   at ")?;
            self.tell_place(registers.pc, 0);
            let hint = match fault {
                Fault::Denied(Access::Read | Access::Write, to)
                    if to.abs_diff(registers.stack) < STACK_HINT =>
                {
                    ": perhaps its stack is full"
                }
                _ => "",
            };
            writeln!(log, "{hint}")?;
        }
        if is_long {
            self.tell_stack(culprit, registers);
        }
        Ok(())
    }
}
