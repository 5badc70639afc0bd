//! Processor budgets: nobody gets more, whatever threads do, and nobody else waits for one.

extern crate std;
use crate::testing::*;
use crate::*;
use cairn_abi::InstanceId;
use std::boxed::Box;
use std::collections::BTreeMap;

const PERIOD: u64 = 10_000;
const BUDGET: u64 = 1_000;
const QUANTUM_PART: u64 = QUANTUM / PACE;

/// A scheduler in which instance 1 has a budget, with threads of it and of instance 2 of these priorities, from 1 on; and one more
/// of instance 2 that runs when nobody else can.
fn limited(ones: &[u8], twos: &[u8]) -> (Box<TestScheduler>, u64) {
    let mut s = scheduler(&[]);
    s.set_budget(ONE, PERIOD, BUDGET).unwrap();
    let ones = ones.iter().map(|priority| (ONE, *priority));
    let twos = twos.iter().chain(&[1]).map(|priority| (TWO, *priority));
    for (index, (instance, priority)) in ones.chain(twos).enumerate() {
        s.adopt_thread(index as u8 + 1, instance, priority).unwrap();
    }
    s.run(0);
    (s, 0)
}

/// Lets time pass until then, by the timer's interrupts; how long each thread ran.
fn pass(s: &mut TestScheduler, now: &mut u64, until: u64) -> BTreeMap<u8, u64> {
    let mut ran = BTreeMap::new();
    loop {
        let next = s.machine().timer.max(*now);
        *ran.entry(s.running()).or_insert(0) += next.min(until) - *now;
        *now = next.min(until);
        if next > until || next == until && *now == until && s.machine().timer > until {
            return ran;
        }
        let running = s.running();
        s.tick(running, *now);
    }
}

fn of(ran: &BTreeMap<u8, u64>, thread: u8) -> u64 {
    ran.get(&thread).copied().unwrap_or(0)
}

#[test]
fn nobody_runs_longer_than_its_budget() {
    let (mut s, mut now) = limited(&[50], &[]);
    let ran = pass(&mut s, &mut now, 10 * PERIOD - 1);
    assert_eq!(of(&ran, 1), 10 * BUDGET);
    assert_eq!(of(&ran, 2), 10 * (PERIOD - BUDGET) - 1);
}

#[test]
fn a_budget_is_what_it_was_for_a_scheduler_that_takes_over() {
    let (mut s, mut now) = limited(&[50], &[]);
    let mut ran = 0;
    for part in 1..=40 {
        ran += of(&pass(&mut s, &mut now, part * PERIOD / 4 - 1), 1);
        s.enter();
        let running = s.running();
        s = succeeded(&mut s, running, |_: &mut FixedPriority| {}, now).0;
    }
    // Each take-over has the timer come at once, in whose interrupts a little may be run.
    assert_eq!(ran, 10 * BUDGET);
}

#[test]
fn all_threads_of_an_instance_have_one_budget() {
    let (mut s, mut now) = limited(&[50, 50, 60], &[]);
    let ran = pass(&mut s, &mut now, 10 * PERIOD - 1);
    assert_eq!(of(&ran, 1) + of(&ran, 2) + of(&ran, 3), 10 * BUDGET);
}

#[test]
fn what_was_too_much_is_taken_from_the_next_budgets_within_a_second() {
    let (mut s, mut now) = limited(&[50], &[]);
    pass(&mut s, &mut now, 1);
    now = PERIOD;
    s.tick(1, now);
    let ran = pass(&mut s, &mut now, 11 * PERIOD - 1);
    assert_eq!(of(&ran, 1), BUDGET, "ten budgets at once, and one in the eleventh period");
    // The machine stands still for long.
    let resumed = 1000 * 100 * QUANTUM;
    s.tick(1, resumed);
    now = resumed;
    pass(&mut s, &mut now, resumed + 3 * PERIOD);
    assert_eq!(s.running(), 2);
    let ran = pass(&mut s, &mut now, resumed + 100 * QUANTUM + 2 * PERIOD);
    assert!((BUDGET..=2 * BUDGET).contains(&of(&ran, 1)), "{ran:?}");
}

#[test]
fn without_a_budget_nothing_is_looked_at() {
    let mut s = scheduler(&[10]);
    assert_eq!(s.machine().timer, u64::MAX);
    s.tick(1, 5);
    assert_eq!(s.machine().timer, u64::MAX);
}

