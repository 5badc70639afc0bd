//! Loads, wraps, passes on and maps by chance, in several threads, and is killed wherever it is. What it does follows from the
//! seed of the round, its number, and how often it was started in the round.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod operations;

use cairn::thread::Stack;
use cairn::{Error, environment};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_random::Random;
use cairn_test_campaign_contract::{self as course, Operation, THREADS};
use cairn_test_hostile_capabilities_contract::{Agent, Bank};

cairn::component! {
    name: "campaign-actor",
    imports: {
        memory: interfaces::Memory,
        portals: interfaces::Portals,
        grants: interfaces::Grants,
        threads: interfaces::Threads,
        loader: interfaces::Loader,
        interposition: interfaces::Interposition,
        bank: Bank,
        near: Agent,
        far: Agent,
    },
    arguments: {
        first: u64,
        near: u64,
        far: u64,
    },
    main: main,
}

/// Where in a thread's argument the actor's life is, behind the thread's number.
const LIFE: u32 = 4;

static STACKS: [Stack<16384>; THREADS - 1] = [const { Stack::new() }; THREADS - 1];

fn main() {
    let life = course::live(own() as usize) << LIFE;
    for (number, stack) in (1..).zip(&STACKS) {
        let _ = spawn(imports::THREADS, stack, work, life | number, 40 - number as u8);
    }
    work(life);
}

/// The number of this actor among the actors.
fn own() -> u64 {
    u64::from(environment::startup().instance) - arguments::first()
}

fn work(life_and_thread: u64) {
    let thread = life_and_thread & ((1 << LIFE) - 1);
    let mut chance = Random::of_seed(course::seed() ^ own() << 40 ^ life_and_thread << 24);
    let mut things = operations::Things::of(thread);
    loop {
        course::begin(own() as usize, thread as usize, Operation::Nothing);
        // Time is counted in steps of many instructions: so an operation begins at any of them.
        for _ in 0..chance.below(100) {
            core::hint::spin_loop();
        }
        // Errors are what happens beside deaths.
        let _ = step(thread, &mut chance, &mut things);
        // The others' turn.
        let _ = imports::THREADS.sleep_until(cairn::time::now() + chance.below(10));
    }
}

fn step(thread: u64, chance: &mut Random, things: &mut operations::Things) -> Result<(), Error> {
    let operation = match chance.below(13) {
        0..=2 => Operation::Load,
        3..=4 => Operation::Unload,
        5 => Operation::Wrap,
        6 => Operation::Unwrap,
        7..=8 => Operation::Pass,
        9 => Operation::TakeBack,
        10 => Operation::Map,
        _ => Operation::Miss,
    };
    course::begin(own() as usize, thread as usize, operation);
    things.operate(operation, chance)?;
    course::succeeded(operation);
    Ok(())
}
