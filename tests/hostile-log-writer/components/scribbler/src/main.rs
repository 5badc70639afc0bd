//! Writes into the ring of its own log what its readers could take for places, lengths, times and text, in the way that the shell
//! chooses.
#![no_std]
#![no_main]

use cairn::Error;
use cairn::abi::address::{LOG_OFFSET, REGION_SIZE};
use cairn::abi::log::{BEGUN, Head, LEVEL, RECORDS, TEXT_MAXIMUM};
use cairn::environment::startup;
use cairn::time::{now, ticks};
use cairn::window::{ReadWindow, WriteWindow};
use cairn_app_interfaces::Echo;
use cairn_interfaces::{Supervisor, Threads};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Scribbler;
static SCRIBBLER: Scribbler = Scribbler;

cairn::component! {
    name: "scribbler",
    imports: { threads: Threads, supervisor: Supervisor },
    exports: { echo: Echo = SCRIBBLER },
    main: main,
}

/// In which way it writes, and how long it waits before it writes again, in microseconds.
static WAY: AtomicU64 = AtomicU64::new(0);
const PAUSE: u64 = 300;

/// A terminal would clear its screen and say that all is well.
const TEXT: &[u8; 16] = b"\x1b[2Jall is well\n";

fn ring() -> &'static [AtomicU64] {
    let words = startup().log_words as usize;
    let region = &raw const WAY as u64 & !(REGION_SIZE - 1);
    // SAFETY: the host tool maps as many words there, which others reach by atomics, too.
    unsafe { core::slice::from_raw_parts((region + LOG_OFFSET) as *const AtomicU64, words) }
}

/// A record of this time at a place, whose text commands terminals.
fn record(ring: &[AtomicU64], place: u64, length: u8, time: u64) {
    let size = (ring.len() - RECORDS) as u64;
    let word = |at: u64| &ring[RECORDS + (place.wrapping_add(at) % size) as usize];
    word(1).store(time, Relaxed);
    for at in 2..2 + u64::from(length).div_ceil(8) {
        let from = (at as usize % 2) * 8;
        let text = TEXT[from..].first_chunk().expect("eight bytes");
        word(at).store(u64::from_le_bytes(*text), Relaxed);
    }
    word(0).store(Head { level: 1, target: 0, length }.word(place), Relaxed);
}

fn main() {
    let ring = ring();
    let mut random = 88172645463325252u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    loop {
        match WAY.load(Relaxed) {
            // One record, and less begun than it has words: who reads on behind it is told to begin anew.
            1 => {
                record(ring, 0, 0, 0);
                ring[BEGUN].store(1, Relaxed);
            }
            // Records everywhere, the longest, older than all others, of places that go around.
            2 => {
                let begun = u64::MAX - 7 * (next() % 3);
                (0..ring.len() as u64).step_by(2).for_each(|back| {
                    record(ring, begun.wrapping_sub(back), TEXT_MAXIMUM as u8, back)
                });
                ring[BEGUN].store(begun, Relaxed);
            }
            // The end comes and goes, and never stays where it was seen.
            3 => {
                let begun = if next() & 1 == 0 { 2 } else { next() };
                (0..64).for_each(|place| record(ring, place * 2, 0, place));
                ring[BEGUN].store(begun, Relaxed);
            }
            // Times that nobody has seen yet, and ends of all time.
            4 => {
                (0..512).for_each(|place| record(ring, place * 2, 16, u64::MAX - place % 2));
                ring[BEGUN].store(1024, Relaxed);
            }
            5 => ring.iter().skip(LEVEL).for_each(|word| word.store(next(), Relaxed)),
            _ => {}
        }
        let _ = imports::THREADS.sleep_until(now() + ticks(PAUSE));
    }
}

impl Echo for Scribbler {
    fn add(&self, way: u64, _: u64) -> Result<u64, Error> {
        WAY.store(way, Relaxed);
        Ok(way)
    }

    /// Ends the console, for good.
    fn say(&self, _: ReadWindow<'_>) -> Result<(), Error> {
        imports::SUPERVISOR.kill("console")
    }

    fn fill(&self, _: WriteWindow<'_>) -> Result<usize, Error> {
        Ok(0)
    }
}
