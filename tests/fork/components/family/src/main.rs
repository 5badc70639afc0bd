//! Forks, in many ways, and stands between its children and all others.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod attacks;
mod child;

use cairn::fork::{Quotas, Side};
use cairn::interpose::{Answer, Interposer, Passing};
use cairn::{Error, environment};
use cairn_interfaces as interfaces;
use cairn_test_hostile_contract::{judge, say};
use cairn_test_shared_contract::Till;
use core::fmt::Debug;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "family",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        portals: interfaces::Portals,
        memory: interfaces::Memory,
        loader: interfaces::Loader,
        supervisor: interfaces::Supervisor,
        usage: interfaces::MemoryStatistics,
        code: interfaces::PortalListing,
        till: Till,
    },
    main: main,
}

use imports::{CODE, CONSOLE, LOADER, PORTALS, SUPERVISOR, THREADS, TILL, USAGE};

/// What a copy takes, with what it allocates.
pub const QUOTAS: Quotas = Quotas { pages: 160, threads: 2, semaphores: 4, locks: 2, children: 0 };

/// Calls of children that came by.
pub static PASSED: AtomicU64 = AtomicU64::new(0);
/// The portals that a child got last: their first, and how many.
pub static NOTIFIED: AtomicU64 = AtomicU64::new(0);
pub static NOTIFIED_COUNT: AtomicU64 = AtomicU64::new(0);
/// What is done with each call.
pub static MANNER: AtomicU64 = AtomicU64::new(FORWARD);
/// A call is kept.
pub static KEPT: AtomicU64 = AtomicU64::new(0);
pub const FORWARD: u64 = 0;
pub const DIE: u64 = 1;
pub const KEEP: u64 = 2;
/// By this word in a call of the till its interposer does that.
pub const SIGN: u64 = 0x5167_0000;

pub fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

pub struct Between;

impl Interposer for Between {
    fn intercept(call: &Passing) -> Answer {
        PASSED.fetch_add(1, Relaxed);
        if call.argument(1) == SIGN {
            match MANNER.load(Relaxed) {
                DIE => panic!("told to die between a child and its server"),
                KEEP => {
                    KEPT.store(1, Relaxed);
                    loop {
                        core::hint::spin_loop();
                    }
                }
                _ => {}
            }
        }
        let answer = call.forward();
        if let Some(new) = interfaces::new_portals(call, &answer) {
            NOTIFIED.store(new.first, Relaxed);
            NOTIFIED_COUNT.store(new.count, Relaxed);
        }
        answer
    }
}

pub fn fork(name: &str, quotas: Quotas) -> Result<Side, Error> {
    LOADER.domain_fork::<Between>(name, quotas)
}

/// Why the last fork failed, if it did.
pub fn explain(result: &Result<Side, Error>) {
    let mut text = [0; 160];
    if let (Err(_), Ok(length)) = (result, LOADER.explain(&mut text)) {
        let length = length.min(text.len());
        say!("FAILED fork: {}", core::str::from_utf8(&text[..length]).unwrap_or("?"));
    }
}

/// Waits for the child's V, and unloads it.
pub fn wait_and_end(done: interfaces::SemaphoreProxy, name: &str) {
    expect("the child comes to its end", done.p(), Ok(()));
    expect("and is ended", LOADER.unload(name), Ok(()));
}

/// Memory and portal code in use.
pub fn usage() -> (u64, u64) {
    (USAGE.usage().map_or(0, |usage| usage.0), CODE.usage().map_or(0, |usage| usage.0))
}

fn main() -> Result<(), Error> {
    if environment::startup().generation > 0 {
        return attacks::behind_a_death();
    }
    let done = PORTALS.semaphore(0)?;
    child::one(done.proxy());
    rounds(done.proxy());
    attacks::all(done.proxy());
    attacks::die_between()
}

/// Whether nothing is left of what comes and goes.
fn rounds(done: interfaces::SemaphoreProxy) {
    let mut before = None;
    for round in 0..20 {
        let side = fork("again", QUOTAS);
        match side {
            Ok(Side::Child) => {
                let _ = TILL.add(1);
                let _ = done.v();
                return idle();
            }
            Ok(Side::Parent(_)) => {
                if done.p() != Ok(()) || LOADER.unload("again") != Ok(()) {
                    expect("a round", round, u64::MAX);
                }
            }
            Err(_) => return explain(&side),
        }
        // What is kept for the next is there from the first one on.
        let now = usage();
        if *before.get_or_insert(now) != now {
            expect("all as before", now, before.unwrap_or_default());
        }
    }
    say!("ok twenty came and went");
}

/// A child has done what it was made for.
pub fn idle() {
    loop {
        let _ = THREADS.sleep_until(u64::MAX / 2);
    }
}

pub fn own() -> u16 {
    environment::startup().instance.0
}

pub fn end() {
    say!("fork: done");
    let _ = SUPERVISOR.halt(0);
}
