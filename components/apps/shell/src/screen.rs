//! Writing to the console.

use crate::imports;
use cairn::Error;
use cairn::text::Lines;

/// A console that died is started anew, sooner or later.
const ATTEMPTS: usize = 20;
/// Nanoseconds between two attempts.
const PAUSE: u64 = 50_000_000;

/// Text on its way to the console, which never mixes so much with what others write.
pub type Screen = Lines<256, fn(&str)>;

/// Writes to the console.
pub fn write(text: &str) {
    for _ in 0..ATTEMPTS {
        match imports::CONSOLE.write(text.as_bytes()) {
            Err(Error::Dead | Error::Busy) => {
                let _ = imports::CLOCK.sleep(PAUSE);
            }
            // After any other error the text is lost: there is nowhere else to show it.
            _ => break,
        }
    }
}
