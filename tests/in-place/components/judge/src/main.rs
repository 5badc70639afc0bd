//! Replaces a component in place by contents that are good and others that are not, and ends it at any instant of that.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::{Error, time};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_test_hostile_contract::{judge, say};
use cairn_test_replaced_contract::Counter;
use core::fmt::Debug;

cairn::component! {
    name: "in-place-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        portals: interfaces::Portals,
        memory: interfaces::MemoryStatistics,
        replacement: interfaces::Replacement,
        loader: interfaces::Loader,
        kept: Counter,
    },
    arguments: { rounds: u64 },
    main: main,
}

use imports::{CONSOLE, KEPT, LOADER, MEMORY, REPLACEMENT, SUPERVISOR, THREADS};

const LIMIT_MILLISECONDS: u64 = 200;
/// Which content it is, by its version.
const SAME: u64 = b'1' as u64;
const OTHER: u64 = b'2' as u64;
static ONCE: Stack<8192> = Stack::new();

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

fn replace(name: &str, package: &str) -> Result<(), Error> {
    let replaced = REPLACEMENT.replace(name, package, LIMIT_MILLISECONDS);
    if replaced.is_err() {
        let mut text = [0; 192];
        let length = LOADER.explain(&mut text).unwrap_or(0);
        say!("in-place: {package}: {}", core::str::from_utf8(&text[..length]).unwrap_or("?"));
    }
    replaced.map(drop)
}

/// It serves, with a state that is whole.
fn answers() -> bool {
    judge::wait_until(THREADS, || matches!(KEPT.kind(), Ok(SAME | OTHER)))
}

fn replaces() -> bool {
    judge::wait_until(THREADS, || REPLACEMENT.replace("kept", "same", LIMIT_MILLISECONDS).is_ok())
}

fn idle() {
    expect("its first life", (KEPT.kind(), KEPT.add(5)), (Ok(SAME), Ok(5)));
    for (package, kind) in [("same", SAME), ("other", OTHER), ("other", OTHER), ("same", SAME)] {
        expect(package, replace("kept", package), Ok(()));
        expect("its state", (KEPT.kind(), KEPT.add(0)), (Ok(kind), Ok(5)));
    }
    let before = MEMORY.usage();
    // Nothing of the other content is its own.
    expect("one that gives back all around it", replace("kept", "asks"), Ok(()));
    expect("nothing was", KEPT.add(0), Ok(5));
    expect("nor in its turn", replace("kept", "same"), Ok(()));
    expect("it goes on", (KEPT.kind(), KEPT.add(0)), (Ok(SAME), Ok(5)));
    expect("what it allocates", KEPT.wake(), Ok(()));
    expect("is in the way", replace("kept", "other"), Err(Error::NotSupported));
    expect("it stays", (KEPT.kind(), KEPT.add(0)), (Ok(SAME), Ok(5)));
    let _ = SUPERVISOR.restart("kept");
    expect("its next life", (answers(), KEPT.add(7)), (true, Ok(7)));
    expect("what it allocated is gone", MEMORY.usage(), before);
    expect("it can be replaced", replace("kept", "same"), Ok(()));
    expect("its state is kept", KEPT.add(0), Ok(7));
    for package in ["faults", "stays"] {
        expect(package, replace("kept", package).is_err(), true);
        expect("it lives again", (answers(), KEPT.kind(), KEPT.add(7)), (true, Ok(SAME), Ok(7)));
        expect("nothing is left", (package, MEMORY.usage()), (package, before));
    }
    expect("one that asks for others", replace("kept", "nests"), Ok(()));
    expect("none of which came", (replace("kept", "same"), KEPT.add(0)), (Ok(()), Ok(7)));
    expect("who may have threads", replace("busy", "same"), Err(Error::NotSupported));
    say!("ok: replaced, and refused");
}

/// Replaces again and again, while another does.
fn replace_often(_: u64) {
    for round in 0..arguments::rounds() {
        if !is_replaced("kept", ["other", "same"][round as usize % 2]) {
            expect("replaced beside another", round, u64::MAX);
        }
    }
}

