//! Limits, quanta, and the time that threads ran.

use crate::testing::*;
use crate::*;

#[test]
fn sleepers_wake_in_order_and_the_timer_follows() {
    let mut s = scheduler(&[100, 90]);
    assert_eq!(s.sleep_until(1, ONE, 5, 5), OK, "a time that has passed");
    s.sleep_until(1, ONE, 500, 5);
    assert_eq!(s.machine().timer, 500);
    s.sleep_until(2, ONE, 300, 5);
    assert_eq!(s.machine().timer, 300);
    assert_eq!(s.tick(IDLE, 299), OK);
    assert_eq!(s.machine().timer, 300);
    assert_eq!(s.tick(IDLE, 300), switched(2, 0, 0));
    assert_eq!(s.machine().timer, 500);
    assert_eq!(s.tick(2, 501), switched(1, 0, 0));
    assert_eq!(s.machine().timer, u64::MAX);
}

#[test]
fn one_tick_ends_one_wait_and_the_next_comes_at_once() {
    let mut s = scheduler(&[100, 120, 140, 160]);
    for thread in [4, 3, 2, 1] {
        s.sleep_until(thread, ONE, 100 + u64::from(thread), 0);
    }
    let asleep = |s: &TestScheduler| (1..=4).filter(|t| s.state(*t) == State::Sleep).count();
    // The most urgent comes first, whoever ends before.
    assert_eq!(s.tick(IDLE, 1000), switched(4, 0, 0));
    assert_eq!(asleep(&s), 3);
    assert!(s.machine().timer <= 1000, "the timer comes back at once");
    // The others cannot go before it: they wait until it does, or for a part of a quantum.
    assert_eq!(s.tick(4, 1000), OK);
    assert_eq!((asleep(&s), s.machine().timer), (3, 1000 + QUANTUM / PACE));
    assert_eq!(s.tick(4, 1000 + QUANTUM / PACE), OK);
    assert_eq!((asleep(&s), s.state(3)), (2, State::Ready));
    s.tick(4, 1010 + QUANTUM / PACE);
    assert!(s.machine().timer > 1010 + QUANTUM / PACE);
    assert_eq!(s.sleep_until(4, ONE, 5000, 1015), switched(3, 0, 0));
    assert!(s.machine().timer > 1015);
    s.sleep_until(3, ONE, 5000, 1016);
    assert_eq!(s.running(), IDLE);
    assert!(s.machine().timer <= 1016, "less urgent threads may run");
    assert_eq!(s.tick(IDLE, 1016), switched(2, 0, 0));
}

/// A thread whose limit ends while an operation of a less urgent one has left work is not interrupted for that.
#[test]
fn work_of_the_less_urgent_does_not_interrupt_who_wakes() {
    let mut s = scheduler(&[200, 50, 20]);
    s.sleep_until(1, ONE, 1000, 0);
    // The end of a first thread is work: the supervisor is to be called.
    s.add_alarm(255 - 20);
    assert_eq!(s.tick(2, 1000), switched(1, 0, 0));
    assert!(s.has_work() && s.machine().timer == 1000 + QUANTUM / PACE);
    assert_eq!(s.sleep_until(1, ONE, 5000, 1001), switched(2, 0, 0));
    assert!(s.machine().timer > 1001, "that one goes before it too");
    assert_eq!(s.sleep_until(2, ONE, 5000, 1001), switched(3, 0, 0));
    assert!(s.has_work() && s.machine().timer <= 1001, "it is taken up");
}

/// Two hundred limits end at once, below a thread whose own one comes meanwhile.
#[test]
fn limits_of_the_less_urgent_hold_up_nobody() {
    let mut s = scheduler(&[&[200, 120][..], &[100; 197]].concat());
    s.sleep_until(1, ONE, 1003, 0);
    for thread in 2..=199 {
        s.sleep_until(thread, ONE, 1000, 0);
    }
    assert_eq!(s.tick(IDLE, 1000), switched(2, 0, 0));
    assert_eq!(s.tick(2, 1001), OK);
    assert_eq!(s.machine().timer, 1003, "not later than the limit of the urgent one");
    assert_eq!(s.tick(2, 1003), switched(1, 0, 0));
    let mut now = 1004;
    assert_eq!(s.tick(1, now), OK);
    // It runs for long: the others end one after the other.
    for _ in 0..197 {
        assert!(s.machine().timer >= now);
        now = s.machine().timer;
        if matches!(s.tick(1, now), Outcome::Switch { .. }) {
            panic!("a less urgent thread runs");
        }
        now += 1;
        s.tick(1, now);
    }
    assert!((2..=199).all(|thread| s.state(thread) == State::Ready));
}

