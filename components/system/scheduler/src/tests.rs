//! Every operation, its errors and its limits.

extern crate std;
use crate::testing::*;
use crate::*;
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::Ordering::Relaxed;
use std::vec::Vec;

const START: Start = Start { entry: 0x1000, stack: 0x2000, argument: 7 };

fn word(s: &TestScheduler, semaphore: u16) -> i64 {
    s.machine.semaphore(semaphore)[0].load(Relaxed)
}

fn handle(s: &TestScheduler, thread: ThreadIndex) -> Handle {
    s.handle(thread).unwrap()
}

#[test]
fn the_highest_priority_runs_and_equals_take_turns() {
    let mut s = scheduler(&[50, 100, 100, 100]);
    assert_eq!(s.running(), 2);
    assert_eq!(s.yield_now(2, 0), switched(3, 0, 0));
    assert_eq!(s.yield_now(3, 0), switched(4, 0, 0));
    assert_eq!(s.yield_now(4, 0), switched(2, 0, 0));
    assert_eq!(s.sleep_until(2, ONE, 10, 0), switched(3, 0, 0));
    assert_eq!(s.sleep_until(3, ONE, 20, 0), switched(4, 0, 0));
    assert_eq!(s.yield_now(4, 0), OK);
    assert_eq!(s.sleep_until(4, ONE, 30, 0), switched(1, 0, 0));
    assert_eq!(s.sleep_until(1, ONE, 40, 0), switched(IDLE, 0, 0));
    assert_eq!(s.yield_now(IDLE, 0), OK);
}

#[test]
fn semaphores_count_and_wake_by_priority_then_arrival() {
    let mut s = scheduler(&[10, 20, 20, 30]);
    assert_eq!(s.v(4, 0, 0), OK);
    assert_eq!(word(&s, 0), 1);
    assert_eq!(s.p(4, ONE, 0, 0), OK);
    s.p(4, ONE, 0, 0);
    s.p(2, ONE, 0, 0);
    s.p(3, ONE, 0, 0);
    assert_eq!(s.p(1, ONE, 0, 0), switched(IDLE, 0, 0));
    assert_eq!(word(&s, 0), -4);
    assert_eq!(s.v(IDLE, 0, 0), switched(4, 0, 0));
    assert_eq!(s.v(4, 0, 0), OK);
    assert_eq!(s.v(4, 0, 0), OK);
    assert_eq!(s.v(4, 0, 0), OK);
    assert_eq!(word(&s, 0), 0);
    s.sleep_until(4, ONE, 10, 0);
    assert_eq!(s.running(), 2);
    assert_eq!(s.yield_now(2, 0), switched(3, 0, 0));
}

#[test]
fn a_wake_up_of_a_higher_priority_preempts() {
    let mut s = scheduler(&[10, 20]);
    s.p(2, ONE, 0, 0);
    assert_eq!(s.v(1, 0, 0), switched(2, 0, 0));
    // Thread 1 gets its own result when it goes on.
    assert_eq!(s.p(2, ONE, 0, 0), switched(1, 0, 0));
}

#[test]
fn timed_p_ends_at_its_limit() {
    let mut s = scheduler(&[10]);
    assert_eq!(s.timed_p(1, ONE, 0, 5, 5), refused(Error::TimedOut));
    s.v(1, 0, 0);
    assert_eq!(s.timed_p(1, ONE, 0, 5, 5), OK);
    assert_eq!(s.timed_p(1, ONE, 0, 100, 5), switched(IDLE, 0, 0));
    assert_eq!(word(&s, 0), -1);
    // The limit is taken out first; then the wait ends.
    assert_eq!((s.tick(IDLE, 100), s.machine().timer), (OK, 100));
    assert_eq!(s.tick(IDLE, 100), switched(1, Error::TimedOut.status(), 0));
    assert_eq!(word(&s, 0), 0);
    // What comes between the two ends the wait well.
    s.timed_p(1, ONE, 0, 120, 100);
    s.tick(IDLE, 120);
    assert_eq!(s.v(IDLE, 0, 120), switched(1, 0, 0));
    assert_eq!((s.tick(1, 120), s.machine().timer), (OK, u64::MAX));
    // A V in time takes the limit back.
    s.timed_p(1, ONE, 0, 200, 100);
    assert_eq!(s.v(IDLE, 0, 150), switched(1, 0, 0));
    assert_eq!(s.tick(1, 200), OK);
    assert_eq!(s.machine().timer, u64::MAX);
}

