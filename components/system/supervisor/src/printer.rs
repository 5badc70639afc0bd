//! Reports reach the console through a thread of their own: the console may be slow, blocked, or the
//! component that just died, and the supervisor must wait for none of them.

use crate::blame::{self, is_held_up};
use crate::component as imports;
use crate::lasting::lasting;
use crate::logs;
use crate::system::System;
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn::{Error, environment, privileged};
use cairn_abi::thread::index_of_name;
use cairn_interfaces::{Activity, Thread, spawn};
use cairn_supervisor::kept::Kept;
use cairn_supervisor::log::Log;
use cairn_supervisor::report::Wrapped;
use core::fmt::Write;
use core::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// Pause after the console failed, which may be starting again.
const RETRY_MICROSECONDS: u64 = 10_000;
/// A console that has not taken a text by then, however often it has failed, is broken: the firmware prints, until it works again.
/// Who prints is called home out of it then; after the same time again a console that keeps him dies. One that has not worked
/// last has less.
const LONGEST_MICROSECONDS: u64 = 5_000_000;
const NEXT_MICROSECONDS: u64 = 1_000_000;
/// Between two looks at a thread that is called home lies this part of that time.
const LOOKS: u64 = 64;

/// Between two bytes that the firmware prints with interrupts off: a console of 115,200 baud takes one every 87, so it waits for none.
const BYTE_MICROSECONDS: u64 = 100;
/// The half of the log is what a long report takes. With less room reports are short, so that nobody's is lost for the length of another's.
const LONG_REPORT: usize = 4096;

/// What the console never mixes with others' text, and longer than most lines.
const TOGETHER: usize = 256;

/// Of a line, what others wrote in it included: it is shown together, and so it is when it has been kept.
const LINE: usize = 232;

/// What a successor has to know.
pub struct Lasting {
    log: Log<8192>,
    kept: Kept,
    /// Whether the console did not take the last text.
    fails: AtomicBool,
}

impl Lasting {
    /// Nothing is to be printed.
    pub const fn none() -> Lasting {
        Lasting { log: Log::new(), kept: Kept::new(), fails: AtomicBool::new(false) }
    }
}

static LASTING: &Lasting = &lasting().printed;
/// The printer's thread is at work, or has not yet noticed that nothing is left.
static ACTIVE: AtomicBool = AtomicBool::new(false);
/// It has begun, and is perhaps with the console.
static PRINTS: AtomicBool = AtomicBool::new(false);
/// It or the worker keeps something: whoever does looks again when it has.
static KEEPS: AtomicBool = AtomicBool::new(false);
static STACK: Stack<8192> = Stack::new();
/// When the console was given what it has not taken yet; zero: it has nothing.
static GIVEN: AtomicU64 = AtomicU64::new(0);

/// The memory that a reset keeps, if the board has some.
fn kept_memory() -> Option<&'static [AtomicI64]> {
    environment::section("kept").map(|section| section.words(section.size() / 8))
}

/// What was kept from before is to be printed.
pub fn begin() {
    if let Some(memory) = kept_memory() {
        LASTING.kept.begin(memory);
    }
}

/// Where reports are written.
pub fn log() -> impl Write {
    &LASTING.log
}

/// Where text of others is written: in lines that are shown whole, so that no part of one stands where a line begins.
pub fn others_text() -> impl Write {
    Wrapped::new(&LASTING.log, LASTING.log.column(), LINE, "\nsupervisor:   ...")
}

/// Whether there is room for a long report.
pub fn has_room() -> bool {
    LASTING.log.room() >= LONG_REPORT
}

/// Prints what was written to the log, at the priority of the instances that it tells of.
pub struct Printer {
    /// The last thread, which may have ended.
    thread: Option<Thread>,
    priority: u8,
    /// When the text was given to the console out of which the thread was called home last, and how long that has kept it since.
    called: u64,
    kept: u64,
    /// When the thread was looked at last, and what it had run by then.
    looked: u64,
    had_run: u64,
}

impl Printer {
    /// Prints at this priority first.
    pub fn begin(priority: u8) -> Printer {
        Printer { thread: None, priority, called: 0, kept: 0, looked: 0, had_run: 0 }
    }

    /// What is in the log tells of an instance of this priority.
    pub fn speak_at(&mut self, priority: u8) {
        if !Printer::is_done() && priority > self.priority {
            self.priority = priority;
            if let (true, Some(thread)) = (ACTIVE.load(Ordering::Acquire), &self.thread) {
                // It may just have ended.
                let _ = thread.set_priority(priority);
            }
        }
    }

    /// Whether all that was written is printed.
    pub fn is_done() -> bool {
        LASTING.log.is_given() && !has_text() && !ACTIVE.load(Ordering::Acquire)
    }

    /// The priority of what the worker keeps, since the console may keep the printer's thread for good; `None` if there is nothing, or that
    /// thread will do it first.
    pub fn keeping(&self) -> Option<u8> {
        let is_due = PRINTS.load(Ordering::Acquire) && has_unkept();
        is_due.then_some(self.priority.max(1))
    }

