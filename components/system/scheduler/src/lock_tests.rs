//! Locks, priority inheritance, and the death of an instance.

extern crate std;
use crate::testing::*;
use crate::*;
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::Ordering::Relaxed;
use std::vec;
use std::vec::Vec;

/// Makes `thread` run by putting everyone before it to sleep for good.
fn let_run(s: &mut TestScheduler, thread: ThreadIndex) {
    while s.running() != thread {
        let running = s.running();
        assert_ne!(running, IDLE);
        s.sleep_until(running, ONE, u64::MAX, 0);
    }
}

fn wake(s: &mut TestScheduler, thread: ThreadIndex) {
    let (caller, handle) = (s.running(), s.handle(thread).unwrap());
    s.cancel_wait(caller, handle, 0);
}

/// The timer's interrupts, until all work is done; how many there were.
fn catch_up(s: &mut TestScheduler) -> usize {
    let mut ticks = 0;
    while s.has_work() {
        assert_eq!(s.machine().timer, 0, "the timer comes at once");
        s.tick(s.running(), 0);
        ticks += 1;
    }
    ticks
}

fn level(s: &TestScheduler, thread: ThreadIndex) -> u8 {
    255 - s.threads[thread as usize].level
}

#[test]
fn an_owner_inherits_and_gives_back() {
    let mut s = scheduler(&[10, 20, 30]);
    let lock = u64::from(s.create_lock(ONE).unwrap());
    let_run(&mut s, 1);
    assert_eq!(s.lock(1, ONE, lock, 0), OK);
    wake(&mut s, 2);
    wake(&mut s, 3);
    assert_eq!(s.lock(3, ONE, lock, 0), switched(1, 0, 1), "the owner runs before thread 2");
    assert_eq!(level(&s, 1), 30);
    assert_eq!(s.unlock(1, lock, 0), switched(3, 0, 0));
    assert_eq!(level(&s, 1), 10);
    assert_eq!(s.unlock(1, lock, 0), refused(Error::NotAllowed));
    assert_eq!(s.unlock(3, lock, 0), OK);
    assert_eq!(s.free_lock(TWO, lock), Err(Error::NotAllowed));
    assert_eq!(s.free_lock(ONE, lock), Ok(()));
    assert_eq!(s.lock(3, ONE, lock, 0), refused(Error::NotFound));
}

#[test]
fn inheritance_passes_through_owners_that_wait() {
    let mut s = scheduler(&[10, 20, 30]);
    let (one, two) = (s.create_lock(ONE).unwrap().into(), s.create_lock(ONE).unwrap().into());
    let_run(&mut s, 1);
    s.lock(1, ONE, one, 0);
    wake(&mut s, 2);
    s.lock(2, ONE, two, 0);
    s.lock(2, ONE, one, 0);
    assert_eq!(level(&s, 1), 20);
    wake(&mut s, 3);
    s.lock(3, ONE, two, 0);
    catch_up(&mut s);
    assert_eq!((level(&s, 1), level(&s, 2), s.running()), (30, 30, 1));
    // A deadlock is refused, at any distance.
    assert_eq!(s.lock(1, ONE, one, 0), refused(Error::Busy));
    assert_eq!(s.lock(1, ONE, two, 0), refused(Error::Busy));
    // Who waits no longer lends no longer.
    wake(&mut s, 3);
    catch_up(&mut s);
    assert_eq!((level(&s, 1), level(&s, 2), s.running()), (20, 20, 3));
}

#[test]
fn what_is_held_and_what_is_ahead_is_bounded() {
    let mut s = scheduler(&Vec::from_iter(1..=CHAIN_MAXIMUM as u8 + 2));
    let locks: Vec<u64> =
        (0..CHAIN_MAXIMUM + 2).map(|_| s.create_lock(ONE).unwrap().into()).collect();
    let last = s.running();
    for lock in &locks[..HELD_OF_INSTANCE] {
        assert_eq!(s.lock(last, ONE, *lock, 0), OK);
    }
    assert_eq!(s.lock(last, ONE, locks[HELD_OF_INSTANCE], 0), refused(Error::Exhausted));
    for lock in &locks[..HELD_OF_INSTANCE] {
        assert_eq!(s.unlock(last, *lock, 0), OK);
    }
    // Thread n + 1 waits for thread n.
    let_run(&mut s, 1);
    s.lock(1, ONE, locks[0], 0);
    for thread in 2..=CHAIN_MAXIMUM as u8 + 1 {
        wake(&mut s, thread);
        s.lock(thread, ONE, locks[thread as usize - 1], 0);
        assert!(matches!(
            s.lock(thread, ONE, locks[thread as usize - 2], 0),
            Outcome::Switch { .. }
        ));
        assert!(catch_up(&mut s) < CHAIN_MAXIMUM, "each interrupt passes it on");
        assert_eq!(s.running(), 1);
        assert_eq!(level(&s, 1), thread);
    }
    wake(&mut s, last);
    assert_eq!(s.lock(last, ONE, locks[CHAIN_MAXIMUM], 0), refused(Error::Exhausted));
    assert_eq!(s.state(last), State::Ready);
}

