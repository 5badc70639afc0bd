//! Reports reach the console through a thread of their own: the console may be slow, blocked, or the
//! component that just died, and the supervisor must wait for none of them.

use crate::component as imports;
use cairn::time::{now, ticks};
use cairn_supervisor::log::Log;
use core::fmt::Write;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const STACK_WORDS: usize = 1024;
/// Pause after the console failed, which may be starting again.
const RETRY_MICROSECONDS: u64 = 10_000;
/// Failures in a row after which the text is given up.
const RETRIES: u32 = 500;

static LOG: Log<8192> = Log::new();
/// The printer's thread is at work, or has not yet noticed that nothing is left.
static ACTIVE: AtomicBool = AtomicBool::new(false);
static THREAD: AtomicU64 = AtomicU64::new(0);
static STACK: [AtomicU64; STACK_WORDS] = [const { AtomicU64::new(0) }; STACK_WORDS];

/// Where reports are written.
pub fn log() -> impl Write {
    &LOG
}

/// Starts the printer if there is something to print. Only for the supervisor's first thread.
pub fn start(priority: u8) {
    if LOG.is_empty() || ACTIVE.swap(true, Ordering::AcqRel) {
        return;
    }
    let last = THREAD.load(Ordering::Relaxed);
    if last != 0 {
        // It had nothing left to do but to end, and its stack is needed. It may have ended already.
        let _ = imports::CONTROL.kill(last);
    }
    let top = STACK.as_ptr() as u64 + (STACK_WORDS * 8) as u64;
    match imports::THREADS.spawn(print as *const () as u64, top & !15, 0, priority) {
        Ok(thread) => THREAD.store(thread, Ordering::Relaxed),
        // Without a thread the text stays in the log; the next report tries again.
        Err(_) => ACTIVE.store(false, Ordering::Release),
    }
}

extern "C" fn print(_: u64) {
    loop {
        drain();
        ACTIVE.store(false, Ordering::Release);
        if LOG.is_empty() || ACTIVE.swap(true, Ordering::AcqRel) {
            return;
        }
    }
}

fn drain() {
    let mut buffer = [0; 64];
    loop {
        let count = LOG.read(&mut buffer);
        if count == 0 {
            return;
        }
        write(&buffer[..count]);
        let lost = LOG.take_lost();
        if lost > 0 {
            write(b"\nsupervisor: some of its reports were lost\n");
        }
    }
}

fn write(text: &[u8]) {
    for _ in 0..RETRIES {
        if imports::CONSOLE.write(text).is_ok() {
            return;
        }
        let _ = imports::THREADS.sleep_until(now() + ticks(RETRY_MICROSECONDS));
    }
}