#[test]
fn a_quantum_ends_only_with_equals() {
    let mut s = scheduler(&[100, 100]);
    let first = s.machine().timer;
    assert_eq!(first, QUANTUM);
    assert_eq!(s.tick(1, first), switched(2, 0, 0));
    assert_eq!(s.machine().timer, first + QUANTUM);
    // A thread that just began its turn keeps it.
    assert_eq!(s.yield_now(2, first + QUANTUM - 1), switched(1, 0, 0));
    assert_eq!(s.tick(1, first + QUANTUM), OK);
    assert_eq!(s.sleep_until(1, ONE, 100 * QUANTUM, first + QUANTUM), switched(2, 0, 0));
    assert_eq!(s.tick(2, first + 2 * QUANTUM), OK);
    assert_eq!(s.machine().timer, 100 * QUANTUM, "no quantum without an equal");
    // An equal comes back: quanta are marked again.
    assert_eq!(s.tick(2, 100 * QUANTUM), OK);
    assert_eq!(s.machine().timer, 101 * QUANTUM);
}

#[test]
fn yielding_before_the_tick_does_not_starve_an_equal() {
    let mut s = scheduler(&[100, 100]);
    let mut now = 0;
    let mut running = 1;
    for _ in 0..200 {
        // Thread 1 yields just before each tick.
        if running == 1
            && let Outcome::Switch { thread, .. } = s.yield_now(1, now + QUANTUM * 9 / 10)
        {
            running = thread;
        }
        now += QUANTUM;
        if let Outcome::Switch { thread, .. } = s.tick(running, now) {
            running = thread;
        }
    }
    let (one, two) = (s.time_used(1, now), s.time_used(2, now));
    assert_eq!(one + two, now);
    assert!(one.abs_diff(two) < now / 5, "{one} and {two}");
}

#[test]
fn time_is_accounted_to_whoever_ran() {
    let mut s = scheduler(&[100, 100]);
    s.yield_now(1, 30);
    s.yield_now(2, 70);
    assert_eq!(s.time_used(2, 1000), 40);
    assert_eq!(s.time_used(1, 75), 35);
    s.sleep_until(1, ONE, 2000, 80);
    s.sleep_until(2, ONE, 3000, 100);
    s.tick(IDLE, 2000);
    assert_eq!(s.time_used(IDLE, 2000), 1900);
    assert_eq!(s.time_used(1, 2005), 45);
}

#[test]
fn a_run_clock_of_its_own_decides_nothing_about_times() {
    const RATE: u64 = 100;
    let mut machine = TestMachine::new();
    machine.run_rate = RATE;
    // It stood still for three ticks before anybody ran.
    machine.waited = 3;
    let mut s = scheduler_of(machine, &[100, 100], 256);
    // Turns of less than a tick add up.
    let mut now = 0;
    for _ in 0..50 {
        assert_eq!(s.yield_now(1, now + 30), switched(2, 0, 0));
        assert_eq!(s.yield_now(2, now + 50), switched(1, 0, 0));
        now += 50;
    }
    assert_eq!((s.time_used(1, now), s.time_used(2, now)), (15, 10));
    // A quantum is one of the time, and so is a limit.
    assert_eq!(s.machine().timer, QUANTUM + 3);
    assert_eq!(s.tick(1, QUANTUM * RATE), OK, "it ran for less");
    assert_eq!(s.tick(1, 2 * QUANTUM * RATE), switched(2, 0, 0));
    now = 2 * QUANTUM * RATE;
    assert_eq!(s.sleep_until(2, ONE, 2 * QUANTUM + 3, now), OK, "a time that has passed");
    assert_eq!(s.sleep_until(2, ONE, 2 * QUANTUM + 8, now), switched(1, 0, 0));
    assert_eq!(s.sleep_until(1, ONE, 2 * QUANTUM + 10, now), switched(IDLE, 0, 0));
    assert_eq!(s.machine().timer, 2 * QUANTUM + 8);
    // It stands still while the idle thread waits.
    s.machine_mut().waited = 3 + 5;
    assert_eq!(s.tick(IDLE, now + RATE - 1), switched(2, 0, 0));
    assert_eq!(s.time_used(IDLE, now + RATE - 1), 0);
    assert_eq!(s.machine().timer, 2 * QUANTUM + 10);
}
