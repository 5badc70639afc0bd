extern crate std;
use super::{EarliestDeadline, WHOLE};
use cairn_abi::InstanceId;
use cairn_scheduler::test_machine::{TestMachine, succeeded};
use cairn_scheduler::*;
use core::sync::atomic::Ordering::Relaxed;
use proptest::prelude::*;
use std::{boxed::Box, vec::Vec};

const ONE: InstanceId = InstanceId(1);
const UNIT: u64 = 10;
const QUANTUM: u64 = 50;

type TestScheduler = Scheduler<EarliestDeadline, TestMachine>;

/// Threads from number 1 on, with these periods and equal shares, of instance 1.
fn scheduler(periods: &[u64]) -> Box<TestScheduler> {
    let mut s = bare_scheduler(1);
    add_instance(&mut s, ONE, 100, periods.len() as u64 * WHOLE);
    for (index, period) in periods.iter().enumerate() {
        add_thread(&mut s, index as ThreadIndex + 1, ONE, *period);
    }
    s.run(0);
    s
}

fn bare_scheduler(run_rate: u64) -> Box<TestScheduler> {
    let mut machine = TestMachine::new();
    machine.run_rate = run_rate;
    let mut s = Box::new(TestScheduler::new(machine));
    s.start(Configuration { quantum: QUANTUM, run_rate, supervisor_semaphore: 0, threads: 256 });
    s.policy().set_unit(UNIT);
    s
}

/// An instance each of whose threads has one `inverse`th of the time, and four semaphores.
fn add_instance(s: &mut TestScheduler, instance: InstanceId, threads: u8, inverse: u64) {
    let quota = Quota { threads, semaphores: 4, locks: 4, priority: 255 };
    s.add_domain(instance, quota).unwrap();
    s.policy().set_share(instance, inverse);
    for number in 0..4 {
        s.adopt_semaphore((instance.0 - 1) * 4 + number, instance, 0).unwrap();
    }
}

fn add_thread(s: &mut TestScheduler, thread: ThreadIndex, instance: InstanceId, period: u64) {
    s.adopt_thread(thread, instance, 0).unwrap();
    let handle = s.handle(thread).unwrap();
    s.adjust(IDLE, instance, handle, 0, |policy, threads, thread| {
        policy.set_period(threads, thread, period, 255, 0);
    });
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
    assert_eq!(s.policy().jobs[2].period, 156 * UNIT);
    assert!(matches!(s.set_priority(2, ONE, second, 256, 0), Outcome::Reply { status: -8, .. }));
}

