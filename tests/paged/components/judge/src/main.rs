//! Pages come when they are missed, within the pager's quota, and go with the lives that had them.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::text::Line;
use cairn::thread::{Stack, spawn};
use cairn::time::{now, ticks};
use cairn_interfaces as interfaces;
use cairn_test_paged_contract::{Probe, ProbeProxy, when_it_lives};
use core::fmt::Write;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

const PAGE: u64 = 4096;
/// Of `first`'s section.
const SCRATCH: u64 = 40;
const ROUNDS: u64 = 30;

/// Until who was ended lives again.
const LIVES_MICROSECONDS: u64 = 2_000_000;

cairn::component! {
    name: "paged-judge",
    imports: {
        console: interfaces::Console,
        supervisor: interfaces::Supervisor,
        threads: interfaces::Threads,
        portals: interfaces::Portals,
        first: Probe,
        second: Probe,
        reader: Probe,
    },
    main: main,
}

use imports::{CONSOLE, FIRST, READER, SECOND, SUPERVISOR};

fn say(what: &str) {
    CONSOLE.write(what.as_bytes()).expect("console");
}

fn restart(name: &str, probe: ProbeProxy) {
    SUPERVISOR.restart(name).expect("restart");
    when_it_lives(LIVES_MICROSECONDS, || probe.size());
}

fn main() {
    assert_eq!(FIRST.size(), Ok(SCRATCH * PAGE));
    pages_are_zero_and_stay();
    nobody_reads_another_ones();
    a_reader_does_not_write();
    lives_begin_with_zeros();
    threads_find_the_same();
    the_quota_ends();
    what_a_dead_pager_had_is_lost();
    say("paged: done\n");
    let _ = SUPERVISOR.halt(0);
}

fn pages_are_zero_and_stay() {
    for page in 0..SCRATCH {
        for offset in [0, 8, PAGE - 8] {
            assert_eq!(FIRST.load(page * PAGE + offset), Ok(0), "{page}");
        }
        FIRST.store(page * PAGE + 8, page + 1).expect("a page");
    }
    for page in 0..SCRATCH {
        assert_eq!(FIRST.load(page * PAGE + 8), Ok(page + 1), "{page}");
        assert_eq!(FIRST.load(page * PAGE), Ok(0), "{page}");
    }
    say("ok: pages are zero when they are missed, and stay\n");
}

fn nobody_reads_another_ones() {
    for page in 0..8 {
        assert_eq!(SECOND.load(page * PAGE + 8), Ok(0), "{page}");
    }
    say("ok: each client has pages of its own\n");
}

fn a_reader_does_not_write() {
    assert_eq!(READER.load(PAGE), Ok(0));
    assert_eq!(READER.store(PAGE, 1), Err(Error::Dead));
    assert_eq!(when_it_lives(LIVES_MICROSECONDS, || READER.load(PAGE)), 0);
    say("ok: who may only read dies when it writes\n");
}

/// More rounds than there would be pages if any was lost.
fn lives_begin_with_zeros() {
    for round in 0..ROUNDS {
        restart("first", FIRST);
        assert_eq!(FIRST.fill(SCRATCH, round + 1), Ok(0), "{round}");
        assert_eq!(FIRST.load(3 * PAGE), Ok(round + 1));
    }
    say("ok: each life begins with zeros\n");
}

static STACKS: [Stack<8192>; 3] = [const { Stack::new() }; 3];
static FOUND: AtomicU64 = AtomicU64::new(0);

fn look() {
    for page in 0..SCRATCH {
        FIRST.load(page * PAGE).expect("a page");
        FOUND.fetch_add(1, Relaxed);
    }
}

fn threads_find_the_same() {
    restart("first", FIRST);
    let start = |place: usize| spawn(&STACKS[place], 50, look).expect("a thread");
    // All of them are there before one is waited for.
    for thread in [start(0), start(1), start(2)] {
        thread.join().expect("its end");
    }
    assert_eq!(FOUND.load(Relaxed), 3 * SCRATCH);
    say("ok: threads miss the same pages\n");
}

/// The first has most of the pool: of the second's pages there is an end. What dies for it leaves its pages.
fn the_quota_ends() {
    let mut had = 0;
    let error = loop {
        match SECOND.store(had * PAGE, had + 1) {
            Ok(()) => had += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error, Error::Dead);
    assert!(had > SCRATCH, "{had}");
    assert_eq!(FIRST.load(0), Ok(0), "who had its pages keeps them");
    SUPERVISOR.kill("first").expect("kill");
    // Its pages are taken when they are wanted, if they have gone back: a try that comes too early is another death.
    let end = now() + ticks(2_000_000);
    while SECOND.fill(had + SCRATCH / 2, 9) != Ok(0) {
        assert!(now() < end, "the pages do not come back");
    }
    let mut line = Line::<64>::new();
    let _ = writeln!(line, "ok: the quota ends behind {had} pages, and comes back");
    say(line.text());
    SUPERVISOR.restart("first").expect("restart");
}

fn what_a_dead_pager_had_is_lost() {
    restart("second", SECOND);
    when_it_lives(LIVES_MICROSECONDS, || FIRST.size());
    FIRST.store(5 * PAGE, 77).expect("a page");
    SUPERVISOR.restart("zero").expect("restart");
    // A page that was never missed is there, and one that was is not taken for it.
    assert_eq!(when_it_lives(LIVES_MICROSECONDS, || FIRST.load(6 * PAGE)), 0);
    assert_eq!(FIRST.load(5 * PAGE), Err(Error::Dead));
    assert_eq!(when_it_lives(LIVES_MICROSECONDS, || FIRST.load(5 * PAGE)), 0, "another life");
    say("ok: what a dead pager had is lost\n");
}
