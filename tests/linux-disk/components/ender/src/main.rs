//! Kills who serves a disk again and again, as soon as the last block says so: by then somebody has written it who uses the disk.
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

const DEATHS: u64 = 20;
const PAUSE_MICROSECONDS: u64 = 50_000;

fn main() -> Result<(), Error> {
    while !is_to_begin() {
        pause()?;
    }
    for _ in 0..DEATHS {
        pause()?;
        while imports::SUPERVISOR.restart("disk").is_err() {
            pause()?;
        }
    }
    imports::CONSOLE.print(format_args!("ender: the disk died {DEATHS} times\n"))
}

fn pause() -> Result<(), Error> {
    imports::THREADS.sleep_until(now() + ticks(PAUSE_MICROSECONDS))
}

/// A disk that does not answer yet says nothing.
fn is_to_begin() -> bool {
    let mut block = [0; BLOCK_SIZE as usize];
    let Ok((blocks, _)) = imports::BLOCKS.size() else { return false };
    imports::BLOCKS.read(blocks - 1, &mut block).is_ok() && block.starts_with(b"begin")
}
