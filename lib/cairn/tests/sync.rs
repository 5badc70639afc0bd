//! Threads that wait for each other, on the host.

use cairn::Error;
use cairn::sync::{Channel, Condvar, Lock, Mutex, Once, RwLock, Semaphore, Signal};
use cairn::time::{Duration, Instant};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread::{scope, sleep};

const THREADS: u32 = 8;
const ROUNDS: u32 = 2000;

fn soon() -> Instant {
    Instant::now() + Duration::from_millis(5)
}

fn all(body: impl Fn(u32) + Sync) {
    scope(|scope| {
        for number in 0..THREADS {
            let body = &body;
            scope.spawn(move || body(number));
        }
    });
}

#[test]
fn one_thread_at_a_time_has_the_value() {
    static COUNT: Mutex<u32> = Mutex::new(0);
    static TURN: Lock = Lock::new();
    static INSIDE: AtomicU32 = AtomicU32::new(0);
    all(|_| {
        for _ in 0..ROUNDS {
            *COUNT.lock().unwrap() += 1;
            let others = TURN.take(|| {
                let others = INSIDE.fetch_add(1, SeqCst);
                INSIDE.fetch_sub(1, SeqCst);
                Ok(others)
            });
            assert_eq!(others, Ok(0));
        }
    });
    assert_eq!(*COUNT.lock().unwrap(), THREADS * ROUNDS);
    let _held = COUNT.lock().unwrap();
    assert_eq!(COUNT.lock().map(|count| *count), Err(Error::Busy));
}

#[test]
fn what_is_sent_is_received_once_and_in_order() {
    static NUMBERS: Channel<(u32, u32), 3> = Channel::new();
    all(|number| {
        if number % 2 == 0 {
            for round in 0..ROUNDS {
                NUMBERS.send((number, round)).unwrap();
            }
        } else {
            let mut last = [None; THREADS as usize];
            for _ in 0..ROUNDS {
                let (sender, round) = NUMBERS.receive().unwrap();
                let last = &mut last[sender as usize];
                assert!(*last < Some(round), "{last:?} before {round}");
                *last = Some(round);
            }
        }
    });
    assert_eq!(NUMBERS.try_receive(), Ok(None));
    assert_eq!(NUMBERS.receive_before(soon()), Err(Error::TimedOut));
}

#[test]
fn a_value_without_room_comes_back() {
    static ONE: Channel<String, 1> = Channel::new();
    assert_eq!(ONE.try_send("first".into()), Ok(None));
    assert_eq!(ONE.try_send("second".into()), Ok(Some("second".into())));
    assert_eq!(ONE.receive(), Ok("first".into()));
    assert_eq!(ONE.try_send("third".into()), Ok(None));
    assert_eq!(ONE.receive(), Ok("third".into()));
}

/// Each of several rounds wakes all who wait, and none waits for ever: a permit that one round gives is not taken by who waits for
/// the next one.
#[test]
fn all_who_wait_for_a_condition_are_woken() {
    static ROUND: Mutex<u32> = Mutex::new(0);
    static CHANGED: Condvar = Condvar::new();
    static SEEN: Semaphore = Semaphore::new(0);
    scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for round in 1..=ROUNDS {
                    let guard = ROUND.lock().unwrap();
                    drop(CHANGED.wait_while(guard, |now| *now < round).unwrap());
                    SEEN.release().unwrap();
                }
            });
        }
        for _ in 0..ROUNDS {
            *ROUND.lock().unwrap() += 1;
            CHANGED.notify_all().unwrap();
            for _ in 0..THREADS {
                SEEN.acquire().unwrap();
            }
        }
    });
}

#[test]
fn a_notification_for_one_wakes_one() {
    static PERMITS: Mutex<u32> = Mutex::new(0);
    static GIVEN: Condvar = Condvar::new();
    scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    let permits = PERMITS.lock().unwrap();
                    *GIVEN.wait_while(permits, |permits| *permits == 0).unwrap() -= 1;
                }
            });
        }
        for _ in 0..THREADS * ROUNDS {
            *PERMITS.lock().unwrap() += 1;
            GIVEN.notify_one().unwrap();
        }
    });
    assert_eq!(*PERMITS.lock().unwrap(), 0);
    let late = GIVEN.wait_before(PERMITS.lock().unwrap(), soon());
    assert_eq!(late.map(|_| ()).unwrap_err(), Error::TimedOut);
    // Nobody waits: it is for nobody.
    GIVEN.notify_one().unwrap();
}

#[test]
fn readers_see_no_half_of_what_is_written() {
    static PAIR: RwLock<(u32, u32)> = RwLock::new((0, 0));
    all(|number| {
        for _ in 0..ROUNDS {
            if number < 2 {
                let mut pair = PAIR.write().unwrap();
                pair.0 += 1;
                pair.1 += 1;
            } else {
                let pair = PAIR.read().unwrap();
                assert_eq!(pair.0, pair.1);
            }
        }
    });
    assert_eq!(PAIR.read().unwrap().0, 2 * ROUNDS);
}

#[test]
fn readers_are_inside_together_and_a_writer_waits_for_them() {
    static VALUE: RwLock<u32> = RwLock::new(0);
    let (one, other) = (VALUE.read().unwrap(), VALUE.read().unwrap());
    scope(|scope| {
        let writer = scope.spawn(|| *VALUE.write().unwrap() = 7);
        sleep(Duration::from_millis(5));
        assert_eq!((*one, *other), (0, 0));
        assert!(!writer.is_finished());
        drop((one, other));
        writer.join().unwrap();
    });
    assert_eq!(*VALUE.read().unwrap(), 7);
}

#[test]
fn a_value_is_made_once() {
    static MADE: AtomicU32 = AtomicU32::new(0);
    static VALUE: Once<u32> = Once::new();
    assert_eq!(VALUE.get_or_init(|| Err(Error::Exhausted)), Err(Error::Exhausted));
    assert_eq!(VALUE.get_or_init(|| VALUE.get_or_init(|| Ok(1)).copied()), Err(Error::Busy));
    all(|_| {
        let value = VALUE.get_or_init(|| {
            sleep(Duration::from_millis(2));
            Ok(MADE.fetch_add(1, SeqCst) + 1)
        });
        assert_eq!(value, Ok(&1));
    });
    assert_eq!(VALUE.get(), Some(&1));
}

#[test]
fn a_signal_is_not_lost_and_does_not_add_up() {
    static CHANGED: Signal = Signal::new();
    static LAST: AtomicU32 = AtomicU32::new(0);
    CHANGED.signal().unwrap();
    CHANGED.signal().unwrap();
    assert_eq!(CHANGED.try_wait(), Ok(true));
    assert_eq!(CHANGED.wait_before(soon()), Err(Error::TimedOut));
    scope(|scope| {
        scope.spawn(|| {
            while LAST.load(SeqCst) < ROUNDS {
                CHANGED.wait().unwrap();
            }
        });
        for round in 1..=ROUNDS {
            LAST.store(round, SeqCst);
            CHANGED.signal().unwrap();
        }
    });
}