#[test]
fn semaphores_refuse_what_is_wrong() {
    let mut s = scheduler(&[10]);
    for bad in [SEMAPHORES as u64, 1 << 16, u64::MAX] {
        assert_eq!(s.p(1, ONE, bad, 0), refused(Error::BadArgument));
        assert_eq!(s.v(1, bad, 0), refused(Error::BadArgument));
        assert_eq!(s.timed_p(1, ONE, bad, 9, 0), refused(Error::BadArgument));
        assert_eq!(s.try_p(bad), Err(Error::BadArgument));
        assert_eq!(s.free_semaphore(ONE, bad), Err(Error::BadArgument));
    }
    assert_eq!(s.p(1, ONE, 500, 0), refused(Error::NotFound));
    assert_eq!(s.v(1, 500, 0), refused(Error::NotFound));
    assert_eq!(s.v(1, 500, 0), refused(Error::NotFound));
    assert_eq!(s.try_p(0), Err(Error::WouldBlock));
    assert_eq!(s.p(IDLE, ONE, 0, 0), refused(Error::NotAllowed));
    assert_eq!(word(&s, 0), 0);
    assert_eq!(s.create_semaphore(ONE, INITIAL_MAXIMUM + 1), Err(Error::BadArgument));
    assert_eq!(s.adopt_semaphore(0, ONE, 0), Err(Error::Busy));
    assert_eq!(s.adopt_semaphore(SEMAPHORES as u16, ONE, 0), Err(Error::BadArgument));
    assert_eq!(s.create_semaphore(InstanceId(3), 0), Err(Error::Exhausted), "no quota");
}

#[test]
fn semaphores_are_made_and_freed_within_the_quota() {
    let mut s = scheduler(&[10]);
    let made: Vec<u16> = core::iter::from_fn(|| s.create_semaphore(ONE, 3).ok()).collect();
    assert_eq!(made.len() + 4, QUOTA.semaphores as usize);
    assert_eq!(s.create_semaphore(ONE, 0), Err(Error::Exhausted));
    assert_eq!(word(&s, made[0]), 3);
    assert_eq!(s.free_semaphore(TWO, made[0].into()), Err(Error::NotAllowed));
    for semaphore in &made {
        assert_eq!(s.free_semaphore(ONE, u64::from(*semaphore)), Ok(()));
        assert_eq!(word(&s, *semaphore), i64::MIN, "portal code must come to the scheduler");
    }
    assert_eq!(s.free_semaphore(ONE, made[0].into()), Err(Error::NotFound));
    assert_eq!(s.create_semaphore(ONE, 0), Ok(made[0]));
}

#[test]
fn a_semaphore_of_the_layout_outlives_its_instance() {
    let mut s = scheduler(&[10, 20]);
    let counted = s.accounts[tenant(1)].semaphores;
    s.fix_semaphore(0);
    s.fix_semaphore(0);
    assert_eq!(s.accounts[tenant(1)].semaphores, counted - 1);
    assert_eq!(s.free_semaphore(ONE, 0), Err(Error::NotAllowed));
    s.v(2, 1, 0);
    s.p(2, TWO, 0, 0);
    s.kill(1, handle(&s, 2), 0);
    s.v(1, 0, 0);
    let mut cursor = 0;
    loop {
        let Outcome::Reply { status: 0, value } = s.reclaim(1, ONE, cursor, 0) else { panic!() };
        cursor = value;
        if cursor == 0 {
            break;
        }
    }
    assert_eq!((word(&s, 0), word(&s, 1)), (0, i64::MIN));
    assert_eq!(s.v(1, 0, 0), OK);
    assert_eq!(s.adopt_semaphore(0, ONE, 0), Err(Error::Busy));
}

