//! What happened in which order, and what the console is told.

use cairn::{Error, environment};
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed};

/// The letters that threads left, in order.
pub struct Order {
    letters: [AtomicU8; 8],
    used: AtomicUsize,
}

impl Order {
    pub const fn new() -> Order {
        Order { letters: [const { AtomicU8::new(0) }; 8], used: AtomicUsize::new(0) }
    }

    pub fn push(&self, letter: u8) {
        let place = self.used.fetch_add(1, Relaxed);
        if let Some(place) = self.letters.get(place) {
            place.store(letter, Relaxed);
        }
    }

    /// The letters, zeros behind them; all zeros if there were too many. Begins anew.
    pub fn take(&self) -> [u8; 8] {
        let used = self.used.swap(0, Relaxed);
        let letters = self.letters.each_ref().map(|letter| letter.swap(0, Relaxed));
        if used > letters.len() { [0; 8] } else { letters }
    }
}

static FAILED: AtomicUsize = AtomicUsize::new(0);

/// The serial port, byte by byte.
struct Serial;

impl Write for Serial {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let port = environment::device(0).ok_or(fmt::Error)?;
        for byte in text.bytes() {
            port.write_u8(0, byte);
        }
        Ok(())
    }
}

/// Tells what came of a test.
pub fn check(name: &str, result: Result<bool, Error>) {
    let _ = match result {
        Ok(true) => writeln!(Serial, "ok {name}"),
        Ok(false) => {
            FAILED.fetch_add(1, Relaxed);
            writeln!(Serial, "FAILED {name}")
        }
        Err(error) => {
            FAILED.fetch_add(1, Relaxed);
            writeln!(Serial, "FAILED {name}: {}", error.text())
        }
    };
}

/// Tells the number of failures and ends the emulation by the board's test finisher.
pub fn end() {
    let failed = FAILED.load(Relaxed);
    let _ = writeln!(Serial, "{failed} failed");
    if let Some(finisher) = environment::device(1) {
        finisher.write_u32(0, if failed == 0 { 0x5555 } else { 1 << 16 | 0x3333 });
    }
}
