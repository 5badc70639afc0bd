//! Has memory beside that of hostile drivers, and looks whether a device reached it; one of them ends the drivers.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::vec::Vec;
use cairn::environment;
use cairn::section::Section;
use cairn::time::{now, ticks};
use cairn_interfaces as interfaces;
use cairn_random::Random;

cairn::component! {
    name: "judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: Option<interfaces::Supervisor>,
    },
    main: main,
}

/// Words of the section: descriptors that the steady driver posted...
const POSTED: usize = 0;
/// ... accesses of the one that touches what it may not...
const TOUCHED: usize = 8;
/// ... and what went wrong anywhere.
const FAILED: usize = 16;

/// Bytes of a witness, most of its heap.
const WITNESS: usize = 448 << 10;
/// Times that the mortal driver is killed.
const KILLS: u64 = 200;
/// Descriptors that the steady one posts.
const DESCRIPTORS: u64 = 1_000_000;
/// What there is to touch.
const TOUCHES: u64 = 48;

fn main() {
    let witness: Vec<u64> = (0..WITNESS as u64 / 8).map(mark).collect();
    let progress = environment::section("progress").expect("the description has a section");
    match imports::SUPERVISOR.get() {
        Some(supervisor) => judge(supervisor, progress, &witness),
        None => loop {
            look(progress, &witness);
            pause(1000);
        },
    }
}

fn mark(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5555
}

fn look(progress: Section, witness: &[u64]) {
    if (0..).zip(witness).any(|(number, word)| *word != mark(number)) {
        let _ = imports::CONSOLE.write(b"FAILED: a device reached foreign memory\n");
        progress.store(FAILED, 1);
    }
}

fn pause(microseconds: u64) {
    let _ = imports::THREADS.sleep_until(now() + ticks(microseconds));
}

fn judge(supervisor: interfaces::SupervisorProxy, progress: Section, witness: &[u64]) {
    let mut random = Random::of_seed(5);
    for _ in 0..KILLS {
        pause(random.below(2000));
        supervisor.restart("mortal").expect("restart");
        let _ = supervisor.restart("toucher");
        look(progress, witness);
    }
    while progress.load(POSTED) < DESCRIPTORS || progress.load(TOUCHED) < TOUCHES {
        pause(1000);
        let _ = supervisor.restart("toucher");
        look(progress, witness);
    }
    let failed = progress.load(FAILED);
    if failed == 0 {
        let _ = imports::CONSOLE.write(b"ok: no device reached foreign memory\n");
    }
    supervisor.halt(failed).expect("halt");
}