#[test]
fn new_threads_give_no_new_time() {
    let (mut s, mut now) = limited(&[50], &[]);
    let mut ran = 0;
    while now < 10 * PERIOD {
        // Whichever thread of the instance runs, it makes another, and ends a little later.
        let running = s.running();
        if s.home(running) != ONE {
            let next = s.machine().timer;
            pass(&mut s, &mut now, next);
            continue;
        }
        let start = Start { entry: 0, stack: 0, argument: 0 };
        s.spawn(running, ONE, start, 50, now);
        let until = now + 10;
        let passed = pass(&mut s, &mut now, until);
        ran += passed.values().sum::<u64>();
        if s.running() == running {
            s.exit(running, now);
        }
    }
    assert!(ran <= 10 * BUDGET + 20, "{ran} of {}", 10 * BUDGET);
}

#[test]
fn who_wakes_without_a_budget_waits_for_it() {
    let (mut s, mut now) = limited(&[50, 60], &[]);
    assert_eq!(s.running(), 2);
    s.sleep_until(2, ONE, 5 * BUDGET, now);
    pass(&mut s, &mut now, BUDGET + 10);
    assert_eq!(s.running(), 3);
    pass(&mut s, &mut now, 6 * BUDGET);
    assert_eq!((s.running(), s.state(2)), (3, State::Ready), "awake, and throttled");
    pass(&mut s, &mut now, PERIOD + 1);
    assert_eq!(s.running(), 2);
}

#[test]
fn whoever_waits_for_a_lock_does_not_wait_for_the_budget_of_its_owner() {
    let (mut s, mut now) = limited(&[50], &[40]);
    let lock = u64::from(s.create_lock(TWO).unwrap());
    s.lock(1, TWO, lock, now);
    pass(&mut s, &mut now, BUDGET + 10);
    assert_eq!(s.running(), 2, "the owner is throttled");
    s.lock(2, TWO, lock, now);
    pass(&mut s, &mut now, BUDGET + 11);
    assert_eq!(s.running(), 1, "it goes on, since another waits");
    pass(&mut s, &mut now, BUDGET + 11 + 3 * QUANTUM_PART);
    assert_eq!(s.running(), 1, "for as long as that");
    s.unlock(1, lock, now);
    let ran = pass(&mut s, &mut now, PERIOD - 1);
    assert!(of(&ran, 1) <= QUANTUM_PART + 1, "{ran:?}: and not much longer");
    assert!(of(&ran, 2) > PERIOD / 2);
}

#[test]
fn who_has_a_budget_again_pays_for_itself() {
    let (mut s, mut now) = limited(&[50], &[40]);
    let lock = u64::from(s.create_lock(TWO).unwrap());
    s.lock(1, TWO, lock, now);
    pass(&mut s, &mut now, BUDGET + 10);
    s.lock(2, TWO, lock, now);
    // The other instance pays until the next period begins, and not for that.
    pass(&mut s, &mut now, PERIOD + BUDGET / 2);
    assert_eq!(s.running(), 1);
    s.unlock(1, lock, now);
    let ran = pass(&mut s, &mut now, 10 * PERIOD - 1);
    assert!(of(&ran, 1) <= 9 * BUDGET + QUANTUM_PART, "{ran:?}");
}

#[test]
fn a_lock_comes_to_whoever_has_time() {
    for is_raised in [false, true] {
        comes_to_whoever_has_time(is_raised);
    }
}

/// Thread 1 has a higher priority from when it is throttled on, or not.
fn comes_to_whoever_has_time(is_raised: bool) {
    let (mut s, mut now) = limited(&[50, 60], &[55, 40]);
    let lock = u64::from(s.create_lock(TWO).unwrap());
    // Thread 2 sleeps, 1 waits, so 3 has the lock, for which 1 waits, and then 4.
    s.sleep_until(2, ONE, 2 * BUDGET, now);
    s.lock(3, TWO, lock, now);
    s.sleep_until(3, TWO, 5 * BUDGET, now);
    s.lock(1, TWO, lock, now);
    s.lock(4, TWO, lock, now);
    // 2 wakes and uses the budget up.
    pass(&mut s, &mut now, 4 * BUDGET);
    assert_eq!(s.running(), 5);
    if is_raised {
        let handle = s.handle(1).unwrap();
        s.set_priority(5, ONE, handle, 70, now);
    }
    pass(&mut s, &mut now, 5 * BUDGET + 1);
    assert_eq!(s.running(), 3);
    s.unlock(3, lock, now);
    s.sleep_until(3, TWO, u64::MAX, now);
    pass(&mut s, &mut now, 5 * BUDGET + 3);
    assert_eq!(s.running(), 4, "thread 1 is throttled, and waits behind it");
}