#[test]
fn waiters_are_sent_away_before_a_semaphore_is_freed() {
    let mut s = scheduler(&[10, 20]);
    s.p(2, ONE, 0, 0);
    assert_eq!(s.free_semaphore(ONE, 0), Err(Error::Busy));
    let waiter = handle(&s, 2);
    assert_eq!(s.cancel_wait(1, waiter, 0), switched(2, Error::Cancelled.status(), 0));
    assert_eq!(s.sleep_until(2, ONE, 50, 0), switched(1, 0, 1));
    assert_eq!(s.free_semaphore(ONE, 0), Ok(()));
}

#[test]
fn threads_begin_end_and_are_joined() {
    let mut s = scheduler(&[50]);
    let Outcome::Reply { status: 0, value } = s.spawn(1, ONE, START, 40, 0) else { panic!() };
    let second = Handle(value);
    assert_eq!(s.machine().set_up, [(second.thread(), ONE, START)]);
    assert_eq!(s.join(1, ONE, second, 0), switched(second.thread(), 0, 0));
    assert_eq!(s.exit(second.thread(), 0), switched(1, 0, 0));
    assert_eq!(s.join(1, ONE, second, 0), OK, "it has ended already");
    // The number is used again, the name is not.
    let Outcome::Switch { thread, .. } = s.spawn(1, ONE, START, 60, 0) else { panic!() };
    assert_eq!(thread, second.thread());
    assert_ne!(handle(&s, thread), second);
    assert_eq!(s.exit(thread, 0), switched(1, 0, handle(&s, thread - 1).0 + 1 + (1 << 8)));
}

#[test]
fn threads_refuse_what_is_wrong() {
    let mut s = scheduler(&[50, 40]);
    assert_eq!(s.spawn(1, ONE, START, 256, 0), refused(Error::BadArgument));
    let none = InstanceId(INSTANCES_MAXIMUM as u16 + 1);
    assert_eq!(s.start_first(1, none, START, 9, 0), refused(Error::BadArgument));
    assert_eq!(s.reclaim(1, none, 0, 0), refused(Error::BadArgument));
    assert_eq!(s.add_domain(none, QUOTA), Err(Error::BadArgument));
    assert_eq!(s.held(none), Err(Error::BadArgument));
    assert_eq!(s.create_semaphore(none, 0), Err(Error::BadArgument));
    assert_eq!(s.create_lock(none), Err(Error::BadArgument));
    assert_eq!(s.spawn(1, ONE, START, 201, 0), refused(Error::NotAllowed));
    assert_eq!(s.spawn(1, InstanceId(3), START, 0, 0), refused(Error::Exhausted), "no quota");
    assert_eq!(s.adopt_thread(1, ONE, 5), Err(Error::Busy));
    assert_eq!(s.adopt_thread(IDLE, ONE, 5), Err(Error::Busy));
    let second = handle(&s, 2);
    assert_eq!(s.join(1, TWO, second, 0), refused(Error::NotAllowed));
    assert_eq!(s.join(1, ONE, handle(&s, 1), 0), refused(Error::BadArgument));
    assert_eq!(s.join(1, ONE, Handle(3), 0), refused(Error::NotFound));
    assert_eq!(s.join(1, ONE, Handle(u64::MAX), 0), refused(Error::NotFound));
    assert_eq!(s.join(1, ONE, Handle(IDLE.into()), 0), refused(Error::NotAllowed));
    assert_eq!(s.set_priority(1, ONE, Handle(1 << 40 | 2), 9, 0), refused(Error::NotFound));
    assert_eq!(s.set_priority(1, TWO, second, 9, 0), refused(Error::NotAllowed));
    assert_eq!(s.set_priority(1, ONE, Handle(0), 9, 0), refused(Error::BadArgument));
    assert_eq!(s.exit(IDLE, 0), refused(Error::NotAllowed));
    s.machine.refuse_set_up = true;
    assert_eq!(s.spawn(1, ONE, START, 9, 0), refused(Error::BadPointer));
    assert_eq!(s.accounts[tenant(1)].threads, 2);
    // One thread can wait for another's end.
    s.machine.refuse_set_up = false;
    s.join(1, ONE, second, 0);
    let Outcome::Switch { thread: third, .. } = s.spawn(2, ONE, START, 45, 0) else { panic!() };
    assert_eq!(s.join(third, ONE, second, 0), refused(Error::Busy));
}

