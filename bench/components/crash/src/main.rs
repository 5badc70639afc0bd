//! With the argument `dies`: takes a thousand pages and faults, if it is to. Without: runs all the time, and has
//! the other one start again when it is dead.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn::time::{now, ticks};
use cairn_interfaces::{Memory, Supervisor, Threads};

cairn::component! {
    name: "crash",
    imports: { threads: Threads, memory: Memory, supervisor: Supervisor },
    main: main,
}

const DIES: usize = 0;
const LIVES: usize = 8;
const PAGES: u64 = 1000;

fn main() {
    let section = environment::section("late").expect("the description maps the section `late`");
    if environment::argument() == "dies" {
        while section.load(DIES) == 0 {
            let _ = imports::THREADS.sleep_until(now() + ticks(1000));
        }
        imports::MEMORY.allocate(PAGES).expect("pages");
        section.store(LIVES, section.load(LIVES) + 1);
        panic!("on purpose");
    }
    let (mut lives, mut round) = (0, 0u64);
    loop {
        round += 1;
        // It is due at once, not after the delay of so many faults.
        if section.load(LIVES) != lives && round.is_multiple_of(1000) {
            lives = section.load(LIVES);
            let _ = imports::SUPERVISOR.restart("victim");
        }
    }
}
