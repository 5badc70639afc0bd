//! Replaces two servers that compute, while threads call them and compute the same with the floating-point unit.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

#[path = "../../../../float/components/worker/src/orbit.rs"]
mod orbit;

use cairn::thread::Stack;
use cairn_app_interfaces::{Echo, EchoProxy};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_test_hostile_contract::{judge, say};
use core::fmt::Debug;
// Relaxed: counts.
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "replaced-float-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        replacement: interfaces::Replacement,
        first: Echo,
        second: Echo,
    },
    arguments: { rounds: u64 },
    main: main,
}

use imports::{CONSOLE, FIRST, REPLACEMENT, SECOND, SUPERVISOR, THREADS};

const CALLERS: usize = 4;
const LIMIT_MILLISECONDS: u64 = 200;

static STACKS: [Stack<8192>; CALLERS] = [const { Stack::new() }; CALLERS];
static RIGHT: [AtomicU64; CALLERS] = [const { AtomicU64::new(0) }; CALLERS];
static WRONG: AtomicU64 = AtomicU64::new(0);
static STOP: AtomicU64 = AtomicU64::new(0);

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

/// What it computes beside a call depends on all calls before.
fn call(number: u64) {
    let server: EchoProxy = if number.is_multiple_of(2) { FIRST } else { SECOND };
    let (mut mine, mut same) = (0.5f64, 0.5f64);
    let mut seed = number * 131;
    while STOP.load(Relaxed) == 0 {
        seed += 7;
        mine = 3.7 * mine * (1.0 - mine);
        let found = server.add(seed, 6);
        same = 3.7 * same * (1.0 - same);
        let is_right = found == Ok(orbit::after(seed, 6)) && mine.to_bits() == same.to_bits();
        let count = if is_right { &RIGHT[number as usize] } else { &WRONG };
        count.fetch_add(1, Relaxed);
        judge::pause(THREADS, 20 + 10 * number);
    }
}

fn main() {
    let priorities = [30, 40, 50, 70];
    for (place, priority) in priorities.into_iter().enumerate() {
        spawn(THREADS, &STACKS[place], call, place as u64, priority).expect("a thread");
    }
    for round in 0..arguments::rounds() {
        let packages = [("first", ["hard", "soft-again"]), ("second", ["soft", "hard-again"])];
        for (name, packages) in packages {
            let package = packages[round as usize % 2];
            let replaced = REPLACEMENT.replace(name, package, LIMIT_MILLISECONDS).map(drop);
            expect(package, replaced, Ok(()));
            judge::pause(THREADS, 500);
        }
    }
    STOP.store(1, Relaxed);
    expect("every result is right", WRONG.load(Relaxed), 0);
    let rounds = arguments::rounds();
    expect("all were busy", RIGHT.iter().all(|count| count.load(Relaxed) > rounds), true);
    say!("replaced-float: done");
    let _ = SUPERVISOR.halt(0);
}
