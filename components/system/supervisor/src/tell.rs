//! Says what happened to which instance. What is to be said is noted at once, since the thread goes on; the text is made
//! later, at the priority of the threads that let it happen.

use crate::death::ON_TRIAL;
use crate::lasting::lasting;
use crate::moving;
use crate::printer;
use crate::reason::Reason;
use crate::system::System;
use crate::trace::{Calls, Registers, StackWords};
use cairn::exclusive::Exclusive;
use cairn::time::ticks;
use cairn::{Error, InstanceId};
use cairn_abi::address::{PAGE_SIZE, REGION_SIZE};
use cairn_abi::descriptor::name_text;
use cairn_abi::record::Instance;
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
/// Who waits for its next life for longer has died several times in a row, and told it all: from then on its reports are short, so that
/// it does not write over what is kept of others, nor leave them no room.
const LONG_REPORT_DELAY_MILLISECONDS: u64 = 20;
/// Deaths whose text is not made yet; of more, the text is made at once.
const NOTED: usize = 4;

/// What is to be told of a death. Notes are filled where they lie: the thread that died waits meanwhile.
#[derive(Clone, Copy)]
struct Note {
    is_used: bool,
    instance: InstanceId,
    reason: Reason,
    delay: Option<u64>,
    registers: Registers,
    calls: Calls,
    /// Of the threads that let it die.
    priority: u8,
    /// What was on its stack, once that was looked for.
    is_read: bool,
    stack: StackWords,
}

impl Note {
    const NONE: Note = Note {
        is_used: false,
        instance: InstanceId(0),
        reason: Reason::Idle,
        delay: None,
        registers: Registers::NONE,
        calls: Calls::NONE,
        priority: 0,
        is_read: false,
        stack: StackWords::NONE,
    };

    /// Whether the memory of the instance is needed for the text.
    fn needs_memory(&self) -> bool {
        matches!(self.reason, Reason::Fault { .. }) && !self.is_read
    }

    /// Whether the text has a message from the memory of the instance, of which no other part keeps as much.
    fn is_panic(&self) -> bool {
        let is_breakpoint = matches!(self.reason, Reason::Fault { fault: Fault::Breakpoint, .. });
        is_breakpoint && self.registers.is_panic()
    }
}

/// Whether it was said which image this is, by which the host finds the files of a report's addresses.
static IMAGE_SAID: &AtomicBool = &lasting().image_said;
/// How many there are: the worker asks before each step.
static COUNT: AtomicUsize = AtomicUsize::new(0);
static NOTES: Exclusive<[Note; NOTED]> = Exclusive::new([Note::NONE; NOTED]);

/// The best priority of what is to be told; `None` if nothing is.
pub fn priority() -> Option<u8> {
    if COUNT.load(Relaxed) == 0 {
        return None;
    }
    let used = |note: &&Note| note.is_used;
    NOTES.with(|notes| notes.iter().filter(used).map(|note| note.priority).max())
}

/// The place of the first note that needs the memory of an instance.
fn place_needing(instance: InstanceId) -> Option<usize> {
    if COUNT.load(Relaxed) == 0 {
        return None;
    }
    let needs = |note: &Note| note.is_used && note.instance == instance && note.needs_memory();
    NOTES.with(|notes| notes.iter().position(needs))
}

/// Whether nothing is to be told.
pub fn is_all_told() -> bool {
    COUNT.load(Relaxed) == 0
}

/// Whether something is to be told of an instance.
pub fn is_of(instance: InstanceId) -> bool {
    let is = |note: &Note| note.is_used && note.instance == instance;
    COUNT.load(Relaxed) != 0 && NOTES.with(|notes| notes.iter().any(is))
}

/// Whether the memory of an instance is needed for what is to be told of it.
pub fn needs(instance: InstanceId) -> bool {
    place_needing(instance).is_some()
}

impl System {
    /// Notes why an instance died and when it starts again.
    pub fn note(&self, instance: InstanceId, reason: Reason, delay: Option<u64>, priority: u8) {
        let fill = |note: &mut Note| {
            (note.instance, note.reason, note.delay) = (instance, reason, delay);
            (note.priority, note.is_read, note.is_used) = (priority, false, true);
            if let Reason::Fault { frame, .. } = reason {
                note.registers.read(self, frame);
            } else {
                note.registers = Registers::NONE;
            }
            let domain = self.instance(instance).map(|record| record.domain);
            note.calls.read(self, reason.thread().zip(domain));
        };
        let is_noted = NOTES.with(|notes| {
            // The order in which they are told is that of the places.
            let free = notes.iter().rposition(|note| note.is_used).map_or(0, |last| last + 1);
            notes.get_mut(free).map(fill).is_some()
        });
        COUNT.fetch_add(usize::from(is_noted), Relaxed);
        if !is_noted {
            let mut note = Note::NONE;
            fill(&mut note);
            self.tell(&note);
        }
    }

