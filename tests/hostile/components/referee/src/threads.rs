//! Stack pointers that are none, threads that begin nowhere, calls that never end.

use crate::harness::{End, Harness, pause, say};
use crate::imports::{ATTACKER, SUPERVISOR, THREADS, VICTIM};
use cairn::Error;
use cairn::thread::Stack;
use cairn_abi::address::NUCLEUS;
use cairn_interfaces::spawn;
use cairn_test_hostile_contract::attack;
use core::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

pub fn attacks(harness: &mut Harness) {
    let page = VICTIM.page().unwrap_or(0);
    let bad = [0, 1, page, page + 3, NUCLEUS, NUCLEUS + 0x0800_0000, u64::MAX];
    for stack in bad {
        harness.attack(
            "a call with a bad stack pointer",
            (attack::CALL_WITH_STACK, stack, 0),
            End::Answers(0),
        );
    }
    for address in bad {
        harness.attack(
            "a call with a bad return address",
            (attack::CALL_WITH_RETURN, address, 0),
            End::Dies,
        );
    }
    for word in bad {
        never_ends(harness, "bad registers when interrupts come", attack::SPIN, word);
    }
    harness.attack("an overflow of its stack", (attack::OVERFLOW_STACK, 0, 0), End::Dies);
    // It waits for the one stack that it holds itself.
    never_ends(harness, "a call into itself", attack::CALL_ITSELF, 0);
    harness.attack("a thread that returns from nothing", (attack::THREAD, 0, 0), End::Answers(0));
    for address in bad {
        thread_dies(harness, "a thread that begins nowhere", 1, address);
        harness.attack(
            "a thread with a bad stack pointer",
            (attack::THREAD, 2, address),
            End::Answers(0),
        );
    }
}

/// The attacker waits in its call for a thread that faults.
fn thread_dies(harness: &mut Harness, name: &str, what: u64, address: u64) {
    harness.attack(name, (attack::THREAD, what, address), End::Dies);
}

static STACK: Stack<8192> = Stack::new();
static RESULT: AtomicI64 = AtomicI64::new(0);
static ARGUMENT: AtomicU64 = AtomicU64::new(0);
const WAITING: i64 = 1000;

/// The attacker keeps the caller's thread until it is killed; meanwhile others run.
fn never_ends(harness: &mut Harness, name: &str, kind: u64, first: u64) {
    let failed = harness.failed();
    RESULT.store(WAITING, Relaxed);
    ARGUMENT.store(first, Relaxed);
    let run = |kind| {
        let result = ATTACKER.attack(kind, ARGUMENT.load(Relaxed), 0);
        RESULT.store(result.map_or_else(Error::status, |value| value as i64), Relaxed);
    };
    // Below this thread, which wakes up in between.
    match spawn(THREADS, &STACK, run, kind, 30) {
        Ok(thread) => {
            for _ in 0..20 {
                pause(300);
                harness.expect(name, VICTIM.echo(1), Ok(2));
            }
            harness.expect(name, RESULT.load(Relaxed), WAITING);
            harness.expect(name, SUPERVISOR.kill("attacker"), Ok(()));
            harness.expect(name, thread.join(), Ok(()));
            harness.expect(name, RESULT.load(Relaxed), Error::Dead.status());
        }
        Err(error) => harness.fail(name, error),
    }
    harness.after(name);
    if failed == harness.failed() {
        say!("ok: {name}");
    }
}
