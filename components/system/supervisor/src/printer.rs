//! Reports reach the console through a thread of their own: the console may be slow, blocked, or the
//! component that just died, and the supervisor must wait for none of them.

use crate::component as imports;
use crate::logs;
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn::{Error, environment, privileged};
use cairn_interfaces::{Thread, spawn};
use cairn_supervisor::kept::Kept;
use cairn_supervisor::log::Log;
use cairn_supervisor::report::Wrapped;
use core::fmt::Write;
use core::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};

/// Pause after the console failed, which may be starting again.
const RETRY_MICROSECONDS: u64 = 10_000;
/// Failures in a row after which the firmware prints, until the console works again.
const RETRIES: u32 = 500;

/// Between two bytes that the firmware prints with interrupts off: a console of 115,200 baud takes one every 87, so it waits for none.
const BYTE_MICROSECONDS: u64 = 100;
/// The half of the log is what a long report takes. With less room reports are short, so that nobody's is lost for the length of another's.
const LONG_REPORT: usize = 4096;

/// What the console never mixes with others' text, and longer than most lines.
const TOGETHER: usize = 256;

/// Of a line, what others wrote in it included: it is shown together, and so it is when it has been kept.
const LINE: usize = 232;

static LOG: Log<8192> = Log::new();
static KEPT: Kept = Kept::new();
/// The printer's thread is at work, or has not yet noticed that nothing is left.
static ACTIVE: AtomicBool = AtomicBool::new(false);
/// It has begun, and is perhaps with the console.
static PRINTS: AtomicBool = AtomicBool::new(false);
/// It or the worker keeps something: whoever does looks again when it has.
static KEEPS: AtomicBool = AtomicBool::new(false);
static STACK: Stack<8192> = Stack::new();

/// The memory that a reset keeps, if the board has some.
fn kept_memory() -> Option<&'static [AtomicI64]> {
    environment::section("kept").map(|section| section.words(section.size() / 8))
}

/// Where reports are written.
pub fn log() -> impl Write {
    &LOG
}

/// Where text of others is written: in lines that are shown whole, so that no part of one stands where a line begins.
pub fn others_text() -> impl Write {
    Wrapped::new(&LOG, LOG.column(), LINE, "\nsupervisor:   ...")
}

/// Whether there is room for a long report.
pub fn has_room() -> bool {
    LOG.room() >= LONG_REPORT
}

/// Prints what was written to the log, at the priority of the instances that it tells of.
pub struct Printer {
    /// The last thread, which may have ended.
    thread: Option<Thread>,
    priority: u8,
}

impl Printer {
    /// Prints at this priority first, what was kept from before.
    pub fn begin(priority: u8) -> Printer {
        if let Some(memory) = kept_memory() {
            KEPT.begin(memory);
        }
        Printer { thread: None, priority }
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
        LOG.is_given() && !has_text() && !ACTIVE.load(Ordering::Acquire)
    }

    /// The priority of what the worker keeps, since the console may keep the printer's thread for good; `None` if there is nothing, or that
    /// thread will do it first.
    pub fn keeping(&self) -> Option<u8> {
        let is_due = PRINTS.load(Ordering::Acquire) && has_unkept();
        is_due.then_some(self.priority.max(1))
    }

    /// Starts to print if there is something to print.
    pub fn start(&mut self) {
        if Printer::is_done() {
            self.priority = 0;
        }
        if !has_text() || ACTIVE.swap(true, Ordering::AcqRel) {
            return;
        }
        if let Some(last) = self.thread.take() {
            // It had nothing left to do but to end, and its stack is needed.
            while imports::CONTROL.kill(last.name()) == Err(Error::Busy) {}
            let _ = last.join();
        }
        self.thread = spawn(imports::THREADS, &STACK, print, 0, self.priority.max(1)).ok();
        if self.thread.is_none() {
            // The text stays in the log; the next report tries again.
            ACTIVE.store(false, Ordering::Release);
        }
    }
}

fn has_text() -> bool {
    !LOG.is_empty() || KEPT.is_due() || has_unkept()
}

fn has_unkept() -> bool {
    !LOG.is_given() && !KEEPS.load(Ordering::Acquire)
}

/// Keeps the next lines, which may be printed then; whether there were some.
pub fn keep() -> bool {
    let is_due = !LOG.is_given() && !KEEPS.swap(true, Ordering::AcqRel);
    if is_due {
        LOG.give(&mut [0; TOGETHER], |text| {
            if let Some(memory) = kept_memory() {
                KEPT.write(memory, text);
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
            KEPT.show(memory, write);
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
        let count = LOG.read(&mut buffer);
        if count == 0 {
            return;
        }
        write(&buffer[..count]);
        let lost = LOG.take_lost();
        if lost > 0 {
            write(b"supervisor: some of its reports were lost\n");
        }
    }
}

/// Failures that are left before the console counts as broken.
static PATIENCE: AtomicU32 = AtomicU32::new(RETRIES);

fn write(text: &[u8]) {
    while imports::CONSOLE.write(text).is_err() {
        let left = PATIENCE.load(Ordering::Relaxed);
        if left == 0 {
            return text.iter().for_each(|byte| print_by_firmware(*byte));
        }
        PATIENCE.store(left - 1, Ordering::Relaxed);
        if left == 1 {
            logs::begin();
        }
        let _ = imports::THREADS.sleep_until(now() + ticks(RETRY_MICROSECONDS));
    }
    PATIENCE.store(RETRIES, Ordering::Relaxed);
}

fn print_by_firmware(byte: u8) {
    if byte == b'\n' {
        print_by_firmware(b'\r');
    }
    let _ = privileged::print(byte);
    let _ = imports::THREADS.sleep_until(now() + ticks(BYTE_MICROSECONDS));
}