#[test]
fn throttled_threads_do_not_hand_a_lock_to_each_other() {
    let (mut s, mut now) = limited(&[60, 60], &[40]);
    let lock = u64::from(s.create_lock(TWO).unwrap());
    s.lock(1, TWO, lock, now);
    s.yield_now(1, now);
    s.lock(2, TWO, lock, now);
    pass(&mut s, &mut now, BUDGET + 10);
    assert_eq!(s.running(), 3);
    s.lock(3, TWO, lock, now);
    pass(&mut s, &mut now, BUDGET + 11);
    assert_eq!(s.running(), 1, "the owner goes on");
    s.unlock(1, lock, now);
    s.lock(1, TWO, lock, now);
    pass(&mut s, &mut now, BUDGET + 12);
    assert_eq!(s.running(), 3, "the others of its instance wait behind who has time");
}

#[test]
fn ones_own_waiters_are_no_reason_to_go_on() {
    let (mut s, mut now) = limited(&[50, 60], &[]);
    let lock = u64::from(s.create_lock(ONE).unwrap());
    s.sleep_until(2, ONE, 100, now);
    s.lock(1, ONE, lock, now);
    pass(&mut s, &mut now, 101);
    s.lock(2, ONE, lock, now);
    let ran = pass(&mut s, &mut now, PERIOD - 1);
    assert!(of(&ran, 1) <= BUDGET);
}

#[test]
fn an_accomplice_pays() {
    let three = InstanceId(3);
    let (mut s, mut now) = limited(&[50], &[]);
    s.add_domain(three, QUOTA).unwrap();
    s.set_budget(three, PERIOD, BUDGET).unwrap();
    s.adopt_thread(10, three, 60).unwrap();
    let lock = u64::from(s.create_lock(ONE).unwrap());
    s.lock(1, ONE, lock, now);
    // The other instance waits for the lock for ever.
    s.tick(1, now);
    assert_eq!(s.running(), 10);
    s.lock(10, three, lock, now);
    let ran = pass(&mut s, &mut now, 10 * PERIOD - 1);
    // What both have, and what passes until it is seen.
    assert!(of(&ran, 1) <= 20 * BUDGET + 20 * QUANTUM_PART, "{ran:?}");
    assert!(of(&ran, 1) >= 19 * BUDGET, "{ran:?}");
}

#[test]
fn a_thread_of_the_dead_comes_home() {
    let (mut s, mut now) = limited(&[50], &[]);
    pass(&mut s, &mut now, BUDGET + 10);
    assert_eq!(s.running(), 2);
    s.reclaim(2, ONE, 0, now);
    pass(&mut s, &mut now, BUDGET + 11);
    assert_eq!(s.running(), 1);
    let settings = s.machine().timer_settings;
    let ran = pass(&mut s, &mut now, PERIOD - 1);
    assert_eq!(of(&ran, 1), PERIOD - 1 - BUDGET - 11);
    assert!(s.machine().timer_settings < settings + 3, "nothing is looked at again and again");
}

#[test]
fn who_is_called_home_goes_on_and_pays_later() {
    let (mut s, mut now) = limited(&[50, 50], &[]);
    let handle = s.handle(1).unwrap();
    pass(&mut s, &mut now, BUDGET + 10);
    assert_eq!(s.running(), 3);
    s.lift_budget(handle, true).unwrap();
    let ran = pass(&mut s, &mut now, 3 * BUDGET);
    assert_eq!((of(&ran, 1), of(&ran, 2)), (2 * BUDGET - 10, 0), "others stay throttled");
    s.lift_budget(handle, false).unwrap();
    let ran = pass(&mut s, &mut now, 10 * PERIOD - 1);
    assert_eq!(s.running(), 3);
    assert!(of(&ran, 1) + of(&ran, 2) <= 7 * BUDGET + 10, "{ran:?}");
    assert!(of(&ran, 1) + of(&ran, 2) >= 7 * BUDGET - 10, "{ran:?}");
}

