//! Writing to the console.

use crate::imports;
use cairn::Error;
use core::fmt::{Result, Write};

/// A console that died is started anew, sooner or later.
const ATTEMPTS: usize = 20;
/// Nanoseconds between two attempts.
const PAUSE: u64 = 50_000_000;

/// Collects text, and hands it to the console when a line ends or nothing more fits. The console
/// never mixes so much with what others write.
pub struct Screen {
    bytes: [u8; 256],
    used: usize,
}

impl Screen {
    /// An empty one.
    pub fn new() -> Screen {
        Screen { bytes: [0; 256], used: 0 }
    }

    /// Hands over what there is.
    pub fn flush(&mut self) {
        for _ in 0..ATTEMPTS {
            match imports::CONSOLE.write(&self.bytes[..self.used]) {
                Err(Error::Dead | Error::Busy) => {
                    let _ = imports::CLOCK.sleep(PAUSE);
                }
                // After any other error the text is lost: there is nowhere else to show it.
                _ => break,
            }
        }
        self.used = 0;
    }
}

impl Write for Screen {
    fn write_str(&mut self, text: &str) -> Result {
        for byte in text.bytes() {
            if self.used == self.bytes.len() {
                self.flush();
            }
            self.bytes[self.used] = byte;
            self.used += 1;
            if byte == b'\n' {
                self.flush();
            }
        }
        Ok(())
    }
}