#[test]
fn threads_are_limited_by_quota_and_table() {
    let mut s = scheduler(&[50]);
    for _ in 1..QUOTA.threads {
        assert!(matches!(s.spawn(1, ONE, START, 10, 0), Outcome::Reply { status: 0, .. }));
    }
    assert_eq!(s.spawn(1, ONE, START, 10, 0), refused(Error::Exhausted));
    for _ in 0..255 - QUOTA.threads {
        assert!(matches!(s.spawn(1, TWO, START, 10, 0), Outcome::Reply { status: 0, .. }));
    }
    assert_eq!(s.spawn(1, TWO, START, 10, 0), refused(Error::Exhausted));
    // Thread 3 would be one more than this machine has.
    let mut s = scheduler_with(&[50], 3);
    assert!(matches!(s.spawn(1, ONE, START, 10, 0), Outcome::Reply { status: 0, .. }));
    assert_eq!(s.spawn(1, TWO, START, 10, 0), refused(Error::Exhausted));
    assert_eq!(s.machine().set_up.len(), 1);
}

#[test]
fn priorities_change() {
    let mut s = scheduler(&[50, 40, 30]);
    assert_eq!(s.set_priority(1, ONE, handle(&s, 3), 60, 0), switched(3, 0, 0));
    assert_eq!(s.set_priority(3, ONE, handle(&s, 3), 20, 0), switched(1, 0, 0));
    s.p(1, ONE, 0, 0);
    s.p(2, ONE, 0, 0);
    // Among waiters too.
    assert_eq!(s.set_priority(3, ONE, handle(&s, 2), 90, 0), OK);
    assert_eq!(s.v(3, 0, 0), switched(2, 0, 0));
}

#[test]
fn stack_waiters_go_on_by_priority() {
    let mut s = scheduler(&[50, 40, 30]);
    assert_eq!(s.wait_stack(1, ONE, QUEUES as u64, 0), refused(Error::BadArgument));
    assert_eq!(s.wait_stack(IDLE, ONE, 5, 0), refused(Error::NotAllowed));
    s.wait_stack(1, ONE, 5, 0);
    s.wait_stack(2, ONE, 5, 0);
    assert_eq!(s.machine.waiters_word(5).load(Relaxed), 2);
    assert_eq!(s.stacks_freed(3, 0), OK, "none is free");
    s.machine.free_activations.insert(4);
    assert_eq!(s.stacks_freed(3, 0), OK, "nobody waits for it");
    s.machine.free_activations.insert(5);
    assert_eq!(s.stacks_freed(3, 0), switched(1, 0, 0));
    s.sleep_until(1, ONE, 99, 0);
    let second = handle(&s, 2);
    assert_eq!(s.cancel_wait(3, second, 0), switched(2, Error::Cancelled.status(), 0));
    assert_eq!(s.machine.waiters_word(5).load(Relaxed), 0);
}

