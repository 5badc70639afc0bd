//! Kills who serves a disk again and again, from when the last block says so, which somebody has written who uses the disk, until it says that this has noticed.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::time::{now, ticks};
use cairn_driver_interfaces::{BLOCK_SIZE, Blocks};
use cairn_interfaces::{Console, Supervisor, Threads};

cairn::component! {
    name: "linux-disk-ender",
    imports: { console: Console, threads: Threads, supervisor: Supervisor, blocks: Blocks },
    main: main,
}

/// At least.
const DEATHS: u64 = 20;
const PAUSE_MICROSECONDS: u64 = 20_000;

fn main() -> Result<(), Error> {
    while !says(b"begin") {
        pause()?;
    }
    let mut deaths = 0;
    while deaths < DEATHS || !says(b"end") {
        pause()?;
        while imports::SUPERVISOR.restart("disk").is_err() {
            pause()?;
        }
        deaths += 1;
        // It writes that again, and a disk in memory has forgotten it.
        pause()?;
    }
    imports::CONSOLE.print(format_args!("ender: the disk died {deaths} times\n"))
}

fn pause() -> Result<(), Error> {
    imports::THREADS.sleep_until(now() + ticks(PAUSE_MICROSECONDS))
}

/// What the last block says. A disk that does not answer yet says nothing.
fn says(word: &[u8]) -> bool {
    let mut block = [0; BLOCK_SIZE as usize];
    let Ok((blocks, _)) = imports::BLOCKS.size() else { return false };
    imports::BLOCKS.read(blocks - 1, &mut block).is_ok() && block.starts_with(word)
}
