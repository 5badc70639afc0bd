//! The neighbour of a hostile component.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::time::{now, ticks};
use cairn::window::{ReadWindow, WriteWindow};
use cairn_interfaces::Threads;
use cairn_test_hostile_contract::Victim;
use core::hint::black_box;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

const WORDS: usize = 512;
const CONTENT: u64 = 0x0123_4567_89ab_cdef;

#[repr(align(4096))]
struct Page([AtomicU64; WORDS]);
static PAGE: Page = Page([const { AtomicU64::new(CONTENT) }; WORDS]);

struct Server {
    held: AtomicU64,
}
static SERVER: Server = Server { held: AtomicU64::new(0) };
/// Long enough to be in the middle of it, and shorter than the supervisor's patience.
const HOLD_MICROSECONDS: u64 = 2000;

cairn::component! {
    name: "hostile-victim",
    imports: { threads: Threads },
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
            offset += bytes.write(offset, &piece)?;
        }
        Ok(())
    }

    fn hold(&self, bytes: ReadWindow<'_>) -> Result<(), Error> {
        self.held.fetch_add(1, Relaxed);
        let before = self.sum(bytes)?;
        imports::THREADS.sleep_until(now() + ticks(HOLD_MICROSECONDS))?;
        let changed = self.sum(bytes)? != before;
        self.held.fetch_add(1 << 16 | u64::from(changed) << 32, Relaxed);
        Ok(())
    }

    fn held(&self) -> Result<u64, Error> {
        Ok(self.held.load(Relaxed))
    }

    fn page(&self) -> Result<u64, Error> {
        Ok(PAGE.0.as_ptr() as u64)
    }

    fn is_whole(&self) -> Result<bool, Error> {
        Ok(PAGE.0.iter().all(|word| word.load(Relaxed) == CONTENT))
    }

    fn push(&self, word: u64) -> Result<u64, Error> {
        Ok(black_box(&[word; 64])[63])
    }
}