#[test]
fn all_who_wait_for_what_is_let_go_go_on_by_priority() {
    let mut s = scheduler(&[50, 90, 70, 95]);
    assert_eq!(s.look_at_stacks(4, QUEUES as u64, 0), refused(Error::BadArgument));
    assert_eq!(s.stack_waiters(QUEUES as u64), Err(Error::BadArgument));
    assert_eq!(s.look_at_stacks(4, 5, 0), OK, "nobody waits");
    s.sleep_until(4, ONE, 1000, 0);
    for thread in [2, 3, 1] {
        assert_eq!(s.running(), thread);
        s.wait_stack(thread, ONE, 5, 0);
    }
    s.tick(IDLE, 1000);
    assert_eq!(s.stack_waiters(5), Ok(3));
    // Others' activations, and a queue that is let go as well, change nothing of it.
    s.machine.free_activations.insert(6);
    assert_eq!(s.stacks_freed(4, 1000), OK);
    assert_eq!(s.look_at_stacks(4, 6, 1000), OK);
    assert_eq!(s.stack_waiters(5), Ok(3));
    assert_eq!(s.look_at_stacks(4, 5, 1000), OK, "who lets them go is more urgent");
    s.sleep_until(4, ONE, u64::MAX, 1000);
    let mut now = 1000;
    for thread in [2, 3, 1] {
        while s.running() == IDLE {
            assert!(s.machine().timer <= now, "the timer comes at once for thread {thread}");
            now += 1;
            s.tick(IDLE, now);
        }
        assert_eq!(s.running(), thread);
        s.sleep_until(thread, ONE, u64::MAX, now);
    }
    assert_eq!(s.stack_waiters(5), Ok(0));
    // Whoever comes when all have gone on waits again, and nothing looks for it.
    let third = handle(&s, 3);
    s.cancel_wait(IDLE, third, now);
    s.wait_stack(3, ONE, 5, now);
    for _ in 0..10 {
        now += 1;
        s.tick(IDLE, now);
        s.stacks_freed(IDLE, now);
    }
    assert_eq!((s.running(), s.stack_waiters(5)), (IDLE, Ok(1)));
    assert!(!s.has_work());
}

#[test]
fn an_activation_is_not_lost_with_the_thread_that_was_woken_for_it() {
    let mut s = scheduler(&[50, 40, 60]);
    s.sleep_until(3, ONE, 1000, 0);
    s.wait_stack(1, ONE, 5, 0);
    s.wait_stack(2, ONE, 5, 0);
    s.tick(IDLE, 1000);
    s.machine.free_activations.insert(5);
    assert_eq!(s.stacks_freed(3, 1000), OK, "thread 1 is ready, but not first");
    assert_eq!(s.state(2), State::Stack);
    let first = handle(&s, 1);
    assert_eq!(s.kill(3, first, 1000), OK);
    assert!(s.machine().timer <= 1000, "the timer comes at once");
    s.tick(3, 1000);
    assert_eq!(s.state(2), State::Ready);
}

#[test]
fn an_activation_is_not_lost_with_a_thread_that_does_not_take_it() {
    let mut s = scheduler(&[50, 40, 30, 60]);
    s.sleep_until(4, ONE, 1000, 0);
    for thread in 1..=3 {
        s.wait_stack(thread, ONE, 5, 0);
    }
    s.tick(IDLE, 1000);
    s.machine.free_activations.insert(5);
    // Each one's portal is gone when it calls again, or it ends before: it does not take it.
    s.stacks_freed(4, 1000);
    s.sleep_until(4, ONE, u64::MAX, 1000);
    let mut now = 1000;
    for thread in 1..=3 {
        while s.running() == IDLE {
            assert!(s.machine().timer <= now, "the timer comes at once for thread {thread}");
            now += 1;
            s.tick(IDLE, now);
        }
        assert_eq!(s.running(), thread);
        match thread {
            1 => _ = s.exit(thread, now),
            _ => _ = s.sleep_until(thread, ONE, u64::MAX, now),
        }
    }
}