    /// Calls the thread home that the console keeps; a console that keeps it all the same dies. When to look next, and at which
    /// priority.
    pub fn look(&mut self, system: &System) -> (u64, u8) {
        let Some(thread) = self.thread.filter(|_| ACTIVE.load(Ordering::Acquire)) else {
            return (u64::MAX, 0);
        };
        let (given, time) = (GIVEN.load(Ordering::Relaxed), now());
        let due = match given {
            // How long the next write takes is not known yet.
            0 => time + longest(),
            _ if given == self.called => self.looked + longest() / LOOKS,
            _ => given + longest(),
        };
        if due > time {
            return (due, self.priority);
        }
        let index = index_of_name(thread.name());
        let used = blame::used(index);
        if given != self.called {
            (self.called, self.kept) = (given, 0);
        } else {
            // Who waits for the processor, or for what others have, is kept by those that have it.
            self.kept += match system.wait_of(index) {
                Some((_, wait)) if wait.activity != Activity::Ready && !is_held_up(&wait) => {
                    time - self.looked
                }
                _ => used.saturating_sub(self.had_run),
            };
        }
        if self.kept >= longest() {
            self.kept = 0;
            system.blame_callee(index);
        }
        blame::ask_home(thread.name(), self.priority);
        (self.looked, self.had_run) = (time, used);
        (time + longest() / LOOKS, self.priority)
    }

    /// The last thread had nothing left to do but to end, and its stack is needed, or its content goes.
    fn end_last(&mut self) {
        if let Some(last) = self.thread.take() {
            while imports::CONTROL.kill(last.name()) == Err(Error::Busy) {}
            let _ = last.join();
        }
    }

    /// Prints no more, unless it is about it still; whether it is not.
    pub fn end(&mut self) -> bool {
        let ends = !ACTIVE.load(Ordering::Acquire);
        if ends {
            self.end_last();
        }
        ends
    }

    /// Starts to print if there is something to print.
    pub fn start(&mut self) {
        if Printer::is_done() {
            self.priority = 0;
        }
        if !has_text() || ACTIVE.swap(true, Ordering::AcqRel) {
            return;
        }
        self.end_last();
        self.thread = spawn(imports::THREADS, &STACK, print, 0, self.priority.max(1)).ok();
        if self.thread.is_none() {
            // The text stays in the log; the next report tries again.
            ACTIVE.store(false, Ordering::Release);
        }
    }
}

fn has_text() -> bool {
    !LASTING.log.is_empty() || LASTING.kept.is_due() || has_unkept()
}

fn has_unkept() -> bool {
    !LASTING.log.is_given() && !KEEPS.load(Ordering::Acquire)
}

/// Keeps the next lines, which may be printed then; whether there were some.
pub fn keep() -> bool {
    let is_due = !LASTING.log.is_given() && !KEEPS.swap(true, Ordering::AcqRel);
    if is_due {
        LASTING.log.give(&mut [0; TOGETHER], |text| {
            if let Some(memory) = kept_memory() {
                LASTING.kept.write(memory, text);
            }
        });
        KEEPS.store(false, Ordering::Release);
    }
    is_due
}

fn print(_: u64) {
    loop {
        PRINTS.store(true, Ordering::Release);
        while keep() {}
        if let Some(memory) = kept_memory() {
            LASTING.kept.show(memory, write);
        }
        drain();
        PRINTS.store(false, Ordering::Release);
        ACTIVE.store(false, Ordering::Release);
        if !has_text() || ACTIVE.swap(true, Ordering::AcqRel) {
            return;
        }
    }
}

fn drain() {
    let mut buffer = [0; TOGETHER];
    loop {
        let count = LASTING.log.read(&mut buffer);
        if count == 0 {
            return;
        }
        write(&buffer[..count]);
        let lost = LASTING.log.take_lost();
        if lost > 0 {
            write(b"supervisor: some of its reports were lost\n");
        }
    }
}

fn write(text: &[u8]) {
    let given = now();
    GIVEN.store(given, Ordering::Relaxed);
    let patience = if LASTING.fails.load(Ordering::Relaxed) { 0 } else { longest() };
    while imports::CONSOLE.write(text).is_err() {
        if now() - given >= patience {
            GIVEN.store(0, Ordering::Relaxed);
            if !LASTING.fails.swap(true, Ordering::Relaxed) {
                logs::begin();
            }
            return text.iter().for_each(|byte| print_by_firmware(*byte));
        }
        let _ = imports::THREADS.sleep_until(now() + ticks(RETRY_MICROSECONDS));
    }
    GIVEN.store(0, Ordering::Relaxed);
    LASTING.fails.store(false, Ordering::Relaxed);
}

/// How long the console may keep a text.
fn longest() -> u64 {
    let fails = LASTING.fails.load(Ordering::Relaxed);
    ticks(if fails { NEXT_MICROSECONDS } else { LONGEST_MICROSECONDS })
}

fn print_by_firmware(byte: u8) {
    if byte == b'\n' {
        print_by_firmware(b'\r');
    }
    let _ = privileged::print(byte);
    let _ = imports::THREADS.sleep_until(now() + ticks(BYTE_MICROSECONDS));
}