/// Eighty owners of low priority are to inherit something when an urgent thread begins to wait: for the last lock, whose
/// owner waits for another one.
#[test]
fn an_urgent_inversion_waits_for_no_work_of_others() {
    let others = 80;
    let mut s = scheduler(&[vec![10; 2 * others], vec![20, 30, 200]].concat());
    let locks: Vec<u64> = (0..others + 2).map(|_| s.create_lock(ONE).unwrap().into()).collect();
    let threads: Vec<ThreadIndex> = (1..=2 * others as ThreadIndex + 3).collect();
    let (low, [first, second, urgent]) = threads.split_last_chunk().unwrap();
    while s.running() != IDLE {
        s.sleep_until(s.running(), ONE, u64::MAX, 0);
    }
    let (owners, waiters) = low.split_at(others);
    for (thread, lock) in
        owners.iter().chain(waiters).zip(locks.iter().cycle().take(others).cycle())
    {
        wake(&mut s, *thread);
        s.lock(*thread, ONE, *lock, 0);
        if s.running() == *thread {
            s.sleep_until(*thread, ONE, u64::MAX, 0);
        }
        catch_up(&mut s);
    }
    for (thread, held, next) in [(*first, others, None), (*second, others + 1, Some(others))] {
        wake(&mut s, thread);
        s.lock(thread, ONE, locks[held], 0);
        next.map(|next| s.lock(thread, ONE, locks[next], 0));
        catch_up(&mut s);
    }
    for waiter in waiters {
        s.change_urgency(*waiter, 255 - 15, false);
    }
    wake(&mut s, *urgent);
    s.lock(*urgent, ONE, locks[others + 1], 0);
    let mut ticks = 0;
    while level(&s, *first) != 200 {
        s.tick(s.running(), 0);
        ticks += 1;
    }
    assert!(ticks <= 2, "{ticks} interrupts");
}

/// A callee returns with all of its locks taken: its client's thread holds them from then on.
#[test]
fn a_callee_uses_up_its_own_share_of_a_threads_locks() {
    let mut s = scheduler(&[10]);
    let own = u64::from(s.create_lock(TWO).unwrap());
    let instances = (3..).map(InstanceId).take(HELD_MAXIMUM / HELD_OF_INSTANCE);
    for instance in instances.clone() {
        s.add_domain(instance, QUOTA).unwrap();
        let left = core::iter::repeat_with(|| u64::from(s.create_lock(instance).unwrap()));
        let left: Vec<u64> = left.take(HELD_OF_INSTANCE + 1).collect();
        // While fewer do that than there are shares, the thread gets what others serve.
        assert_eq!(s.lock(1, TWO, own, 0), OK, "before instance {instance}");
        assert_eq!(s.unlock(1, own, 0), OK);
        for lock in &left[..HELD_OF_INSTANCE] {
            assert_eq!(s.lock(1, instance, *lock, 0), OK);
        }
        assert_eq!(s.lock(1, instance, left[HELD_OF_INSTANCE], 0), refused(Error::Exhausted));
    }
    assert_eq!(s.lock(1, TWO, own, 0), refused(Error::Exhausted), "all shares are gone");
    for instance in instances {
        reclaim(&mut s, 1, instance);
    }
    assert_eq!(s.lock(1, TWO, own, 0), OK, "the dead hold nothing");
}

#[test]
fn the_end_of_a_thread_hands_over_all_that_it_may_hold() {
    let mut s = scheduler(&[10, 20]);
    let_run(&mut s, 1);
    let mut locks = Vec::new();
    for instance in (3..).map(InstanceId).take(HELD_MAXIMUM / HELD_OF_INSTANCE) {
        s.add_domain(instance, QUOTA).unwrap();
        for _ in 0..HELD_OF_INSTANCE {
            locks.push(u64::from(s.create_lock(instance).unwrap()));
            assert_eq!(s.lock(1, instance, *locks.last().unwrap(), 0), OK);
        }
    }
    // The oldest is found behind all others.
    assert_eq!(s.unlock(1, locks[0], 0), OK);
    assert_eq!(s.lock(1, InstanceId(3), locks[0], 0), OK);
    s.exit(1, 0);
    let ticks = catch_up(&mut s);
    assert!((HELD_MAXIMUM..HELD_MAXIMUM + 3).contains(&ticks), "{ticks}");
    assert!(locks.iter().all(|lock| s.locks[*lock as usize].owner == IDLE));
}

#[test]
fn locks_refuse_what_is_wrong() {
    let mut s = scheduler(&[10]);
    for bad in [0, 5, LOCKS as u64, u64::MAX] {
        let error = if bad < LOCKS as u64 { Error::NotFound } else { Error::BadArgument };
        assert_eq!(s.lock(1, ONE, bad, 0), refused(error));
        assert_eq!(s.unlock(1, bad, 0), refused(error));
        assert_eq!(s.free_lock(ONE, bad), Err(error));
    }
    let made = core::iter::from_fn(|| s.create_lock(ONE).ok()).count();
    assert_eq!(made, QUOTA.locks as usize);
    assert_eq!(s.create_lock(ONE), Err(Error::Exhausted));
    assert_eq!(s.lock(IDLE, ONE, 1, 0), refused(Error::NotAllowed));
    assert_eq!(s.unlock(IDLE, 1, 0), refused(Error::NotAllowed));
    s.lock(1, ONE, 1, 0);
    assert_eq!(s.free_lock(ONE, 1), Err(Error::Busy));
}

