//! Calls its threads home that wait for random bytes, at instants of chance: who asks next gets the answer to that, and not the zeros that are
//! there before the device has written.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn_driver_interfaces::Random;
use cairn_interfaces::{Console, Supervisor, Threads, spawn};
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};

cairn::component! {
    name: "c-rng-home",
    imports: { console: Console, threads: Threads, supervisor: Supervisor, random: Random },
    main: main,
}

/// As many as the driver has places.
const READERS: usize = 4;
const CALLS: u64 = 10_000;

static ANSWERS: AtomicU64 = AtomicU64::new(0);
static HOME: AtomicU64 = AtomicU64::new(0);
static WRONG: AtomicU64 = AtomicU64::new(0);

fn read(_: u64) {
    loop {
        let mut bytes = [0; 64];
        match imports::RANDOM.fill(&mut bytes) {
            Ok(count) => {
                ANSWERS.fetch_add(1, SeqCst);
                let is_wrong = count >= 8 && bytes[..8] == [0; 8];
                WRONG.fetch_add(is_wrong.into(), SeqCst);
            }
            Err(Error::Cancelled) => drop(HOME.fetch_add(1, SeqCst)),
            Err(_) => {
                let _ = imports::THREADS.sleep_until(now() + ticks(100));
            }
        }
    }
}

fn main() {
    static STACKS: [Stack<8192>; READERS] = [const { Stack::new() }; READERS];
    let mut random = cairn_random::Random::of_seed(1);
    let readers: [_; READERS] = core::array::from_fn(|at| {
        spawn(imports::THREADS, &STACKS[at], read, 0, 40).expect("a thread")
    });
    for _ in 0..CALLS {
        let _ = imports::THREADS.sleep_until(now() + random.below(ticks(300)));
        let _ = imports::SUPERVISOR.call_home(readers[random.index(READERS)].name());
    }
    let [answers, home, wrong] = [&ANSWERS, &HOME, &WRONG].map(|count| count.load(SeqCst));
    let word = if wrong == 0 && answers > 0 && home > 0 { "ok:" } else { "FAILED:" };
    let _ = imports::CONSOLE.print(format_args!(
        "{word} {answers} answers, {home} called home, {wrong} without random bytes\n"
    ));
    let _ = imports::SUPERVISOR.halt(0);
}
