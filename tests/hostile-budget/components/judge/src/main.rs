//! Measures what others with a processor budget leave.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::time::{now, ticks};
use cairn_interfaces as interfaces;
use cairn_test_hostile_budget_keeper::Keeper;
use cairn_test_hostile_contract::{judge, say};

cairn::component! {
    name: "hostile-budget-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        keeper: Keeper,
    },
    main: main,
}

use imports::{CONSOLE, KEEPER, SUPERVISOR, THREADS};

/// Four periods.
const MEASURED_MICROSECONDS: u64 = 40_000;
/// The attacker may have 10 percent, the part of its own domain as much, and what the kernel does for them.
const LEAST_PERCENT: u64 = 75;
/// What is left of the work of one with the lock, and of others that were before; and not a period.
const LONGEST_MICROSECONDS: u64 = 5_000;

/// What is left of a busy time, in percent.
fn left() -> u64 {
    let (begin, used) = (now(), THREADS.time_used().unwrap_or(0));
    let end = begin + ticks(MEASURED_MICROSECONDS);
    while now() < end {}
    (THREADS.time_used().unwrap_or(0) - used) * 100 / (now() - begin)
}

/// How long the longest of many calls takes, at most, in microseconds.
fn longest_call() -> u64 {
    let calls = (0..200).map(|round| {
        judge::pause(THREADS, 377 + round % 7 * 100);
        let begin = now();
        match KEEPER.work(0) {
            Ok(_) => now() - begin,
            Err(_) => u64::MAX / 1000,
        }
    });
    calls.max().unwrap_or(0) / ticks(1)
}

fn main() {
    say!("budget: it begins");
    let left = left();
    say!("budget: {left} percent are left");
    judge::compare(
        CONSOLE,
        "others have the time that is not the attacker's",
        left >= LEAST_PERCENT,
        true,
    );
    let longest = longest_call();
    say!("budget: a call takes {longest} us at most");
    let is_short = longest <= LONGEST_MICROSECONDS;
    judge::compare(CONSOLE, "nobody waits for a budget of another", is_short, true);
    let is_new = |found: &str, restarts| (found, restarts) == ("alive", 1);
    let lives = || judge::life(SUPERVISOR, "middle", is_new) == Some(true);
    judge::compare(CONSOLE, "a server ends", SUPERVISOR.restart("middle"), Ok(()));
    let lives = judge::wait_until(THREADS, lives);
    judge::compare(CONSOLE, "it starts again though its caller has no budget", lives, true);
    judge::compare(CONSOLE, "it dies at once", SUPERVISOR.kill("attacker"), Ok(()));
    let is_dead = || judge::life(SUPERVISOR, "attacker", |found, _| found == "dead") == Some(true);
    judge::compare(CONSOLE, "without a budget", judge::wait_until(THREADS, is_dead), true);
    say!("budget: done");
    let _ = SUPERVISOR.halt(0);
}
