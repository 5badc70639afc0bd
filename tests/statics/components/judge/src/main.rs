//! Three of its threads call the keeper, whose statics nobody has used in this life; each comes later than the one before it by
//! as many ticks as there were rounds, and is more urgent. So it finds that one anywhere in its first use.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::thread::{Stack, sleep, sleep_until, spawn};
use cairn::time::{Duration, Instant};
use cairn_app_interfaces::Echo;
use cairn_interfaces::{Console, Portals, Supervisor, Threads};
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
fn say(text: core::fmt::Arguments) {
    let _ = imports::CONSOLE.print(format_args!("{text}\n"));
}

/// The callers of one round, with a life of the keeper that nobody has called.
fn race(round: u64) -> Result<(), Error> {
    let start = Instant::now() + Duration::from_millis(1);
    let mut callers = [const { None }; CALLERS as usize];
    for (number, caller) in (0..).zip(&mut callers) {
        let at = Instant::from_ticks(start.ticks() + number * round);
        let call = move || {
            sleep_until(at)?;
            imports::KEEPER.add(0, 1)
        };
        *caller = Some(spawn(&STACKS[number as usize], 20 + number as u8, call)?);
    }
    let mut told = 0;
    for caller in callers.into_iter().flatten() {
        match caller.join()? {
            Ok(sum) => told += sum - BASE,
            Err(error) => say(format_args!("FAILED: a caller of round {round}: {error}")),
        }
    }
    // Whoever was last was told of all; signals do not add up.
    imports::KEEPER.say("")?;
    let sum = imports::KEEPER.add(0, 0)?;
    if sum != BASE + CALLERS || !(CALLERS + 3..=3 * CALLERS).contains(&told) {
        say(format_args!("FAILED: the sum is {sum}, the callers were told {told}"));
    }
    // Who waits for a condition is woken.
    let waiter = spawn(&STACKS[0], 50, || imports::KEEPER.add(1, CALLERS + 1))?;
    sleep(Duration::from_micros(300))?;
    if spawn(&STACKS[0], 50, || ()).err() != Some(Error::Busy) || waiter.is_finished() {
        say(format_args!("FAILED: nobody waits"));
    }
    imports::KEEPER.add(0, 1)?;
    if waiter.join()? != Ok(CALLERS + 1) {
        say(format_args!("FAILED: it was told something else"));
    }
    handles()
}

/// What a closure has and what it returns are dropped once, whoever is last, and its stack is free then.
fn handles() -> Result<(), Error> {
    static DROPPED: AtomicU64 = AtomicU64::new(0);
    struct Counted([u64; 8]);
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPPED.fetch_add(self.0.iter().sum(), Relaxed);
        }
    }
    let stack = &STACKS[0];
    let number = Counted([1; 8]);
    let returned = spawn(stack, 40, move || number)?.join()?;
    if returned.0 != [1; 8] || !DROPPED.load(Relaxed).is_multiple_of(100) {
        say(format_args!("FAILED: the closure returned something else"));
    }
    drop(returned);
    // Its thread is the last.
    let number = Counted([2; 8]);
    drop(spawn(stack, 40, move || number)?);
    sleep(Duration::from_micros(200))?;
    // Its handle is.
    let number = Counted([3; 8]);
    let handle = spawn(stack, 40, move || number)?;
    sleep(Duration::from_micros(200))?;
    if !handle.is_finished() || spawn(stack, 40, || ()).err() != Some(Error::Busy) {
        say(format_args!("FAILED: it has returned, and its stack is kept"));
    }
    drop(handle);
    // It never begins.
    let number = Counted([1; 8]);
    if spawn(stack, 51, move || number).err() != Some(Error::NotAllowed) {
        say(format_args!("FAILED: more urgent than the description says"));
    }
    let dropped = DROPPED.swap(0, Relaxed);
    if dropped != 8 * (1 + 2 + 3 + 1) {
        say(format_args!("FAILED: {dropped} was dropped"));
    }
    spawn(stack, 40, || ())?.join()
}

fn main() -> Result<(), Error> {
    for round in 0..ROUNDS {
        race(round)?;
        imports::SUPERVISOR.restart("keeper")?;
        while imports::KEEPER.fill(&mut []) == Err(Error::Dead) {
            sleep(Duration::from_micros(100))?;
        }
    }
    say(format_args!("statics: done"));
    imports::SUPERVISOR.halt(0)
}
