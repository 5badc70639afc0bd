//! The neighbour of a hostile component.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_test_hostile_contract::Victim;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

const WORDS: usize = 512;
const CONTENT: u64 = 0x0123_4567_89ab_cdef;

#[repr(align(4096))]
struct Page([AtomicU64; WORDS]);
static PAGE: Page = Page([const { AtomicU64::new(CONTENT) }; WORDS]);

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "hostile-victim",
    exports: { victim: Victim = SERVER },
}

impl Victim for Server {
    fn echo(&self, word: u64) -> Result<u64, Error> {
        Ok(word.wrapping_add(1))
    }

    fn sum(&self, bytes: ReadWindow<'_>) -> Result<u64, Error> {
        let mut sum = 0;
        bytes.pieces::<256>(|piece| {
            sum += piece.iter().map(|byte| u64::from(*byte)).sum::<u64>();
            Ok(())
        })?;
        Ok(sum)
    }

    fn fill(&self, bytes: WriteWindow<'_>, byte: u8) -> Result<(), Error> {
        let piece = [byte; 64];
        let mut offset = 0;
        while offset < bytes.len() {
            offset += bytes.write(offset, &piece);
        }
        Ok(())
    }

    fn page(&self) -> Result<u64, Error> {
        Ok(PAGE.0.as_ptr() as u64)
    }

    fn is_whole(&self) -> Result<bool, Error> {
        Ok(PAGE.0.iter().all(|word| word.load(Relaxed) == CONTENT))
    }
}
