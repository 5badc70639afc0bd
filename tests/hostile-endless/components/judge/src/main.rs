//! Uses the disk of a client that has work for it without end: what it wrote is there as long as the driver lives.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::time::{now, ticks};
use cairn_driver_interfaces::BLOCK_SIZE;
use cairn_interfaces as interfaces;

cairn::component! {
    name: "judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        blocks: cairn_driver_interfaces::Blocks,
    },
    main: main,
}

const READS: u64 = 150;

fn pause() {
    let _ = imports::THREADS.sleep_until(now() + ticks(10_000));
}

fn main() {
    let mut block = [0x5a; BLOCK_SIZE as usize];
    while imports::BLOCKS.write(600, &block).is_err() {
        pause();
    }
    let mut failed = 0;
    for _ in 0..READS {
        pause();
        let read = imports::BLOCKS.read(600, &mut block);
        failed += u64::from(read.is_err() || block.iter().any(|byte| *byte != 0x5a));
    }
    let word =
        if failed == 0 { "ok: the driver serves others" } else { "FAILED: the driver ended" };
    let _ = imports::CONSOLE.print(format_args!("{word}, {failed} of {READS} reads failed\n"));
    let _ = imports::SUPERVISOR.halt(failed.min(1));
}
