//! Has work for a disk without end: while one thread is with the driver, another one puts in more than is served, and a third calls the first
//! home.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_queue::blocks::{ANSWERS, CAPACITY, REQUESTS};
// Relaxed: a count for people.
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "client",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        queue: cairn_driver_interfaces::BlockQueue,
    },
    main: main,
}

/// Ticks between two looks of who puts requests in; the driver takes longer for those of a look.
const PAUSE: u64 = 500;
/// Of the time between two calls home, and how many there are.
const CALL_MICROSECONDS: u64 = 50_000;
const CALLS: u64 = 20;

/// How often the first thread was with the driver, and came home.
static RETURNED: AtomicU64 = AtomicU64::new(0);

fn main() {
    static STACKS: [Stack<8192>; 2] = [const { Stack::new() }; 2];
    let first = spawn(imports::THREADS, &STACKS[0], submitter, 0, 20).expect("spawn");
    spawn(imports::THREADS, &STACKS[1], feeder, 0, 40).expect("spawn");
    for _ in 0..CALLS {
        let _ = imports::THREADS.sleep_until(now() + ticks(CALL_MICROSECONDS));
        let _ = imports::SUPERVISOR.call_home(first.name());
    }
    let returned = RETURNED.load(Relaxed);
    let word = if returned > 0 {
        "ok: the client's thread comes home"
    } else {
        "FAILED: it never comes home"
    };
    let _ = imports::CONSOLE.print(format_args!("{word}, {returned} times\n"));
}

fn submitter(_: u64) {
    let mut beginning = 0;
    loop {
        match imports::QUEUE.submit(beginning) {
            Ok(_) => drop(RETURNED.fetch_add(1, Relaxed)),
            Err(_) => beginning = imports::QUEUE.begin().unwrap_or(0),
        }
    }
}

/// Whatever the driver takes, as many requests come behind it; whatever it answers is taken.
fn feeder(_: u64) {
    let section = environment::section("queue").expect("the description has a section `queue`");
    let word = |number: usize| number * 8;
    let read = 16 << 10 << 32;
    for entry in 0..CAPACITY {
        let at = REQUESTS.first + 8 + entry * 4;
        for (number, value) in [0, read, 0, 0].into_iter().enumerate() {
            section.store(word(at + number), value);
        }
    }
    loop {
        let taken = section.load(word(REQUESTS.first + 1));
        section.store(word(REQUESTS.first), taken + CAPACITY as u64);
        section.store(word(ANSWERS.first + 1), section.load(word(ANSWERS.first)));
        let _ = imports::THREADS.sleep_until(now() + PAUSE);
    }
}
