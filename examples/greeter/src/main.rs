//! Serves the interface `Echo`: words, text in, bytes out.
#![no_std]
#![cfg_attr(not(test), no_main)]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_app_interfaces::Echo;
use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// Longest text that it remembers.
const TEXT: usize = 64;

/// What was said last. Several callers can be inside at a time; they may mix their texts, but each
/// byte is some caller's.
struct Greeter {
    text: [AtomicU8; TEXT],
    length: AtomicUsize,
}

static GREETER: Greeter =
    Greeter { text: [const { AtomicU8::new(0) }; TEXT], length: AtomicUsize::new(0) };

impl Echo for Greeter {
    fn add(&self, left: u64, right: u64) -> Result<u64, Error> {
        left.checked_add(right).ok_or(Error::BadArgument)
    }

    fn say(&self, text: ReadWindow) -> Result<(), Error> {
        let mut buffer = [0; TEXT];
        // It must be text: what is not UTF-8 is an error here.
        let text = text.text(&mut buffer)?;
        for (place, byte) in self.text.iter().zip(text.bytes()) {
            place.store(byte, Ordering::Relaxed);
        }
        self.length.store(text.len(), Ordering::Release);
        Ok(())
    }

    fn fill(&self, buffer: WriteWindow) -> Result<usize, Error> {
        let length = self.length.load(Ordering::Acquire);
        let text: [u8; TEXT] =
            core::array::from_fn(|place| self.text[place].load(Ordering::Relaxed));
        buffer.write(0, &text[..length])
    }
}

cairn::component! {
    name: "greeter",
    exports: { echo: Echo = GREETER },
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_app_interfaces::EchoProxy;

    #[test]
    fn what_was_said_last_is_filled_in() {
        let echo = EchoProxy::at(100);
        echo.answered_by(Greeter {
            text: [const { AtomicU8::new(0) }; TEXT],
            length: AtomicUsize::new(0),
        });
        assert_eq!(echo.say("good morning"), Ok(()));
        let mut buffer = [0; 4];
        assert_eq!((echo.fill(&mut buffer), &buffer), (Ok(4), b"good"));
        assert_eq!(echo.say(&"long".repeat(TEXT)), Err(Error::TooLarge));
    }
}