    /// Makes the text of what was noted first.
    pub fn tell_next(&self) {
        if let Some(place) = NOTES.with(|notes| notes.iter().position(|note| note.is_used)) {
            self.tell_at(place);
        }
    }

    fn tell_at(&self, place: usize) {
        let note = NOTES.with(|notes| {
            let note = notes[place];
            notes[place].is_used = false;
            note
        });
        COUNT.fetch_sub(1, Relaxed);
        self.tell(&note);
    }

    /// Reads in the memory of an instance what is to be told, since its next life takes it. That life waits for the text of a
    /// panic only.
    pub fn read_memory(&self, instance: InstanceId) {
        let Some(place) = place_needing(instance) else { return };
        let note = NOTES.with(|notes| notes[place]);
        if note.is_panic() {
            return self.tell_at(place);
        }
        let stack = self.stack_of(&note);
        NOTES.with(|notes| (notes[place].stack, notes[place].is_read) = (stack, true));
    }

    /// What lies on the stack on which an instance died.
    fn stack_of(&self, note: &Note) -> StackWords {
        let culprit = self.instance(note.instance).map(|leader| self.culprit(leader, note));
        culprit.map_or(StackWords::NONE, |culprit| self.stack_words(culprit, note.registers.stack))
    }

    /// Of those that end together the one whose code it was.
    fn culprit(&self, leader: &'static Instance, note: &Note) -> &'static Instance {
        let has = |one: &&Instance| (note.registers.pc ^ one.start_address) < REGION_SIZE;
        self.fellows(leader).find(has).unwrap_or(leader)
    }

    /// Says that something did not work that should.
    pub fn expect(&self, what: &str, instance: &Instance, result: Result<(), Error>) {
        if let Err(error) = result {
            let name = name_text(&instance.name);
            let _ =
                writeln!(printer::log(), "supervisor: cannot {what} `{name}`: {}", error.text());
        }
    }

    /// Says of those of which it was said that they stay dead that they do not.
    pub fn tell_again(&self, leader: &'static Instance) {
        for record in self.fellows(leader) {
            let name = name_text(&record.name);
            let _ = writeln!(printer::log(), "supervisor: `{name}` starts again, as was asked");
        }
    }

    /// The name of an instance; where one has been, or will be, that one's.
    pub fn name(&self, instance: InstanceId) -> &'static str {
        let record = self.instance(instance);
        let whose = record
            .filter(|one| one.is_other_place())
            .and_then(|place| self.instance(place.other_place));
        whose.or(record).map_or("?", |record| name_text(&record.name))
    }

    fn tell(&self, note: &Note) {
        let mut log = printer::log();
        let is_new = note
            .delay
            .is_none_or(|delay| delay <= LONG_REPORT_DELAY_MILLISECONDS || delay == ON_TRIAL);
        let is_long = is_new && printer::has_room();
        let Some(leader) = self.instance(note.instance) else { return };
        if !IMAGE_SAID.swap(true, Relaxed) {
            let _ = writeln!(log, "supervisor: image {:016x}", self.header.identifier);
        }
        let culprit = self.culprit(leader, note);
        let place = if culprit.in_kernel != 0 { ", in the kernel" } else { "" };
        let name = name_text(&culprit.name);
        let _ = write!(log, "supervisor: `{name}` (domain {}{place}", culprit.domain);
        if let Some(host) = moving::host(culprit) {
            let _ = write!(log, ", with `{}`", self.name(host));
        }
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
            Reason::Asked { .. } | Reason::Idle | Reason::Replaced | Reason::Retires => {
                writeln!(log, "was killed")
            }
            Reason::Returned => writeln!(log, "returned from its main function"),
            Reason::Fault { thread, fault, value, .. } => {
                // Who may use the unit did what it does not have.
                let fault = match fault {
                    Fault::FloatingPoint if culprit.has_float() => Fault::Illegal,
                    fault => fault,
                };
                let told = self.tell_fault(culprit, &note.registers, thread, fault, value, is_long);
                if is_long {
                    let stack = if note.is_read { note.stack } else { self.stack_of(note) };
                    self.tell_stack(&note.registers, &stack);
                }
                told
            }
        };
        if is_long {
            self.tell_calls(&note.calls);
        }
        let _ = match note.delay {
            None => writeln!(log, "supervisor:   it stays dead"),
            Some(0) => writeln!(log, "supervisor:   it starts again"),
            Some(ON_TRIAL) => writeln!(log, "supervisor:   its former content comes back"),
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
        Ok(())
    }
}
