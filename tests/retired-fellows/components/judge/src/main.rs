//! Ends instances for good that share a domain or a fate, while they are called, and sees that all of them end, and that nothing of them is left.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::component::Interface;
use cairn::thread::Stack;
use cairn::{Error, InstanceId, Object};
use cairn_driver_interfaces::WallClock;
use cairn_interfaces as interfaces;
use cairn_interfaces::spawn;
use cairn_test_hostile_contract::{judge, say};
use cairn_test_replaced_contract::Counter;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "retired-fellows-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        portals: interfaces::Portals,
        loader: interfaces::Loader,
        scheduling: interfaces::SchedulerStatistics,
        usage: interfaces::MemoryStatistics,
        code: interfaces::PortalListing,
        names: interfaces::Names,
    },
    main: main,
}

use imports::{LOADER, PORTALS, SUPERVISOR, THREADS, USAGE};

cairn_test_hostile_contract::harness!();
use harness::{Judge, wait_until};

/// Below this one, which looks whether it waits.
const CLIENT_PRIORITY: u8 = 50;
/// When the alarm would come.
const ALARM_MICROSECONDS: u64 = 10_000_000;
const ROUNDS: usize = 12;

static STACKS: [Stack<8192>; 2] = [const { Stack::new() }; 2];
/// How many calls were answered by the first and the second thread, and with what the last of each ended: 0, none.
static ANSWERED: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
static ENDED: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

fn open<T: Interface + ?Sized>(name: &str) -> Object<T> {
    PORTALS.open_object::<T>(name).expect("it is open")
}

/// Notes an answer of a thread; whether there will be more.
fn note(place: usize, answer: Result<(), Error>) -> bool {
    match answer {
        Ok(()) => ANSWERED[place].fetch_add(1, Relaxed),
        Err(error) => ENDED[place].fetch_add(error as i64 as u64, Relaxed),
    };
    answer.is_ok()
}

fn wait_for_alarm(place: u64) {
    let clock = open::<dyn WallClock>("rtc.clock");
    let alarm = clock.proxy().now().map(|now| now + ALARM_MICROSECONDS * 1000);
    ANSWERED[place as usize].fetch_add(1, Relaxed);
    note(place as usize, alarm.and_then(|alarm| clock.proxy().wait_until(alarm)));
}

/// Calls without end.
fn count(place: u64) {
    let counter = open::<dyn Counter>("counter.counter");
    while note(place as usize, counter.proxy().add(1).map(drop)) {}
}

fn count_in_kernel(place: u64) {
    let counter = open::<dyn Counter>("kernel-counter.counter");
    while note(place as usize, counter.proxy().add(1).map(drop)) {}
}

fn free() -> u64 {
    USAGE.usage().map_or(0, |(free, _)| free)
}

/// The pages that an instance has.
fn has(name: &str) -> u64 {
    let mut text = [0; 128];
    let mut number = 1;
    while let Ok((length, described)) = SUPERVISOR.describe(number, &mut text) {
        let line = core::str::from_utf8(text.get(..length).unwrap_or_default()).unwrap_or("");
        if line.split(' ').next() == Some(name) {
            let usage = USAGE.usage_of(InstanceId(described as u16));
            return usage.map_or(0, |(pages, _)| pages);
        }
        number = described + 1;
    }
    0
}

/// Ends those that share a domain, one of which is named, in the middle of their clients' calls.
fn retire(judge: &mut Judge, named: &str, all: &[&str], clients: &[fn(u64)]) {
    for count in ANSWERED.iter().chain(&ENDED) {
        count.store(0, Relaxed);
    }
    let threads = [0, 1].map(|place| {
        let client = clients.get(place)?;
        spawn(THREADS, &STACKS[place], *client, place as u64, CLIENT_PRIORITY).ok()
    });
    wait_until(|| ANSWERED.iter().take(clients.len()).all(|count| count.load(Relaxed) > 0));
    let (before, pages) = (free(), all.iter().map(|name| has(name)).sum::<u64>());
    judge.expect("it retires", SUPERVISOR.retire(named), Ok(()));
    for thread in threads.into_iter().flatten() {
        judge.expect("its client comes back", thread.join(), Ok(()));
    }
    let ends = [Error::Dead, Error::NoPortal].map(|error| error as i64 as u64);
    for ended in ENDED.iter().take(clients.len()) {
        judge.expect("with an error", ends.contains(&ended.load(Relaxed)), true);
    }
    for name in all {
        let is_there = judge::life(SUPERVISOR, name, |_, _| ()).is_some();
        judge.expect("it is not there", (*name, is_there), (*name, false));
        judge.expect("a second time", SUPERVISOR.retire(name), Err(Error::NotFound));
    }
    // A startup page counts in no quota.
    judge.expect("their memory is free", free() - before, pages + all.len() as u64);
}

fn main() {
    let mut judge = harness::begin();
    // Makes what the first use makes.
    let _ = LOADER.load("guest", "first").and_then(|_| LOADER.unload("first"));
    let mut text = [0; 32];
    for name in ["counter", "witness", "rtc"] {
        judge.expect("somebody is connected", SUPERVISOR.retire(name), Err(Error::Busy));
        let length = SUPERVISOR.user_of(name, &mut text).unwrap_or(0);
        judge.expect("who", &text[..length], b"user");
    }
    judge.expect("all live", open::<dyn Counter>("counter.counter").proxy().add(0).is_ok(), true);
    judge.expect("who is connected goes", SUPERVISOR.retire("user"), Ok(()));
    judge.passed("who is connected to one of them keeps all");
    let three = ["counter", "witness", "rtc"];
    retire(&mut judge, "rtc", &three, &[count, wait_for_alarm]);
    judge.passed("a domain of three");
    let two = ["kernel-counter", "kernel-witness"];
    retire(&mut judge, "kernel-witness", &two, &[count_in_kernel]);
    judge.passed("two of one fate");
    judge.start();
    for _ in 0..ROUNDS {
        for name in ["counter", "witness", "rtc", "four"] {
            judge.expect("load", LOADER.load("guest", name).map(drop), Ok(()));
        }
        for name in ["rtc", "counter", "four", "witness"] {
            judge.expect("unload", LOADER.unload(name), Ok(()));
        }
    }
    judge.end("others after them");
    say!("retired fellows: done");
    let _ = SUPERVISOR.halt(judge.failed().min(255));
}
