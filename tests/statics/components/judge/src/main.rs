//! Three of its threads call the keeper, whose statics nobody has used in this life; each comes later than the one before it by
//! as many ticks as there were rounds, and is more urgent. So it finds that one anywhere in its first use.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::thread::Stack;
use cairn::time::{Duration, Instant};
use cairn_interfaces::{Console, Echo, Portals, Supervisor, Threads, spawn};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

const CALLERS: u64 = 3;
const ROUNDS: u64 = 80;
const BASE: u64 = 1000;

cairn::component! {
    name: "judge",
    imports: { console: Console, threads: Threads, portals: Portals, supervisor: Supervisor, keeper: Echo },
    main: main,
}

static STACKS: [Stack<4096>; CALLERS as usize] = [const { Stack::new() }; CALLERS as usize];
static START: AtomicU64 = AtomicU64::new(0);
static ROUND: AtomicU64 = AtomicU64::new(0);
/// The sums that the callers were told, each 4 bits.
static TOLD: AtomicU64 = AtomicU64::new(0);

fn say(text: core::fmt::Arguments) {
    let _ = imports::CONSOLE.print(format_args!("{text}\n"));
}

fn pause(microseconds: u64) -> Result<(), Error> {
    let end = Instant::now() + Duration::from_micros(microseconds);
    imports::THREADS.sleep_until(end.ticks())
}

fn call(number: u64) {
    let start = START.load(Relaxed) + number * ROUND.load(Relaxed);
    let _ = imports::THREADS.sleep_until(start);
    match imports::KEEPER.add(0, 1) {
        Ok(sum) => _ = TOLD.fetch_add(sum.wrapping_sub(BASE), Relaxed),
        Err(error) => {
            say(format_args!("FAILED: caller {number} of round {}: {error}", ROUND.load(Relaxed)))
        }
    }
}

fn wait_for(number: u64) {
    let waited = imports::KEEPER.add(1, number);
    if waited != Ok(number) {
        say(format_args!("FAILED: it waits for {number}: {waited:?}"));
    }
}

/// The callers of one round, with a life of the keeper that nobody has called.
fn race() -> Result<(), Error> {
    TOLD.store(0, Relaxed);
    START.store((Instant::now() + Duration::from_millis(1)).ticks(), Relaxed);
    let mut callers = [None; CALLERS as usize];
    for (number, caller) in callers.iter_mut().enumerate() {
        let (stack, priority) = (&STACKS[number], 20 + number as u8);
        *caller = Some(spawn(imports::THREADS, stack, call, number as u64, priority)?);
    }
    for caller in callers.into_iter().flatten() {
        caller.join()?;
    }
    // Whoever was last was told of all; signals do not add up.
    imports::KEEPER.say("")?;
    let (sum, told) = (imports::KEEPER.add(0, 0)?, TOLD.load(Relaxed));
    if sum != BASE + CALLERS || !(CALLERS + 3..=3 * CALLERS).contains(&told) {
        say(format_args!("FAILED: the sum is {sum}, the callers were told {told}"));
    }
    // Who waits for a condition is woken.
    let waiter = spawn(imports::THREADS, &STACKS[0], wait_for, CALLERS + 1, 50)?;
    pause(300)?;
    imports::KEEPER.add(0, 1)?;
    waiter.join()
}

fn main() -> Result<(), Error> {
    for round in 0..ROUNDS {
        ROUND.store(round, Relaxed);
        race()?;
        imports::SUPERVISOR.restart("keeper")?;
        while imports::KEEPER.fill(&mut []) == Err(Error::Dead) {
            pause(100)?;
        }
    }
    say(format_args!("statics: done"));
    imports::SUPERVISOR.halt(0)
}
