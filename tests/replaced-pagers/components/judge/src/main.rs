//! Replaces pagers while their clients use pages and miss others.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::thread::Stack;
use cairn_interfaces::{self as interfaces, spawn};
use cairn_test_hostile_contract::judge::{self, life};
use cairn_test_hostile_contract::say;
use cairn_test_replaced_pagers_contract::User;
use core::fmt::Debug;
// Relaxed: a longest time.
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "replaced-pagers-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        memory: interfaces::MemoryStatistics,
        replacement: interfaces::Replacement,
        loader: interfaces::Loader,
        zeros: User,
        copies: User,
        stored: User,
        lasting: User,
    },
    arguments: { rounds: u64 },
    main: main,
}

use imports::*;

const LIMIT_MILLISECONDS: u64 = 200;
/// Pagers, and what replaces each.
const PAGERS: [(&str, [&str; 2]); 4] = [
    ("zero", ["zero1", "zero2"]),
    ("copy", ["copy1", "copy2"]),
    ("store", ["store1", "store2"]),
    ("persistent", ["persistent1", "persistent2"]),
];
/// Who uses the pages of which.
const USERS: [&str; 4] = ["zeros", "copies", "stored", "lasting"];

static ONCE: Stack<8192> = Stack::new();
static PAUSE: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

fn replace(pager: &str, package: &str) -> Result<u64, Error> {
    let replaced = REPLACEMENT.replace(pager, package, LIMIT_MILLISECONDS);
    if replaced.is_err() {
        let mut text = [0; 192];
        let length = LOADER.explain(&mut text).unwrap_or(0);
        say!("replaced: {package}: {}", core::str::from_utf8(&text[..length]).unwrap_or("?"));
    }
    replaced
}

fn rounds(user: usize) -> u64 {
    [ZEROS, COPIES, STORED, LASTING][user].rounds().unwrap_or(0)
}

/// How often a user has died.
fn deaths(user: usize) -> u64 {
    life(SUPERVISOR, USERS[user], |_, restarts| restarts).unwrap_or(u64::MAX)
}

/// All but the first so many use pages.
fn go_on(from: usize) {
    for (user, name) in USERS.into_iter().enumerate().skip(from) {
        let before = rounds(user);
        if !judge::wait_until(THREADS, || rounds(user) > before + 20) {
            expect("it goes on", name, "");
        }
    }
}

/// Nobody has died of a page, since the first looks.
fn nobody_has_died(before: &[u64; 4], from: usize) {
    for (user, name) in USERS.into_iter().enumerate().skip(from) {
        if deaths(user) != before[user] {
            expect("nobody dies of a page", (name, deaths(user)), ("", before[user]));
        }
    }
}

/// All are of the same size from now on.
fn by_the_first() {
    for (pager, packages) in PAGERS {
        expect(pager, replace(pager, packages[0]).map(drop), Ok(()));
    }
    go_on(0);
}

fn under_load() {
    let before = [0, 1, 2, 3].map(deaths);
    by_the_first();
    let used = MEMORY.usage();
    for round in 0..arguments::rounds() as usize {
        for (place, (pager, packages)) in PAGERS.into_iter().enumerate() {
            match replace(pager, packages[round % 2]) {
                Ok(waited) => _ = PAUSE[place].fetch_max(waited, Relaxed),
                Err(error) => expect(pager, Err(error), Ok(())),
            }
            nobody_has_died(&before, 0);
        }
        go_on(0);
    }
    by_the_first();
    nobody_has_died(&before, 0);
    say!("replaced: paused for {:?} ticks at most", PAUSE.each_ref().map(|one| one.load(Relaxed)));
    expect("nothing is left", MEMORY.usage(), used);
    say!("ok: no page is lost");
}

/// Successors that do not become one: the pager before them goes on, with all that its clients have.
fn refused() {
    let before = [0, 1, 2, 3].map(deaths);
    let used = MEMORY.usage();
    for (package, error) in [
        ("dies", Error::Dead),
        ("refuses", Error::VersionMismatch),
        ("never-serves", Error::TimedOut),
        ("gives-back", Error::Dead),
    ] {
        expect(package, replace("zero", package).map(drop), Err(error));
        go_on(0);
        nobody_has_died(&before, 0);
    }
    expect("nothing is left of them", MEMORY.usage(), used);
    say!("ok: refused");
}

/// Successors that do not hand out what was there hurt the clients of this pager alone, until they end.
fn wrong() {
    let before = [0, 1, 2, 3].map(deaths);
    for package in ["loses", "doubles", "foreign"] {
        expect(package, replace("zero", package).map(drop), Ok(()));
        // It may have all of its pages: its next life misses them.
        let killed = deaths(0);
        expect("its client is killed", SUPERVISOR.restart(USERS[0]), Ok(()));
        let dies = judge::wait_until(THREADS, || deaths(0) > killed + 1);
        expect("its client dies of it", (package, dies), (package, true));
        go_on(1);
        nobody_has_died(&before, 1);
        expect("what it had goes", SUPERVISOR.restart("zero"), Ok(()));
        let is_back = judge::wait_until(THREADS, || replace("zero", "zero1").is_ok());
        expect("a good one begins anew", (package, is_back), (package, true));
        go_on(0);
    }
    say!("ok: only its own clients");
}

/// By one of the same size: in another life it has taken all of its quota.
fn replace_once(_: u64) {
    let _ = replace("zero", "zero1");
}

/// Who replaces, the pager, or a client is killed at some instant of it.
fn disturbed() {
    let before = [0, 1, 2, 3].map(deaths);
    for victim in ["loader", "zero", "zeros"] {
        for round in 0..arguments::rounds() {
            let once = spawn(THREADS, &ONCE, replace_once, 0, 79).expect("a thread");
            judge::pause(THREADS, 61 * round % 1200);
            if SUPERVISOR.restart(victim).is_err() {
                expect("it is killed", round, u64::MAX);
            }
            let _ = once.join();
            // It may have died of what it lost, and would wait the longer the more often.
            let _ = SUPERVISOR.restart(USERS[0]);
            go_on(0);
        }
        let is_back = judge::wait_until(THREADS, || replace("zero", "zero1").is_ok());
        expect("it is replaced", (victim, is_back), (victim, true));
    }
    nobody_has_died(&before, 1);
    say!("ok: disturbed");
}

fn main() {
    go_on(0);
    under_load();
    refused();
    wrong();
    disturbed();
    say!("replaced-pagers: done");
    let _ = SUPERVISOR.halt(0);
}
