//! Wake-ups that portal code notes; [`v_in_portal`] stands for it.

extern crate std;
use crate::testing::*;
use crate::*;
use std::boxed::Box;

/// Threads 1 and 2 wait, for semaphores 0 and 1; thread 3 runs.
fn two_wait(priorities: [u8; 3]) -> Box<TestScheduler> {
    let mut s = scheduler(&priorities);
    for thread in 1..=2 {
        assert_eq!(s.running(), thread);
        s.p(thread, ONE, u64::from(thread) - 1, 0);
    }
    assert_eq!(s.running(), 3);
    s
}

/// The same, and the timer marks no quanta any more.
fn two_wait_without_quanta() -> Box<TestScheduler> {
    let mut s = two_wait([100; 3]);
    assert_eq!(s.tick(3, QUANTUM), OK);
    assert_eq!(s.machine().timer, u64::MAX);
    s
}

fn set_priority(s: &mut TestScheduler, thread: ThreadIndex, priority: u64) -> Outcome {
    let (caller, handle) = (s.running(), s.handle(thread).unwrap());
    s.set_priority(caller, ONE, handle, priority, 0)
}

#[test]
fn who_would_not_go_first_is_noted() {
    let mut s = two_wait([120, 110, 100]);
    assert!(!v_in_portal(&s.machine, 0), "it goes first");
    assert_eq!(set_priority(&mut s, 3, 130), OK);
    // Whoever comes in vain lets the next one be noted.
    assert_eq!(s.v(3, 0, 0), OK);
    assert!(v_in_portal(&s.machine, 1));
    assert_eq!((s.running(), s.state(2)), (3, State::Semaphore));
    s.enter();
    assert_eq!((s.running(), s.state(2)), (3, State::Ready));
    assert_eq!(s.p(3, ONE, 2, 0), switched(1, 0, 0));
    assert_eq!(s.p(1, ONE, 2, 0), switched(2, 0, 0));
}

#[test]
fn one_is_noted_at_a_time() {
    let mut s = two_wait([100; 3]);
    assert!(v_in_portal(&s.machine, 1));
    assert!(!v_in_portal(&s.machine, 0));
    s.enter();
    assert_eq!(s.v(3, 0, 0), OK);
    assert_eq!(s.yield_now(3, 0), switched(2, 0, 0));
    assert_eq!(s.yield_now(2, 0), switched(1, 0, 0));
}

/// Who gives and then runs for ever gets no more than its quantum.
#[test]
fn an_equal_that_was_noted_gets_its_turn() {
    let mut s = two_wait([100; 3]);
    assert!(v_in_portal(&s.machine, 0));
    s.enter();
    assert_eq!(s.tick(3, QUANTUM), switched(1, 0, 0));
}

#[test]
fn an_equal_is_not_noted_while_no_quantum_ends() {
    let mut s = two_wait_without_quanta();
    assert!(!v_in_portal(&s.machine, 0));
    assert_eq!(s.v(3, 0, QUANTUM), OK);
    assert_eq!(s.machine().timer, 2 * QUANTUM);
    // Now one does.
    assert!(v_in_portal(&s.machine, 1));
    // The less urgent need none.
    let mut s = two_wait_without_quanta();
    assert_eq!(set_priority(&mut s, 3, 101), OK);
    assert_eq!(s.v(3, 1, 0), OK);
    assert!(v_in_portal(&s.machine, 0));
}

#[test]
fn nothing_is_noted_of_who_waits_otherwise_or_not_alone() {
    let mut s = two_wait([100; 3]);
    s.timed_p(3, ONE, 0, 50, 0);
    assert_eq!(s.running(), IDLE);
    assert!(!v_in_portal(&s.machine, 1), "the idle thread runs");
    assert_eq!(s.tick(IDLE, 50), OK);
    assert_eq!(s.tick(IDLE, 50), switched(3, cairn_abi::Error::TimedOut.status(), 0));
    // One waits again, but no level says which.
    assert!(!v_in_portal(&s.machine, 0));
    let mut s = scheduler(&[100; 2]);
    s.timed_p(1, ONE, 0, 50, 0);
    assert!(!v_in_portal(&s.machine, 0), "its limit has to end");
}

#[test]
fn who_became_more_urgent_meanwhile_is_not_noted() {
    let mut s = two_wait([100; 3]);
    assert_eq!(set_priority(&mut s, 1, 101), OK);
    assert!(!v_in_portal(&s.machine, 0));
    assert_eq!(s.v(3, 0, 0), switched(1, 0, 0));
    // The one that holds a lock of a more urgent one.
    let mut s = scheduler(&[120, 110, 110, 110]);
    let lock = u64::from(s.create_lock(ONE).unwrap());
    s.sleep_until(1, ONE, 5, 0);
    s.lock(2, ONE, lock, 0);
    s.p(2, ONE, 0, 0);
    assert_eq!(s.tick(3, 5), switched(1, 0, 0));
    assert_eq!(s.lock(1, ONE, lock, 5), switched(3, 0, 0));
    assert!(!v_in_portal(&s.machine, 0));
    assert_eq!(s.v(3, 0, 5), switched(2, 0, 0));
}

/// What the supervisor does to a thread whose wake-up is noted, it does to one that is awake.
#[test]
fn who_was_noted_can_be_stopped_cancelled_and_killed() {
    let noted = || {
        let mut s = two_wait([100; 3]);
        let handle = s.handle(1).unwrap();
        assert!(v_in_portal(&s.machine, 0));
        s.enter();
        (s, handle)
    };
    let (mut s, handle) = noted();
    assert_eq!(s.stop(3, handle, 0), OK);
    assert_eq!(s.yield_now(3, 0), OK);
    assert_eq!(s.resume(3, handle, 0), OK);
    assert_eq!(s.yield_now(3, 0), switched(1, 0, 0));
    let (mut s, handle) = noted();
    assert_eq!(s.cancel_wait(3, handle, 0), reply(0, 0));
    let (mut s, handle) = noted();
    assert_eq!(s.kill(3, handle, 0), OK);
    assert_eq!(s.yield_now(3, 0), OK);
    let (mut s, _) = noted();
    assert_eq!(s.free_semaphore(ONE, 0), Ok(()));
    assert!(!v_in_portal(&s.machine, 0));
    // Stopped before: it is awake then, and does not run.
    let mut s = two_wait([100; 3]);
    let handle = s.handle(1).unwrap();
    assert_eq!(s.stop(3, handle, 0), OK);
    assert!(v_in_portal(&s.machine, 0));
    s.enter();
    assert_eq!(s.yield_now(3, 0), OK);
    assert_eq!(s.resume(3, handle, 0), OK);
    assert_eq!(s.yield_now(3, 0), switched(1, 0, 0));
}