#[test]
fn a_look_for_stacks_has_steps_of_bounded_length() {
    let count = 2 * LOOK_MAXIMUM as u8;
    let mut s = scheduler(&Vec::from_iter((0..count).map(|_| 100)));
    for thread in 1..=count {
        s.wait_stack(thread, ONE, thread.into(), 0);
        s.machine.free_activations.insert(thread.into());
    }
    let waiting = |s: &TestScheduler| (1..=count).filter(|t| s.state(*t) == State::Stack).count();
    assert!(matches!(s.stacks_freed(IDLE, 10), Outcome::Switch { .. }));
    let mut left = waiting(&s);
    assert!(left > count as usize / 2, "{left}");
    let mut now = 10;
    while left > 0 {
        assert!(s.machine().timer <= now, "the timer comes back at once");
        now += 1;
        s.tick(s.running(), now);
        assert!((1..left + 4).contains(&(left - waiting(&s))), "{left}");
        left = waiting(&s);
    }
    assert!(s.machine().timer > now);
}

#[test]
fn a_fault_stops_the_thread_and_wakes_the_supervisor() {
    let mut s = scheduler(&[200, 50, 40]);
    assert_eq!(s.next_fault(), Err(Error::NotFound));
    s.p(1, TWO, SUPERVISOR_SEMAPHORE.into(), 0);
    assert_eq!(s.fault(2, 13, 0xdead, 0), switched(1, 0, 0));
    let faulty = s.next_fault().unwrap();
    assert_eq!(faulty, handle(&s, 2));
    assert_eq!(s.fault_of(2), Fault { cause: 13, value: 0xdead, time: 0 });
    assert_eq!(s.next_fault(), Err(Error::NotFound));
    s.p(1, TWO, SUPERVISOR_SEMAPHORE.into(), 0);
    assert_eq!(s.running(), 3);
    assert_eq!(s.resume(3, faulty, 0), switched(2, 0, 0));
    // Two faults wait for the supervisor in order; the death of one takes it out.
    s.fault(2, 1, 1, 0);
    s.fault(1, 2, 2, 0);
    assert_eq!(s.kill(3, faulty, 0), OK);
    assert_eq!(s.next_fault(), Ok(handle(&s, 1)));
    assert_eq!(s.next_fault(), Err(Error::NotFound));
    // The idle thread goes on, but its fault is told.
    assert_eq!(s.sleep_until(3, ONE, 1000, 0), switched(IDLE, 0, 0));
    s.fault(IDLE, 5, 6, 0);
    assert_eq!(s.next_fault(), Ok(handle(&s, IDLE)));
    assert_eq!(s.next_fault(), Err(Error::NotFound));
}

#[test]
fn the_supervisor_stops_resumes_and_cancels() {
    let mut s = scheduler(&[50, 40]);
    let (first, second) = (handle(&s, 1), handle(&s, 2));
    assert_eq!(s.cancel_wait(1, second, 0), reply(0, 0));
    s.p(1, ONE, 0, 0);
    assert_eq!(s.stop(2, first, 0), OK);
    assert_eq!(s.v(2, 0, 0), OK, "it has got it, but may not run");
    assert_eq!(s.state(1), State::Ready);
    assert_eq!(s.resume(2, first, 0), switched(1, 0, 0));
    s.p(1, ONE, 0, 0);
    assert_eq!(s.cancel_wait(2, first, 0), switched(1, Error::Cancelled.status(), 0));
    assert_eq!(word(&s, 0), 0);
    assert_eq!(s.stop(1, first, 0), switched(2, 0, 1));
    assert_eq!(s.kill(2, second, 0), refused(Error::BadArgument));
    assert_eq!(s.kill(2, first, 0), OK);
    for outcome in [
        s.stop(2, first, 0),
        s.resume(2, first, 0),
        s.cancel_wait(2, first, 0),
        s.kill(2, first, 0),
    ] {
        assert_eq!(outcome, refused(Error::NotFound));
    }
    assert_eq!(s.stop(2, Handle(0), 0), refused(Error::BadArgument));
    assert_eq!(s.reclaim(2, ONE, u64::MAX, 0), refused(Error::BadArgument));
}

