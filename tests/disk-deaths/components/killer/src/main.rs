//! Kills the driver of a disk at points of chance while others use it.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_random::Random;

cairn::component! {
    name: "disk-deaths-killer",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        blocks: cairn_driver_interfaces::Blocks,
    },
    arguments: {
        deaths: u64,
        seed: u64,
        writers: u64,
    },
    main: main,
}

/// Words of the section: the driver does not die any more; how many writers are done.
const OVER: usize = 0;
const DONE: usize = 8;

/// Microseconds at most from one death to the next: the driver begins and serves many requests in it.
const LONGEST: u64 = 20_000;

fn main() {
    let (deaths, seed) = (arguments::deaths(), arguments::seed());
    let shared = environment::section("deaths").expect("the description has a section `deaths`");
    let mut random = Random::of_seed(seed);
    let pause = |microseconds| {
        let _ = imports::THREADS.sleep_until(now() + ticks(microseconds));
    };
    while imports::BLOCKS.size().is_err() {
        pause(100);
    }
    let _ = imports::CONSOLE.print(format_args!("{deaths} deaths, seed {seed}\n"));
    for number in 1..=deaths {
        pause(random.below(LONGEST));
        while imports::SUPERVISOR.restart("disk").is_err() {
            pause(10);
        }
        if number % 100 == 0 {
            let _ = imports::CONSOLE.print(format_args!("{number} deaths\n"));
        }
    }
    shared.store(OVER, 1);
    while shared.load(DONE) < arguments::writers() {
        pause(1000);
    }
    // Below the console, which has said everything when this thread goes on.
    static STACK: Stack<8192> = Stack::new();
    let last = spawn(imports::THREADS, &STACK, end, deaths, 40).expect("spawn");
    let _ = last.join();
}

fn end(deaths: u64) {
    let _ = imports::CONSOLE.print(format_args!("the driver died {deaths} times\n"));
    let _ = imports::SUPERVISOR.halt(0);
}
