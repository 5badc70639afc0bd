//! A client of a server in C that answers with all registers full, with words that are no values, or not at all: every
//! register of every way back is as the method's letters say, over portals of the description and over those that were opened by name.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::thread::Stack;
use cairn_interfaces as interfaces;
use cairn_interfaces::spawn;
use cairn_test_hostile_contract::{judge, say};
use cairn_test_hostile_machine::{KEPT, call_and_look};
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};

cairn::component! {
    name: "hostile-replies-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        portals: interfaces::Portals,
        scheduling: interfaces::SchedulerStatistics,
        lies: interfaces::SchedulerStatistics,
        words: interfaces::SchedulerStatistics,
    },
    main: main,
}

/// Methods of the interface: how many words a reply has.
const WORDS: [u64; 4] = [4, 1, 1, 3];
const SECRET: u64 = 0x5ec2;
/// What the server does, by its parameter: it faults, it waits for ever; else that is the status.
const FAULT: u64 = 1;
const WAIT: u64 = 2;
/// A status of its own that is not zero.
const OWN: u64 = 5;

/// What is wrong with the registers after a call of a method that came back with `status`: the number of the first one.
fn wrong(found: &[u64; 32], status: i64, words: u64, of_words: u64) -> Option<usize> {
    (2..32).find(|register| {
        let value = found[*register];
        match register {
            2 => false,
            3 | 4 | 8 | 9 | 18..=27 => value != KEPT + *register as u64,
            10 => value != status as u64,
            11..=17 if (*register as u64) < 11 + words => value != of_words,
            _ => value != 0,
        }
    })
}

fn check(first: u64, method: usize, how: u64, status: i64, of_words: u64) -> u64 {
    let found = call_and_look(first + method as u64, &[0, how, 3, 4, 5, 6, 7, 8]);
    match wrong(&found, status, WORDS[method], of_words) {
        Some(register) => {
            say!("FAILED method {method}, {how}: x{register} is {:#x}", found[register]);
            1
        }
        None => 0,
    }
}

fn await_liar() {
    judge::wait_until(imports::THREADS, || imports::WORDS.thread_time(0) == Ok(7));
}

fn all(first: u64) -> u64 {
    let mut failed = 0;
    for method in [0, 1, 3] {
        failed += check(first, method, 0, 0, SECRET);
        failed += check(first, method, OWN, OWN as i64, SECRET);
        failed += check(
            first,
            method,
            Error::Cancelled.status() as u64,
            Error::Cancelled.status(),
            SECRET,
        );
        failed += check(first, method, FAULT, Error::Dead.status(), 0);
        await_liar();
    }
    failed
}

static STACKS: [Stack<8192>; 2] = [const { Stack::new() }; 2];
/// The registers of the threads that waited.
static FOUND: [[AtomicU64; 32]; 2] = [const { [const { AtomicU64::new(0) }; 32] }; 2];

/// Calls with the parameter in the bits from 8 on.
fn call(argument: u64) {
    let first = u64::from(imports::LIES.first_portal());
    let found = call_and_look(first, &[0, argument >> 8, 3, 4, 5, 6, 7, 8]);
    for (to, from) in FOUND[argument as usize & 1].iter().zip(found) {
        to.store(from, SeqCst);
    }
}

fn found(thread: usize) -> [u64; 32] {
    core::array::from_fn(|register| FOUND[thread][register].load(SeqCst))
}

/// The server dies while a thread waits in it, and another for its only stack, which gets what the next life answers, or
/// the error.
fn in_between() -> u64 {
    let inside = spawn(imports::THREADS, &STACKS[0], call, WAIT << 8, 49).expect("spawn");
    let outside = spawn(imports::THREADS, &STACKS[1], call, 1, 49).expect("spawn");
    let index = cairn::abi::thread::index_of_name(outside.name());
    judge::wait_until(imports::THREADS, || {
        let thread = imports::SCHEDULING.thread(index);
        thread.is_ok_and(|thread| thread.activity == interfaces::Activity::Stack)
    });
    imports::SUPERVISOR.restart("liar").expect("restart");
    inside.join().expect("join");
    outside.join().expect("join");
    let dead = |thread| wrong(&found(thread), Error::Dead.status(), 4, 0);
    let outside = dead(1).and_then(|_| wrong(&found(1), 0, 4, SECRET));
    let wrong = dead(0).map(|register| (0, register)).or(outside.map(|register| (1, register)));
    await_liar();
    match wrong {
        Some((thread, register)) => {
            say!("FAILED thread {thread}: x{register} is {:#x}", found(thread)[register]);
            1
        }
        None => 0,
    }
}

fn main() {
    let mut failed = all(imports::LIES.first_portal().into());
    say!("ok: words of the description's portals");
    let opened = imports::PORTALS
        .open_proxy::<dyn interfaces::SchedulerStatistics>("liar.lies")
        .expect("open");
    failed += all(opened.first_portal().into());
    say!("ok: words of opened portals");
    let version =
        <dyn interfaces::SchedulerStatistics as cairn::component::Interface>::DESCRIPTOR.version;
    for letters in [
        "ci ci c ci3 ",
        "ci4 ci4 c ci3 ",
        "ci4 ci c ci2 ",
        "ci3 ci c ci4 ",
        "cr4 ci c ci3 ",
        "ci4 ci c ci3 c ",
    ] {
        let found = imports::PORTALS.open("liar.lies", version, letters.as_bytes());
        if found != Err(Error::VersionMismatch) {
            say!("FAILED {letters}: {found:?}");
            failed += 1;
        }
    }
    for place in 0..6 {
        let expected = if matches!(place, 0 | 4) { None } else { Some(Error::Malformed) };
        if imports::WORDS.thread(place).err() != expected {
            say!("FAILED word {place}: {:?}", imports::WORDS.thread(place));
            failed += 1;
        }
    }
    for status in
        [1, 5, 0xffff, 0x1_0000, 0x1_0001, 1 << 32, i64::MAX, i64::MIN, -1, -99, -0x1_0001]
    {
        if imports::WORDS.thread_time(status as u64).is_ok() {
            say!("FAILED status {status}");
            failed += 1;
        }
    }
    say!("ok: words that are no values");
    // An import's methods are those that it has: the stub of none is another's.
    let first = cairn::call::Portals::imported::<
        { cairn::abi::domain::PORTAL_FIRST_IMPORT as u32 },
        1,
    >(false);
    for method in [1, 2, 23, 24, u32::MAX] {
        let found: Result<u64, Error> =
            first.call::<1, _, _>(method, cairn::call::Arguments::new());
        if found != Err(Error::NoPortal) {
            say!("FAILED method {method}: {found:?}");
            failed += 1;
        }
    }
    say!("ok: methods that there are not");
    for _ in 0..10 {
        failed += in_between();
    }
    say!("ok: death in between");
    say!("hostile-replies: {failed} failed");
    let _ = imports::SUPERVISOR.halt(failed.min(1));
}
