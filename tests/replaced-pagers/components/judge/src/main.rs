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
        changes: User,
        one: User,
        two: User,
    },
    arguments: { rounds: u64 },
    main: main,
}

use imports::*;

const LIMIT_MILLISECONDS: u64 = 200;
/// Pagers, and what replaces each.
const PAGERS: [(&str, [&str; 2]); 6] = [
    ("zero", ["zero1", "zero2"]),
    ("copy", ["copy1", "copy2"]),
    ("store", ["store1", "store2"]),
    ("persistent", ["persistent1", "persistent2"]),
    ("transactions", ["transactions1", "transactions2"]),
    ("node", ["node1", "node2"]),
];
/// Who uses the pages of which; the last two share theirs.
const USERS: [&str; 7] = ["zeros", "copies", "stored", "lasting", "changes", "one", "two"];
/// Pagers, by their places, with those of the users that have a part in what becomes of one.
const PARTS: [(usize, &[usize]); 3] = [(0, &[0]), (4, &[4]), (5, &[5, 6])];
/// All of these.
const HURT: [usize; 4] = [0, 4, 5, 6];

static ONCE: Stack<8192> = Stack::new();
static PAUSE: [AtomicU64; 6] = [const { AtomicU64::new(0) }; 6];

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
    [ZEROS, COPIES, STORED, LASTING, CHANGES, ONE, TWO][user].rounds().unwrap_or(0)
}

/// How often a user has died.
fn deaths(user: usize) -> u64 {
    life(SUPERVISOR, USERS[user], |_, restarts| restarts).unwrap_or(u64::MAX)
}

fn all_deaths() -> [u64; USERS.len()] {
    core::array::from_fn(deaths)
}

/// All but some use pages.
fn go_on(but: &[usize]) {
    for (user, name) in USERS.into_iter().enumerate().filter(|(user, _)| !but.contains(user)) {
        let before = rounds(user);
        if !judge::wait_until(THREADS, || rounds(user) > before + 5) {
            expect("it goes on", name, "");
        }
    }
}

/// None but some has died of a page, since the first looks.
fn nobody_has_died(before: &[u64; USERS.len()], but: &[usize]) {
    for (user, name) in USERS.into_iter().enumerate().filter(|(user, _)| !but.contains(user)) {
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
    go_on(&[]);
}

fn under_load() {
    let before = all_deaths();
    by_the_first();
    let used = MEMORY.usage();
    for round in 0..arguments::rounds() as usize {
        for (place, (pager, packages)) in PAGERS.into_iter().enumerate() {
            match replace(pager, packages[round % 2]) {
                Ok(waited) => _ = PAUSE[place].fetch_max(waited, Relaxed),
                Err(error) => expect(pager, Err(error), Ok(())),
            }
            nobody_has_died(&before, &[]);
        }
        go_on(&[]);
    }
    by_the_first();
    nobody_has_died(&before, &[]);
    say!("replaced: paused for {:?} ticks at most", PAUSE.each_ref().map(|one| one.load(Relaxed)));
    expect("nothing is left", MEMORY.usage(), used);
    say!("ok: no page is lost");
}

/// Successors that do not become one: the pager before them goes on, with all that its clients have.
fn refused() {
    let before = all_deaths();
    let used = MEMORY.usage();
    for (pager, package, error) in [
        ("zero", "dies", Error::Dead),
        ("zero", "refuses", Error::VersionMismatch),
        ("zero", "never-serves", Error::TimedOut),
        ("zero", "gives-back", Error::Dead),
        ("transactions", "takes-no-transaction", Error::VersionMismatch),
    ] {
        expect(package, replace(pager, package).map(drop), Err(error));
        go_on(&[]);
        nobody_has_died(&before, &[]);
    }
    expect("nothing is left of them", MEMORY.usage(), used);
    say!("ok: refused");
}

/// Successors that do not hand out what was there hurt the clients of this pager alone, until they end; and who shares pages with these.
fn wrong() {
    let before = all_deaths();
    let packages: [&[&str]; 3] = [
        &["loses", "doubles", "foreign"],
        &["shows-others", "shows-foreign"],
        &["doubles-shared", "babbles"],
    ];
    for ((pager, users), packages) in PARTS.into_iter().zip(packages) {
        let (name, [good, _]) = PAGERS[pager];
        let user = users[0];
        for package in packages {
            expect(package, replace(name, package).map(drop), Ok(()));
            // It may have all of its pages: its next life misses them.
            let killed = deaths(user);
            expect("its client is killed", SUPERVISOR.restart(USERS[user]), Ok(()));
            let dies = judge::wait_until(THREADS, || deaths(user) > killed + 1);
            expect("its client dies of it", (*package, dies), (package, true));
            go_on(users);
            expect("what it had goes", SUPERVISOR.restart(name), Ok(()));
            let is_back = judge::wait_until(THREADS, || replace(name, good).is_ok());
            expect("a good one begins anew", (*package, is_back), (package, true));
            begin_anew(users);
            go_on(&[]);
        }
    }
    nobody_has_died(&before, &HURT);
    say!("ok: only its own clients");
}

/// Those that may have died of what they lost, and would wait the longer the more often.
fn begin_anew(users: &[usize]) {
    for user in users {
        let _ = SUPERVISOR.restart(USERS[*user]);
    }
}

/// By one of the same size: in another life it has taken all of its quota.
fn replace_once(pager: u64) {
    let (name, packages) = PAGERS[pager as usize];
    let _ = replace(name, packages[0]);
}

/// Who replaces, the pager, or a client is killed at some instant of it.
fn disturbed() {
    let before = all_deaths();
    for (pager, users) in PARTS {
        let (name, [good, _]) = PAGERS[pager];
        for victim in ["loader", name, USERS[users[0]]] {
            for round in 0..arguments::rounds() {
                let once = spawn(THREADS, &ONCE, replace_once, pager as u64, 79);
                let once = once.expect("a thread");
                judge::pause(THREADS, 61 * round % 1200);
                if SUPERVISOR.restart(victim).is_err() {
                    expect("it is killed", round, u64::MAX);
                }
                let _ = once.join();
                begin_anew(users);
                go_on(&[]);
            }
            let is_back = judge::wait_until(THREADS, || replace(name, good).is_ok());
            expect("it is replaced", (victim, is_back), (victim, true));
        }
    }
    nobody_has_died(&before, &HURT);
    say!("ok: disturbed");
}

fn main() {
    go_on(&[]);
    under_load();
    refused();
    wrong();
    disturbed();
    say!("replaced-pagers: done");
    let _ = SUPERVISOR.halt(0);
}