#[test]
fn no_period_is_shorter_than_the_ceiling_allows() {
    let mut s = scheduler(&[1]);
    assert_eq!(s.policy().jobs[1].period, UNIT);
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
    // Each has half of the time, and what is left over goes to them in turn.
    assert!(hog.min(other) > now * 2 / 5, "{hog} {other}");
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

/// Who makes threads anew gets no more time than those that it has at once.
#[test]
fn a_new_thread_goes_on_where_the_last_one_ended() {
    let mut s = bare_scheduler(1);
    add_instance(&mut s, ONE, 2, 2 * WHOLE);
    add_thread(&mut s, 1, ONE, 1000);
    s.run(0);
    let start = Start { entry: 0, stack: 0, argument: 0 };
    for turn in 0..10 {
        let now = turn * 5;
        s.spawn(1, ONE, start, 255, now);
        assert_eq!((s.running(), s.policy().jobs[2].own), (2, (turn + 1) * UNIT), "turn {turn}");
        // As long as its budget.
        s.exit(2, now + 5);
        assert_eq!(s.running(), 1);
    }
}

/// While an owner sleeps, the budget of who waits for it does not last.
#[test]
fn who_waits_for_a_sleeping_owner_lends_no_old_deadline() {
    let mut s = scheduler(&[1000, 100]);
    let lock = s.create_lock(ONE).unwrap().into();
    s.sleep_until(2, ONE, 10, 0);
    s.lock(1, ONE, lock, 0);
    s.sleep_until(1, ONE, 99, 0);
    s.tick(IDLE, 10);
    s.lock(2, ONE, lock, 11);
    s.tick(IDLE, 11);
    s.tick(IDLE, 99);
    for _ in 0..8 {
        s.tick(1, 99);
    }
    assert_eq!(s.policy().jobs[2].own, 199);
    s.unlock(1, lock, 100);
    assert_eq!(s.policy().jobs[2].own, 199);
}

mod bandwidth;

fn prepare(policy: &mut EarliestDeadline) {
    policy.set_unit(UNIT);
    policy.set_share(ONE, 20 * WHOLE);
}

/// Interrupts of the timer, until nothing is left to do at this time.
fn settle<Q: ReadyQueue>(s: &mut Scheduler<Q, TestMachine>, now: u64) {
    for _ in 0..100 {
        s.tick(s.running(), now);
    }
}

/// Whoever waits for semaphore 1, of these threads, comes by priority; or two that do not.
fn wakes_by_priority<Q: ReadyQueue>(
    s: &mut Scheduler<Q, TestMachine>,
    count: ThreadIndex,
    now: u64,
) -> Result<(), (u8, u8)> {
    let mut last = u8::MAX;
    loop {
        let waits = |thread: &ThreadIndex| s.state(*thread) == State::Semaphore;
        let before: Vec<ThreadIndex> = (1..=count).filter(waits).collect();
        if before.is_empty() {
            return Ok(());
        }
        s.enter();
        s.v(s.running(), 1, now);
        settle(s, now);
        let woken = before.into_iter().find(|thread| s.state(*thread) == State::Ready);
        let priority = s.own_priority(woken.expect("one of them comes"));
        if priority > last {
            return Err((last, priority));
        }
        last = priority;
    }
}

proptest! {
    /// Threads of several priorities that run, wait for a semaphore, and for a lock of another, under fixed priorities, then deadlines, then fixed priorities:
    /// they wait for the same, in the order that the present policy has, and whoever holds a lock has what is lent.
    #[test]
    fn whoever_takes_over_finds_all_where_it_belongs(
        priorities in prop::collection::vec(1u8..20, 4..12),
        in_between in any::<bool>(),
    ) {
        let mut fixed = Box::new(Scheduler::<FixedPriority, TestMachine>::new(TestMachine::new()));
        fixed.start(Configuration { quantum: QUANTUM, run_rate: 1, supervisor_semaphore: 0, threads: 256 });
        fixed.add_domain(ONE, Quota { threads: 50, semaphores: 4, locks: 4, priority: 255 }).unwrap();
        for number in 0..4 {
            fixed.adopt_semaphore(number, ONE, 0).unwrap();
        }
        let lock = u64::from(fixed.create_lock(ONE).unwrap());
        let count = priorities.len() as ThreadIndex;
        let owner = count + 1;
        fixed.adopt_thread(owner, ONE, 30).unwrap();
        for (number, priority) in (1..).zip(&priorities) {
            fixed.adopt_thread(number, ONE, 2 * priority).unwrap();
        }
        fixed.run(0);
        fixed.lock(owner, ONE, lock, 1);
        fixed.set_priority(owner, ONE, fixed.handle(owner).unwrap(), 0, 1);
        settle(&mut fixed, 1);
        // Each third waits for the lock, each for the semaphore, or is ready.
        let waits_for = |thread: ThreadIndex| match thread % 3 {
            0 => State::Lock,
            1 => State::Semaphore,
            _ => State::Ready,
        };
        for _ in 1..=count {
            let thread = fixed.running();
            match waits_for(thread) {
                _ if thread == owner => break,
                State::Lock => _ = fixed.lock(thread, ONE, lock, 1),
                State::Semaphore => _ = fixed.p(thread, ONE, 1, 1),
                _ => break,
            }
            settle(&mut fixed, 1);
        }
        let states: Vec<State> = (1..=owner).map(|thread| fixed.state(thread)).collect();
        let running = fixed.running();
        fixed.enter();
        let (mut edf, _) = succeeded(&mut fixed, running, prepare, 2);
        settle(&mut edf, 2);
        let found: Vec<State> = (1..=owner).map(|thread| edf.state(thread)).collect();
        prop_assert_eq!(&found, &states);
        for number in 1..=count {
            prop_assert_eq!(edf.own_priority(number), 2 * priorities[usize::from(number) - 1]);
        }
        if in_between {
            // One more, which came after it: its key is of this policy's making.
            let newcomer = edf.running();
            edf.p(newcomer, ONE, 1, 2);
            settle(&mut edf, 2);
            prop_assert_eq!(wakes_by_priority(&mut edf, owner, 2), Ok(()));
            return Ok(());
        }
        edf.enter();
        let on = edf.running();
        let (mut back, _) = succeeded(&mut edf, on, |_: &mut FixedPriority| {}, 3);
        settle(&mut back, 3);
        let found: Vec<State> = (1..=owner).map(|thread| back.state(thread)).collect();
        prop_assert_eq!(&found, &states);
        prop_assert_eq!(back.own_priority(back.running()), back.own_priority(running), "the most urgent runs, or its equal");
        prop_assert_eq!(wakes_by_priority(&mut back, count, 3), Ok(()));
    }
}
