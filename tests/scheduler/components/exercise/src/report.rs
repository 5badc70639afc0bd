//! What the console is told.

use cairn::{Error, environment};
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

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