#[test]
fn who_keeps_a_lock_from_one_that_is_called_home_goes_on() {
    let (mut s, mut now) = limited(&[50, 60], &[]);
    let lock = u64::from(s.create_lock(TWO).unwrap());
    s.sleep_until(2, ONE, 100, now);
    s.lock(1, TWO, lock, now);
    pass(&mut s, &mut now, 101);
    s.lock(2, TWO, lock, now);
    pass(&mut s, &mut now, BUDGET + 10);
    assert_eq!(s.running(), 3, "both are throttled, the owner and who waits");
    s.lift_budget(s.handle(2).unwrap(), true).unwrap();
    pass(&mut s, &mut now, BUDGET + 11);
    assert_eq!(s.running(), 1);
    s.unlock(1, lock, now);
    pass(&mut s, &mut now, BUDGET + 12);
    assert_eq!(s.running(), 2);
}

#[test]
fn a_stopped_thread_and_a_throttled_one_are_two_things() {
    let (mut s, mut now) = limited(&[50], &[]);
    let handle = s.handle(1).unwrap();
    pass(&mut s, &mut now, BUDGET + 10);
    s.stop(2, handle, now);
    s.resume(2, handle, now);
    assert_eq!(s.running(), 2, "still throttled");
    assert_eq!((s.is_throttled(1), s.is_stopped(1)), (true, false));
    s.stop(2, handle, now);
    pass(&mut s, &mut now, PERIOD + 10);
    assert_eq!(s.running(), 2, "still stopped");
    assert_eq!((s.is_throttled(1), s.is_stopped(1)), (false, true));
    s.resume(2, handle, now);
    assert_eq!(s.running(), 1);
}

/// Eight instances with budgets that are used up, of six threads each, and what instance 2 has.
fn crowded(twos: &[u8]) -> (Box<TestScheduler>, u64) {
    let (mut s, now) = limited(&[], twos);
    for instance in 10..18 {
        s.add_domain(InstanceId(instance), QUOTA).unwrap();
        s.set_budget(InstanceId(instance), PERIOD, 1).unwrap();
        for thread in 0..6 {
            let number = 10 + (instance as u8 - 10) * 6 + thread;
            s.adopt_thread(number, InstanceId(instance), 50).unwrap();
        }
    }
    (s, now)
}

#[test]
fn budgets_that_end_together_do_not_hold_up_who_is_more_urgent() {
    // Instances may have priorities up to 200.
    let (mut s, mut now) = crowded(&[201]);
    s.sleep_until(1, TWO, PERIOD, now);
    pass(&mut s, &mut now, PERIOD - 1);
    now = PERIOD;
    let mut interrupts = 0;
    while s.running() != 1 {
        let running = s.running();
        s.tick(running, now);
        interrupts += 1;
    }
    assert!(interrupts <= 3, "it wakes behind {interrupts} interrupts");
    let settings = s.machine().timer_settings;
    pass(&mut s, &mut now, PERIOD + 10 * QUANTUM_PART);
    let settings = s.machine().timer_settings - settings;
    assert!(
        settings <= 30,
        "it is interrupted at least {settings} times in ten parts of a quantum"
    );
    assert_eq!(s.running(), 1);
    // All is done as soon as it waits.
    s.sleep_until(1, TWO, 3 * PERIOD - 1, now);
    let ran = pass(&mut s, &mut now, 2 * PERIOD - 1);
    let all: u64 = (10..58).map(|thread| of(&ran, thread)).sum();
    assert!((8..=16).contains(&all), "{ran:?}");
}

#[test]
fn budgets_and_what_is_less_urgent_have_turns() {
    let (mut s, mut now) = crowded(&[30]);
    pass(&mut s, &mut now, PERIOD / 2);
    assert_eq!(s.running(), 1, "the others are throttled");
    s.sleep_until(1, TWO, PERIOD, now);
    pass(&mut s, &mut now, PERIOD - 1);
    now = PERIOD;
    let mut interrupts = 0;
    while s.state(1) == State::Sleep {
        let running = s.running();
        s.tick(running, now);
        interrupts += 1;
    }
    assert!(interrupts <= 3, "{interrupts}");
}

#[test]
fn who_is_less_urgent_than_a_running_thread_is_throttled_when_that_waits() {
    let (mut s, mut now) = limited(&[50], &[201]);
    s.sleep_until(2, TWO, BUDGET / 2, now);
    pass(&mut s, &mut now, BUDGET / 2 + 1);
    assert_eq!(s.running(), 2);
    pass(&mut s, &mut now, PERIOD / 2);
    s.sleep_until(2, TWO, u64::MAX, now);
    let ran = pass(&mut s, &mut now, PERIOD - 1);
    assert!(of(&ran, 1) <= BUDGET / 2 + 1, "{ran:?}");
}
