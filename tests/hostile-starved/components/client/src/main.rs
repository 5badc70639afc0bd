//! Of its threads one has the lock of the server's heap, one waits for it and is called home, and one that is more urgent than both keeps the
//! processor for longer than a wait for a lock may take then.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_random::Random;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

cairn::component! {
    name: "client",
    imports: {
        console: interfaces::Console,
        supervisor: interfaces::Supervisor,
        threads: interfaces::Threads,
        server: cairn_app_interfaces::Echo,
    },
    main: main,
}

use imports::{CONSOLE, SERVER, SUPERVISOR, THREADS};

const ROUNDS: u64 = 25;
/// Until the urgent thread begins, at most, in ticks; and how long it goes on.
const BEFORE: u64 = 60;
const BUSY_MICROSECONDS: u64 = 50_000;

static ENDS: AtomicBool = AtomicBool::new(false);
static FAILED: AtomicU64 = AtomicU64::new(0);

fn note(result: Result<u64, Error>) {
    FAILED.fetch_add(u64::from(!matches!(result, Ok(_) | Err(Error::Cancelled))), SeqCst);
}

fn holds(_: u64) {
    while !ENDS.load(SeqCst) {
        note(SERVER.add(10, 0));
    }
}

fn waits(at: u64) {
    let _ = THREADS.sleep_until(at);
    note(SERVER.add(0, 0));
}

fn sleeps(_: u64) {
    let _ = THREADS.sleep_until(u64::MAX);
}

/// Twice: whoever was called home and waits for the same lock again does so in between.
fn is_busy(at: u64) {
    for at in [at, at + ticks(BUSY_MICROSECONDS) + 10 + at % BEFORE] {
        let _ = THREADS.sleep_until(at);
        while now() < at + ticks(BUSY_MICROSECONDS) {}
    }
}

fn main() {
    static STACKS: [Stack<8192>; 4] = [const { Stack::new() }; 4];
    let mut random = Random::of_seed(1);
    let holder = spawn(THREADS, &STACKS[0], holds, 0, 20).expect("a thread");
    let urgent = spawn(THREADS, &STACKS[3], sleeps, 0, 60).expect("a thread");
    for _ in 0..ROUNDS {
        let at = now() + ticks(1000) + random.below(200);
        let waiter = spawn(THREADS, &STACKS[1], waits, at, 30).expect("a thread");
        let busy = at + 10 + random.below(BEFORE);
        let busy = spawn(THREADS, &STACKS[2], is_busy, busy, 40).expect("a thread");
        let _ = THREADS.sleep_until(at + ticks(1000));
        // The supervisor looks with the priority of the most urgent of those.
        let _ = SUPERVISOR.call_home(urgent.name());
        let _ = SUPERVISOR.call_home(waiter.name());
        waiter.join().expect("it ends");
        busy.join().expect("it ends");
    }
    ENDS.store(true, SeqCst);
    holder.join().expect("it ends");
    let failed = FAILED.load(SeqCst);
    let word = if failed == 0 { "ok: the server lives" } else { "FAILED: the server ended" };
    let _ = CONSOLE.print(format_args!("{word}, {failed} calls failed\n"));
    let _ = SUPERVISOR.halt(failed.min(1));
}
