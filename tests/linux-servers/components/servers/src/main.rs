//! A console that takes no more text once it has shown a word, for a while, and a disk that is smaller and read-only for who asks again.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::time::{now, ticks};
use cairn::window::{ReadWindow, WriteWindow};
use cairn_driver_interfaces::Blocks;
use cairn_interfaces::{Console, Threads, WriteOnlyConsole};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

cairn::component! {
    name: "linux-servers",
    imports: { console: Console, threads: Threads },
    exports: { voice: Console = VOICE, disk: Blocks = DISK },
    objects: {},
}

const WORD: &[u8] = b"stop";
const STOPS_MICROSECONDS: u64 = 5_000_000;
const LOOK_MICROSECONDS: u64 = 1000;

struct Voice;
static VOICE: Voice = Voice;
// Relaxed: one client, and one hart.
/// How much of the word has been shown; until when nothing is taken, 0: it takes text.
static SHOWN: AtomicUsize = AtomicUsize::new(0);
static STOPPED_UNTIL: AtomicU64 = AtomicU64::new(0);

fn look_for_word(text: &[u8]) {
    for byte in text {
        let shown = SHOWN.load(Relaxed);
        let follows = if WORD[shown] == *byte { shown + 1 } else { 0 };
        SHOWN.store(follows % WORD.len(), Relaxed);
        if follows == WORD.len() {
            STOPPED_UNTIL.store(now() + ticks(STOPS_MICROSECONDS), Relaxed);
        }
    }
}

impl WriteOnlyConsole for Voice {
    fn write(&self, text: ReadWindow<'_>) -> Result<(), Error> {
        while now() < STOPPED_UNTIL.load(Relaxed) {
            imports::THREADS.sleep_until(now() + ticks(LOOK_MICROSECONDS))?;
        }
        if STOPPED_UNTIL.swap(0, Relaxed) != 0 {
            imports::CONSOLE.write(b"servers: text is taken again\n")?;
        }
        text.pieces::<128>(|piece| {
            look_for_word(piece);
            imports::CONSOLE.write(piece)
        })
    }
}

struct Disk;
static DISK: Disk = Disk;
static SIZE: AtomicU64 = AtomicU64::new(FIRST_SIZE);
const FIRST_SIZE: u64 = 2048;
const BLOCK: usize = 512;

impl Blocks for Disk {
    fn size(&self) -> Result<(u64, bool), Error> {
        let size = SIZE.load(Relaxed);
        SIZE.store(FIRST_SIZE / 2, Relaxed);
        Ok((size, size == FIRST_SIZE))
    }

    fn read(&self, first: u64, buffer: WriteWindow<'_>) -> Result<(), Error> {
        if first + (buffer.len() / BLOCK) as u64 > SIZE.load(Relaxed) {
            return Err(Error::BadArgument);
        }
        (0..buffer.len()).step_by(BLOCK).try_for_each(|at| buffer.write(at, &[7; BLOCK]).map(drop))
    }

    fn write(&self, _: u64, _: ReadWindow<'_>) -> Result<(), Error> {
        Err(Error::NotAllowed)
    }

    fn flush(&self) -> Result<(), Error> {
        Ok(())
    }
}