#[test]
fn an_owners_end_hands_its_locks_over() {
    let mut s = scheduler(&[10, 20, 30]);
    let (one, two) = (s.create_lock(ONE).unwrap().into(), s.create_lock(ONE).unwrap().into());
    let_run(&mut s, 1);
    s.lock(1, ONE, one, 0);
    s.lock(1, ONE, two, 0);
    wake(&mut s, 2);
    s.lock(2, ONE, one, 0);
    wake(&mut s, 3);
    s.lock(3, ONE, two, 0);
    s.exit(1, 0);
    catch_up(&mut s);
    assert_eq!((s.running(), s.threads[3].status), (3, OWNER_ENDED));
    assert_eq!(s.unlock(3, two, 0), OK);
    let_run(&mut s, 2);
    assert_eq!(s.unlock(2, one, 0), OK);
}

/// Reclaims all that `dead` has; `supervisor` must have the highest priority.
fn reclaim(s: &mut TestScheduler, supervisor: ThreadIndex, dead: InstanceId) -> usize {
    let (mut cursor, mut steps) = (0, 0);
    loop {
        let Outcome::Reply { status: 0, value } = s.reclaim(supervisor, dead, cursor, 0) else {
            panic!("the supervisor is preempted")
        };
        steps += 1;
        if value == 0 {
            return steps;
        }
        cursor = value;
    }
}

#[test]
fn the_death_of_an_instance_releases_everything() {
    let mut s = scheduler(&[200, 100, 90, 80, 70, 60, 50, 10]);
    let lock = u64::from(s.create_lock(ONE).unwrap());
    let foreign_lock = u64::from(s.create_lock(TWO).unwrap());
    // Supervisor 1 watches; 2 and 3 wait for the dead instance's semaphore, from both instances; 4 waits
    // in the dead instance for another's semaphore; 5 sleeps there; 6 waits for a lock of the dead
    // instance that 8 holds, as it does one of another's; 7 waits for a stack.
    s.p(1, TWO, 5, 0);
    s.p(2, ONE, 0, 0);
    s.p(3, TWO, 0, 0);
    s.timed_p(4, ONE, 4, 1000, 0);
    s.sleep_until(5, ONE, 5000, 0);
    let_run(&mut s, 8);
    s.lock(8, TWO, lock, 0);
    s.lock(8, TWO, foreign_lock, 0);
    wake(&mut s, 7);
    s.wait_stack(7, ONE, 3, 0);
    wake(&mut s, 6);
    s.lock(6, TWO, lock, 0);
    assert_eq!((s.running(), s.threads[8].level), (8, 255 - 60));
    s.v(8, 5, 0);
    assert_eq!(s.running(), 1);
    let steps = reclaim(&mut s, 1, ONE);
    assert!(steps < 256, "{steps}");
    for thread in [2, 3, 4, 5, 6, 7] {
        assert_eq!(s.state(thread), State::Ready, "thread {thread}");
        assert_eq!(i64::from(s.threads[thread as usize].status), Error::Dead.status());
    }
    assert_eq!(s.timers, IDLE);
    while s.has_work() {
        s.do_work(0);
    }
    assert_eq!(s.threads[8].level, 255 - 10, "nobody waits for what it holds");
    assert_eq!(s.v(1, 0, 0), refused(Error::NotFound));
    assert_eq!(s.lock(1, ONE, lock, 0), refused(Error::NotFound));
    assert_eq!(s.machine.semaphore(0)[0].load(Relaxed), i64::MIN);
    assert_eq!(s.machine.semaphore(4)[0].load(Relaxed), 0);
    assert_eq!((s.accounts[tenant(1)].semaphores, s.accounts[tenant(1)].locks), (0, 0));
    // What is not the dead instance's stays.
    assert_eq!(s.v(1, 4, 0), OK);
    assert_eq!(s.unlock(1, foreign_lock, 0), refused(Error::NotAllowed));
    let_run(&mut s, 8);
    assert_eq!(s.unlock(8, foreign_lock, 0), OK);
}

#[test]
fn nobody_begins_to_wait_for_a_dying_object() {
    let mut s = scheduler(&[200, 100, 90]);
    s.p(1, TWO, 5, 0);
    s.p(2, TWO, 0, 0);
    s.v(3, 5, 0);
    // Up to the semaphore's waiter, and not further.
    let mut cursor = 0;
    while s.state(2) != State::Ready {
        let Outcome::Reply { value, .. } = s.reclaim(1, ONE, cursor, 0) else { panic!() };
        cursor = value;
    }
    assert_eq!(s.p(1, TWO, 0, 0), refused(Error::Dead));
    assert_eq!(s.v(1, 0, 0), refused(Error::Dead));
}
