extern crate std;
use super::EarliestDeadline;
use cairn_abi::InstanceId;
use cairn_scheduler::test_machine::TestMachine;
use cairn_scheduler::*;
use core::sync::atomic::Ordering::Relaxed;
use proptest::prelude::*;
use std::{boxed::Box, vec::Vec};

const ONE: InstanceId = InstanceId(1);
const UNIT: u64 = 10;
const QUANTUM: u64 = 50;

type TestScheduler = Scheduler<EarliestDeadline, TestMachine>;

/// Threads from number 1 on, with these periods.
fn scheduler(periods: &[u64]) -> Box<TestScheduler> {
    let mut s = Box::new(TestScheduler::new(TestMachine::new()));
    s.start(Configuration { quantum: QUANTUM, run_rate: 1, supervisor_semaphore: 0, threads: 256 });
    s.policy().set_unit(UNIT);
    s.add_domain(ONE, Quota { threads: 100, semaphores: 100, locks: 100, priority: 255 }).unwrap();
    for semaphore in 0..4 {
        s.adopt_semaphore(semaphore, ONE, 0).unwrap();
    }
    for (index, period) in periods.iter().enumerate() {
        let thread = index as ThreadIndex + 1;
        s.adopt_thread(thread, ONE, 0).unwrap();
        let handle = s.handle(thread).unwrap();
        s.adjust(IDLE, ONE, handle, 0, |policy, _, thread| {
            policy.set_period(thread, *period, 255, 0);
        });
    }
    s.run(0);
    s
}

#[test]
fn the_earliest_deadline_runs() {
    let mut s = scheduler(&[300, 100, 200]);
    assert_eq!(s.running(), 2);
    s.sleep_until(2, ONE, 100, 10);
    assert_eq!(s.running(), 3);
    s.sleep_until(3, ONE, 200, 20);
    assert_eq!(s.running(), 1);
    // The next job of thread 2 has the deadline 200, before 300.
    s.tick(1, 100);
    assert_eq!(s.running(), 2);
}

#[test]
fn a_time_that_has_passed_begins_the_next_job_too() {
    let mut s = scheduler(&[100, 150]);
    assert_eq!(s.sleep_until(1, ONE, 100, 100), Outcome::Switch { thread: 2, status: 0, value: 0 });
}

/// Who waits may have the earliest deadline when it wakes, whatever it is now.
#[test]
fn portal_code_notes_no_wake_up() {
    let mut s = scheduler(&[100, 1000, 100]);
    s.p(1, ONE, 0, 0);
    s.p(3, ONE, 1, 0);
    assert_eq!(s.running(), 2);
    for (semaphore, now) in [(0, 500), (1, 950)] {
        let [count, level] = s.machine().semaphore(semaphore).each_ref().map(|w| w.load(Relaxed));
        assert_eq!(count, -1);
        assert!(level < s.machine().noted_word().load(Relaxed));
        s.v(2, semaphore.into(), now);
    }
}

#[test]
fn a_priority_is_a_period() {
    let mut s = scheduler(&[2000, 2000]);
    let second = s.handle(2).unwrap();
    s.set_priority(1, ONE, second, 100, 0);
    assert_eq!(s.running(), 2);
    assert_eq!(s.policy().deadlines[2].period, 156 * UNIT);
    assert!(matches!(s.set_priority(2, ONE, second, 256, 0), Outcome::Reply { status: -8, .. }));
}

#[test]
fn no_period_is_shorter_than_the_ceiling_allows() {
    let mut s = scheduler(&[1]);
    assert_eq!(s.policy().deadlines[1].period, UNIT);
}

#[test]
fn threads_that_yield_take_turns_within_a_tick() {
    let mut s = scheduler(&[100, 100]);
    let first = s.running();
    s.yield_now(first, 0);
    let second = s.running();
    assert_ne!(first, second);
    // Each yield moves a deadline by at least 1, so neither is passed over for long.
    for turn in 0..100 {
        let running = s.running();
        s.yield_now(running, 0);
        let yielding = s.running();
        s.yield_now(yielding, 0);
        assert!(running != yielding || s.running() != running, "turn {turn}");
    }
}

#[test]
fn a_thread_behind_its_deadline_starves_nobody() {
    let mut s = scheduler(&[100, 1000]);
    let mut now = 0;
    while now < 100_000 {
        now = s.machine().timer;
        let running = s.running();
        s.tick(running, now);
    }
    let (hog, other) = (s.time_used(1, now), s.time_used(2, now));
    assert!(other > now / 20 && hog > now / 2, "{hog} {other}");
}

#[test]
fn an_owner_inherits_the_deadline() {
    let mut s = scheduler(&[1000, 500, 100]);
    let lock = s.create_lock(ONE).unwrap().into();
    s.sleep_until(3, ONE, 100, 0);
    s.sleep_until(2, ONE, 100, 0);
    s.lock(1, ONE, lock, 0);
    s.tick(1, 100);
    s.tick(3, 100);
    assert_eq!(s.running(), 3);
    s.lock(3, ONE, lock, 110);
    // The timer passes the deadline on, at once.
    assert!(s.machine().timer <= 110);
    s.tick(2, 110);
    assert_eq!(s.running(), 1, "before thread 2, whose deadline is earlier");
    s.unlock(1, lock, 120);
    s.tick(1, 120);
    assert_eq!(s.running(), 3);
    s.sleep_until(3, ONE, 900, 130);
    assert_eq!(s.running(), 2);
}

/// A periodic task: how long a job takes.
struct Task {
    period: u64,
    cost: u64,
    left: u64,
    release: u64,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    /// Jobs that fit (their shares of the processor add up to at most 1) meet all deadlines.
    #[test]
    fn what_fits_is_in_time(weights in prop::collection::vec((20u64..200, 1u64..100), 1..12)) {
        let total: u64 = weights.iter().map(|(_, weight)| weight).sum();
        let mut tasks: Vec<Task> = weights
            .iter()
            .map(|(period, weight)| {
                let period = period * 50;
                let cost = period * weight / total;
                Task { period, cost, left: cost, release: 0 }
            })
            .filter(|task| task.cost > 0)
            .collect();
        let periods: Vec<u64> = tasks.iter().map(|task| task.period).collect();
        let mut s = scheduler(&periods);
        let mut now = 0;
        while now < 200_000 {
            let running = s.running();
            let timer = s.machine().timer;
            if running == IDLE {
                now = timer;
                s.tick(IDLE, now);
                continue;
            }
            let task = &mut tasks[running as usize - 1];
            prop_assert!(now >= task.release);
            let end = now + task.left;
            if timer < end {
                // The timer interrupts first.
                task.left -= timer.saturating_sub(now);
                now = now.max(timer);
                s.tick(running, now);
            } else {
                now = end;
                prop_assert!(now <= task.release + task.period, "thread {} is late", running);
                task.release += task.period;
                task.left = task.cost;
                s.sleep_until(running, ONE, task.release, now);
            }
        }
    }
}