/// It is, or another was just under way.
fn is_replaced(name: &str, package: &str) -> bool {
    matches!(REPLACEMENT.replace(name, package, LIMIT_MILLISECONDS), Ok(_) | Err(Error::Busy))
}

/// Two at a time, of the same or of others, in place and not.
fn beside_each_other() {
    expect("it can be replaced", replace("plain", "plain2"), Ok(()));
    let before = MEMORY.usage();
    let other = spawn(THREADS, &ONCE, replace_often, 0, 94).expect("a thread");
    for round in 0..arguments::rounds() {
        let (name, package) =
            [("plain", "plain2"), ("kept", "same"), ("kept", "other")][round as usize % 3];
        if !is_replaced(name, package) {
            expect("replaced beside another", (name, round), ("", 0));
        }
        let loaded = LOADER.load("guest1", "guest");
        if !matches!(loaded, Ok(_) | Err(Error::Busy)) {
            expect("loaded beside it", loaded.map(drop), Ok(()));
        }
        if loaded.is_ok() && !judge::wait_until(THREADS, || LOADER.unload("guest").is_ok()) {
            expect("unloaded", round, u64::MAX);
        }
    }
    let _ = other.join();
    expect("its state", (KEPT.kind().is_ok(), KEPT.add(0)), (true, Ok(7)));
    expect("it can be replaced", replace("kept", "same"), Ok(()));
    expect("nothing is left of it", MEMORY.usage(), before);
    say!("ok: beside each other");
}

fn replace_kept(_: u64) {
    let _ = REPLACEMENT.replace("kept", "other", LIMIT_MILLISECONDS);
}

/// It, or who replaces it, is killed at some instant of it.
fn disturbed() {
    expect("it can be replaced", replaces(), true);
    let before = MEMORY.usage();
    for victim in ["kept", "loader"] {
        for round in 0..arguments::rounds() {
            if round % 2 == 0 && victim == "kept" {
                let _ = KEPT.wake();
            }
            let once = spawn(THREADS, &ONCE, replace_kept, 0, 94).expect("a thread");
            let _ = THREADS.sleep_until(time::now() + time::ticks(37 * round % 1500));
            if SUPERVISOR.restart(victim).is_err() {
                expect("it is killed", round, u64::MAX);
            }
            let _ = once.join();
            if !answers() {
                expect("it answers", (victim, round), ("", 0));
            }
        }
        let _ = SUPERVISOR.restart("kept");
        let goes_on = (answers(), replaces());
        expect("it can be replaced again", (victim, goes_on), (victim, (true, true)));
        expect("nothing is left of it", (victim, MEMORY.usage()), (victim, before));
    }
    say!("ok: disturbed");
}

fn replace_guest(_: u64) {
    let _ = REPLACEMENT.replace("guest", "guest2", LIMIT_MILLISECONDS);
}

/// What is replaced ends for good.
fn ended() {
    let mut before = None;
    for round in 0..arguments::rounds() {
        let loaded = judge::wait_until(THREADS, || LOADER.load("guest1", "guest").is_ok());
        if !loaded {
            expect("it is loaded", round, u64::MAX);
        }
        let once = spawn(THREADS, &ONCE, replace_guest, 0, 94).expect("a thread");
        let _ = THREADS.sleep_until(time::now() + time::ticks(53 * round % 3000));
        if let Err(error) = SUPERVISOR.retire("guest") {
            expect("it ends", (round, Err(error)), (round, Ok(())));
        }
        let _ = once.join();
        if *before.get_or_insert(MEMORY.usage()) != MEMORY.usage() {
            expect("nothing is left of it", (round, Some(MEMORY.usage())), (round, before));
        }
    }
    say!("ok: ended");
}

fn main() {
    idle();
    beside_each_other();
    disturbed();
    ended();
    say!("in-place: done");
    let _ = SUPERVISOR.halt(0);
}
