//! A component dies while one of its threads, or one that came through it, waits in a living neighbour
//! for what does not come.

use crate::harness::{Judge, pause, wait_until};
use crate::imports::{KEEPER, KEPT, READER, SLEEPER, SUPERVISOR, THREADS, TIMER};
use cairn::Error;
use cairn::thread::Stack;
use cairn_interfaces::spawn;
use cairn_test_hostile_places::WaiterProxy;
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// The waiters: name, what its threads wait for, and their calls.
const WAITERS: [(&str, &str, WaiterProxy); 4] = [
    ("reader", "waits for input", READER),
    ("sleeper", "waits for a time far away", SLEEPER),
    ("timer", "waits for a timer", TIMER),
    ("kept", "waits for a semaphore, with a lock held", KEPT),
];

pub fn attacks(judge: &mut Judge) {
    for (index, (name, what, waiter)) in WAITERS.into_iter().enumerate() {
        wait_until(|| waiter.waiting() == Ok(1));
        pause(20_000);
        judge.start();
        killed(judge, name, what, waiter);
        crashed(judge, name, what, waiter);
        passed_through(judge, index);
        judge.end(what);
    }
    // Each of them gave the lock back.
    judge.expect("the keeper's waits that ended", KEEPER.ended(), Ok(4));
}

fn killed(judge: &mut Judge, name: &str, what: &str, waiter: WaiterProxy) {
    judge.expect(what, SUPERVISOR.kill(name), Ok(()));
    judge.expect(what, waiter.generation(), Err(Error::Dead));
    judge.expect(what, SUPERVISOR.restart(name), Ok(()));
    wait_until(|| waiter.waiting() == Ok(1));
    judge.expect(what, waiter.generation(), Ok(1));
}

fn crashed(judge: &mut Judge, name: &str, what: &str, waiter: WaiterProxy) {
    pause(5000);
    judge.expect(what, SUPERVISOR.crash(name), Ok(()));
    // It does not run; whoever calls it finds out.
    judge.expect(what, waiter.generation(), Err(Error::Dead));
    wait_until(|| waiter.waiting() == Ok(1));
    judge.expect(what, waiter.generation(), Ok(2));
}

static STACK: Stack<8192> = Stack::new();
static RESULT: AtomicI64 = AtomicI64::new(0);
const WAITING: i64 = 1000;

/// A thread of another component waits there, on its behalf.
fn passed_through(judge: &mut Judge, index: usize) {
    let (name, what, waiter) = WAITERS[index];
    RESULT.store(WAITING, Relaxed);
    let wait = |index: u64| {
        let result = WAITERS[index as usize].2.wait();
        RESULT.store(result.map_or_else(Error::status, |value| value as i64), Relaxed);
    };
    let thread = spawn(THREADS, &STACK, wait, index as u64, 50).expect("spawn");
    wait_until(|| waiter.waiting() == Ok(2));
    pause(5000);
    judge.expect(what, SUPERVISOR.kill(name), Ok(()));
    judge.expect(what, SUPERVISOR.restart(name), Ok(()));
    judge.expect(what, thread.join(), Ok(()));
    judge.expect(what, RESULT.load(Relaxed), Error::Dead.status());
    wait_until(|| waiter.waiting() == Ok(1));
    judge.expect(what, waiter.generation(), Ok(3));
}
