//! Three threads call a server that has one stack for them. When it takes its portals back, all three come back.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn::{Error, environment};
use cairn_interfaces::{Console, Portals, Supervisor, Threads, spawn};
use cairn_test_hostile_stacks_contract::{Gate, GateProxy};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "hostile-stacks-judge",
    imports: { console: Console, portals: Portals, threads: Threads, supervisor: Supervisor },
    main: main,
}

const CALLERS: usize = 3;
static STACKS: [Stack<4096>; CALLERS] = [const { Stack::new() }; CALLERS];
static GATE: AtomicU32 = AtomicU32::new(0);
/// How many came back, and of these, by an answer and with `NoPortal`.
static BACK: AtomicU64 = AtomicU64::new(0);
static ANSWERED: AtomicU64 = AtomicU64::new(0);
static REFUSED: AtomicU64 = AtomicU64::new(0);

fn pause(microseconds: u64) {
    imports::THREADS.sleep_until(now() + ticks(microseconds)).expect("sleep");
}

fn call(_: u64) {
    match GateProxy::at(GATE.load(Relaxed)).hold() {
        Ok(_) => ANSWERED.fetch_add(1, Relaxed),
        Err(Error::NoPortal) => REFUSED.fetch_add(1, Relaxed),
        Err(_) => 0,
    };
    BACK.fetch_add(1, Relaxed);
}

/// Calls with one thread for each priority. How many came back in a second.
fn call_all(priorities: &[u64]) -> u64 {
    BACK.store(0, Relaxed);
    for (stack, priority) in STACKS.iter().zip(priorities) {
        let _ = spawn(imports::THREADS, stack, call, 0, *priority as u8).expect("spawn");
    }
    for _ in 0..500 {
        if BACK.load(Relaxed) == priorities.len() as u64 {
            break;
        }
        pause(2000);
    }
    BACK.load(Relaxed)
}

/// Another client, which gets the stack, and its queue, when the first one has closed what it had.
fn other() {
    while environment::startup().generation == 0 {
        pause(10_000_000);
    }
    let gate = imports::PORTALS.open_object::<dyn Gate>("gate.gate").expect("open");
    GATE.store(gate.first_portal(), Relaxed);
    let back = call_all(&[15, 10]);
    let verdict = if back == 2 { "ok:" } else { "FAILED" };
    say(format_args!("{verdict} {back} of 2 threads of the next client came back\n"));
    let _ = imports::SUPERVISOR.halt((back != 2).into());
}

fn say(text: core::fmt::Arguments) {
    let _ = imports::CONSOLE.print(text);
}

fn main() {
    if environment::argument() == "other" {
        return other();
    }
    let gate = imports::PORTALS.open_object::<dyn Gate>("gate.gate").expect("open");
    GATE.store(gate.first_portal(), Relaxed);
    let back = call_all(&[40, 30, 20]);
    let (answered, refused) = (ANSWERED.load(Relaxed), REFUSED.load(Relaxed));
    let verdict = if back == CALLERS as u64 { "ok:" } else { "FAILED" };
    say(format_args!(
        "{verdict} {back} of 3 threads came back from a server that took its portals back: {answered} answered, {refused} refused\n"
    ));
    imports::PORTALS.close(gate.first_portal().into()).expect("close");
    imports::SUPERVISOR.restart("other").expect("restart");
}
