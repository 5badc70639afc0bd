//! Is at the same cable as two others, and ends it some times when somebody asks for an address that nobody has.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::time::{now, ticks};
use cairn_driver_interfaces::{FRAME_MAXIMUM, Frames};
use cairn_interfaces::{Console, Supervisor, Threads};

cairn::component! {
    name: "linux-network-cutter",
    imports: { console: Console, threads: Threads, supervisor: Supervisor, frames: Frames },
    main: main,
}

/// In a question for an address (ARP): the protocol, and whose address it is.
const PROTOCOL: core::ops::Range<usize> = 12..14;
const ARP: [u8; 2] = [8, 6];
const ASKED: core::ops::Range<usize> = 38..42;
const NOBODY: [u8; 4] = [10, 0, 0, 99];

const DEATHS: u32 = 5;
const PAUSE_MICROSECONDS: u64 = 30_000;

fn main() -> Result<(), Error> {
    let mut frame = [0; FRAME_MAXIMUM];
    imports::FRAMES.address()?;
    loop {
        let length = imports::FRAMES.receive(&mut frame)?;
        if length >= ASKED.end && frame[PROTOCOL] == ARP && frame[ASKED] == NOBODY {
            break;
        }
    }
    for _ in 0..DEATHS {
        imports::SUPERVISOR.restart("bridge")?;
        imports::THREADS.sleep_until(now() + ticks(PAUSE_MICROSECONDS))?;
    }
    imports::CONSOLE.print(format_args!("cutter: the cable died {DEATHS} times\n"))
}