#[test]
fn the_end_of_a_first_thread_is_reported_once() {
    let mut s = scheduler(&[50, 40]);
    assert_eq!(s.next_returned(), Err(Error::NotFound));
    s.set_first_thread(1);
    let faults = s.configuration.supervisor_semaphore;
    assert_eq!(s.exit(1, 0), switched(2, 0, 0));
    assert_eq!(s.tick(2, 0), OK);
    assert_eq!(word(&s, faults), 1, "the supervisor is woken");
    assert_eq!((s.next_returned(), s.next_returned()), (Ok(ONE), Err(Error::NotFound)));
    let start = Start { entry: 0, stack: 0, argument: 0 };
    // Neither the end of another thread nor of one that got its number.
    s.spawn(2, ONE, start, 50, 0);
    s.exit(1, 0);
    assert_eq!(s.next_returned(), Err(Error::NotFound));
    s.start_first(2, ONE, start, 50, 0);
    s.exit(1, 0);
    assert_eq!(s.next_returned(), Ok(ONE));
}

#[test]
fn the_watch_does_not_lend_the_worker_its_urgency() {
    // The watch, the worker, a loop, and who runs away.
    let mut s = scheduler(&[250, 200, 100, 50]);
    (s.homes[1], s.homes[2]) = (tenant(2), tenant(2));
    s.sleep_until(1, ONE, 1000, 0);
    assert_eq!(s.wait_fault(2, TWO, (u64::MAX, 10), 0), switched(3, 0, 0));
    s.p(3, ONE, 0, 0);
    assert_eq!(s.running(), 4);
    assert_eq!(s.tick(4, 1000), switched(1, 0, 0));
    assert_eq!(s.v(1, 0, 1000), OK);
    let runaway = s.handle(4).unwrap();
    assert_eq!(s.stop(1, runaway, 1000), OK);
    assert_eq!(s.alarm(1, 1000), OK);
    assert_eq!(s.sleep_until(1, ONE, 2000, 1000), switched(3, 0, 0), "the loop goes before");
    assert_eq!(s.p(3, ONE, 0, 1000), switched(2, 0, 0), "and the worker before all else");
}

#[test]
fn the_supervisor_is_as_urgent_as_who_calls_it() {
    let mut s = scheduler(&[200, 50, 100]);
    s.homes[1] = tenant(2);
    assert_eq!(s.wait_fault(1, TWO, (1000, 10), 0), switched(3, 0, 0));
    s.p(3, ONE, 0, 0);
    assert_eq!(s.fault(2, 13, 0, 0), switched(1, 0, 0), "a thread of priority 50 called it");
    assert_eq!(s.v(1, 0, 0), switched(3, 0, 0), "priority 100 goes before");
    s.p(3, ONE, 0, 0);
    assert_eq!(s.running(), 1);
    let faulty = s.next_fault().unwrap();
    assert_eq!(s.work_at(1, 10, 0), OK);
    assert_eq!(s.resume(1, faulty, 0), switched(2, 0, 0), "50 goes before work of priority 10");
    // Called while it works, it stays as urgent as that until it has looked.
    assert_eq!(s.alarm(2, 0), switched(1, 0, 0));
    assert_eq!(s.work_at(1, 10, 0), refused(Error::Busy));
    assert_eq!(s.running(), 1);
    assert_eq!(s.work_at(1, 10, 0), switched(2, 0, 0));
    // Whom it stops lends it its urgency.
    assert_eq!(s.v(2, 0, 0), switched(3, 0, 0));
    assert_eq!(s.stop(3, faulty, 0), OK);
    assert_eq!(s.stop(3, faulty, 0), refused(Error::Busy));
    s.p(3, ONE, 0, 0);
    assert_eq!(s.running(), 1);
}

#[test]
fn the_supervisor_that_gave_way_goes_before_an_equal_that_calls_it() {
    let mut s = scheduler(&[200, 50]);
    s.homes[1] = tenant(2);
    assert_eq!(s.work_at(1, 50, 0), switched(2, 0, 0), "behind its equals");
    assert_eq!(s.alarm(2, 0), switched(1, 0, 0), "who calls it waits for it");
}
