//! Semaphores, locks and who runs to completion, for so many calls and until a time: a call that waits is one, and what was taken can be given
//! back.

use crate::*;
use cairn::thread::Stack;
use cairn::time;
use cairn_interfaces::{Lock, Semaphore, Thread, spawn};
use cairn_test_hostile_capabilities_contract::operations::*;
use core::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

static STACKS: [Stack<8192>; 3] = [const { Stack::new() }; 3];
// Relaxed: read when the threads have been joined.
static SUCCESSFUL: AtomicU64 = AtomicU64::new(0);
/// What each thread was answered; before, this.
const NOTHING: i64 = 1_000_000;
static OUTCOMES: [AtomicI64; 3] = [const { AtomicI64::new(NOTHING) }; 3];

/// Priority of threads that are of no use before the first thread waits.
const LOW: u8 = 5;

/// What is passed on, the grant, and where one has it.
type Given<I> = (Object<I>, Grant<I>, u64);

fn semaphore(rights: Rights, count: u64) -> Result<Given<dyn Semaphore>, Error> {
    let semaphore: Object<dyn Semaphore> = PORTALS.semaphore(count)?;
    let grant = GRANTS.pass(&semaphore, ONE.first_portal(), rights)?;
    Ok((semaphore, grant, ONE.keep_semaphore(grant)?))
}

fn lock(rights: Rights) -> Result<Given<dyn Lock>, Error> {
    let lock: Object<dyn Lock> = PORTALS.lock()?;
    let grant = GRANTS.pass(&lock, ONE.first_portal(), rights)?;
    Ok((lock, grant, ONE.keep_lock(grant)?))
}

fn once(place: u64, operation: u64) -> Result<(), Error> {
    ONE.operate(place, operation, 1).map(drop)
}

/// Gives up what one has at a place, and the semaphore or lock itself.
fn end(place: u64, first: u32) -> Result<(), Error> {
    ONE.drop(place)?;
    PORTALS.close(first.into())
}

fn pause() -> Result<(), Error> {
    imports::THREADS.sleep_until(time::now() + time::ticks(2_000))
}

/// A thread, of the owner's priority, that does this in one.
fn start(number: usize, place: u64, operation: u64) -> Result<Thread, Error> {
    OUTCOMES[number].store(NOTHING, Relaxed);
    let operate = |word: u64| {
        let [number, operation, place @ ..] = word.to_le_bytes();
        let [a, b, ..] = place;
        let outcome = once(u16::from_le_bytes([a, b]).into(), operation.into());
        OUTCOMES[usize::from(number)].store(outcome.map_or_else(Error::status, |()| 0), Relaxed);
    };
    let word = number as u64 | operation << 8 | place << 16;
    let thread = spawn(imports::THREADS, &STACKS[number], operate, word, 10)?;
    pause()?;
    Ok(thread)
}

fn outcome(number: usize) -> i64 {
    OUTCOMES[number].load(Relaxed)
}

/// What is left in a semaphore of this instance's own.
fn drain(semaphore: &Object<dyn Semaphore>) -> u64 {
    let mut count = 0;
    while semaphore.proxy().try_p().is_ok() {
        count += 1;
    }
    count
}

pub fn semaphore_calls() -> Result<(), Failed> {
    let before = succeed!(imports::LISTING.usage());
    // Each method, without the scheduler and with it: the last call is the last of any.
    for (operation, count, left) in [(P, 5, 4), (V, 5, 6), (TRY_P, 5, 4), (P_UNTIL_NOW, 5, 4)] {
        let (own, _, place) = succeed!(semaphore(Rights::ONCE, count));
        expect!((operation, once(place, operation)), (operation, Ok(())));
        for next in [P, V, TRY_P, P_UNTIL_NOW] {
            expect!((operation, next, once(place, next)), (operation, next, Err(Error::Exhausted)));
        }
        expect!((operation, drain(&own)), (operation, left));
        succeed!(end(place, own.first_portal()));
    }
    // Nobody waits who has no call left, and what failed has counted.
    let (own, _, place) = succeed!(semaphore(Rights::ALL.calls(2), 0));
    expect!(once(place, TRY_P), Err(Error::WouldBlock));
    expect!(once(place, P_UNTIL_NOW), Err(Error::TimedOut));
    expect!(once(place, P), Err(Error::Exhausted));
    succeed!(end(place, own.first_portal()));
    // Who waits used one call, however it was woken.
    let (own, _, place) = succeed!(semaphore(Rights::ALL.calls(2), 0));
    for _ in 0..2 {
        let waits = succeed!(start(0, place, P));
        expect!(outcome(0), NOTHING);
        succeed!(own.proxy().v());
        succeed!(waits.join());
        expect!(outcome(0), 0);
    }
    expect!(once(place, P), Err(Error::Exhausted));
    succeed!(own.proxy().v());
    expect!((once(place, P), drain(&own)), (Err(Error::Exhausted), 1));
    succeed!(end(place, own.first_portal()));
    // Some of the methods, so often.
    let raise = const { Rights::ALL.only::<dyn Semaphore>(&["v"]) }.calls(3);
    let (own, _, place) = succeed!(semaphore(raise, 0));
    expect!(once(place, P), Err(Error::NoPortal));
    expect!((ONE.operate(place, V, 9), drain(&own)), (Ok(3), 3));
    succeed!(end(place, own.first_portal()));
    expect!(imports::LISTING.usage(), Ok(before));
    Ok(())
}

/// Three threads call at once, interrupted at any instruction: together as often as it says.
pub fn crowd() -> Result<(), Failed> {
    const ROUNDS: u64 = 60;
    const TIMES: u64 = 10;
    const ALL: u64 = 3 * ROUNDS * TIMES;
    for (operation, calls) in [(P, 1), (P, 7), (P, 150), (P, 1_000), (V, 1), (V, 150), (TRY_P, 7)] {
        let (own, _, place) = succeed!(semaphore(Rights::ALL.calls(calls), ALL));
        SUCCESSFUL.store(0, Relaxed);
        let hammer = |word: u64| {
            for _ in 0..ROUNDS {
                let done = ONE.operate(word >> 8, word & 0xff, TIMES).unwrap_or(0);
                SUCCESSFUL.fetch_add(done, Relaxed);
                let _ = imports::THREADS.yield_now();
            }
        };
        let mut threads = [None; 3];
        for (thread, stack) in threads.iter_mut().zip(&STACKS) {
            let word = operation | place << 8;
            *thread = Some(succeed!(spawn(imports::THREADS, stack, hammer, word, LOW)));
        }
        for thread in threads.into_iter().flatten() {
            succeed!(thread.join());
        }
        let calls = u64::from(calls);
        let left = if operation == V { ALL + calls } else { ALL - calls };
        expect!((SUCCESSFUL.load(Relaxed), drain(&own)), (calls, left));
        succeed!(end(place, own.first_portal()));
    }
    Ok(())
}

/// Taking counts, with and without a wait; giving back does not.
pub fn lock_calls() -> Result<(), Failed> {
    let before = succeed!(imports::LISTING.usage());
    let (own, _, place) = succeed!(lock(Rights::ALL.calls(3)));
    for _ in 0..3 {
        expect!(once(place, LOCK), Ok(()));
        expect!(once(place, UNLOCK), Ok(()));
        // It is nobody's: that is no call, as often as one likes.
        expect!(ONE.operate(place, UNLOCK, 5), Err(Error::NotAllowed));
    }
    expect!(once(place, LOCK), Err(Error::Exhausted));
    expect!(once(place, UNLOCK), Err(Error::NotAllowed));
    succeed!(end(place, own.first_portal()));
    // Two want it, and there is one call: one of them waits, and has it then, with none left to give it back by.
    let (own, _, place) = succeed!(lock(Rights::ONCE));
    expect!(own.proxy().lock().is_ok(), true);
    let first = succeed!(start(0, place, LOCK));
    let second = succeed!(start(1, place, LOCK));
    expect!((outcome(0), outcome(1)), (NOTHING, Error::Exhausted.status()));
    // Not the holder's to give, for who waits.
    expect!(ONE.operate(place, LOCK, 1), Err(Error::Exhausted));
    succeed!(own.proxy().unlock());
    succeed!(first.join());
    succeed!(second.join());
    expect!(outcome(0), 0);
    // That thread has ended with it: the lock is free.
    expect!(own.proxy().lock().is_ok(), true);
    succeed!(own.proxy().unlock());
    succeed!(end(place, own.first_portal()));
    // Not to be given back by who may only take it, so often.
    let take = const { Rights::ALL.only::<dyn Lock>(&["lock"]) }.calls(1);
    let (own, _, place) = succeed!(lock(take));
    expect!((once(place, LOCK), once(place, UNLOCK)), (Ok(()), Err(Error::NoPortal)));
    succeed!(own.proxy().unlock());
    succeed!(end(place, own.first_portal()));
    expect!(imports::LISTING.usage(), Ok(before));
    Ok(())
}

/// A call that was let in comes back whenever it does; the next is too late. What is held can be given back after the time.
pub fn late() -> Result<(), Failed> {
    let until = time::now() + time::ticks(200_000);
    let rights = Rights::ALL.until(until);
    let (sema, _, place) = succeed!(semaphore(rights, 1));
    let (mutex, _, held) = succeed!(lock(rights.calls(9)));
    expect!((once(place, P), once(held, LOCK)), (Ok(()), Ok(())));
    let waits = succeed!(start(0, place, P));
    expect!((time::now() < until, outcome(0)), (true, NOTHING));
    succeed!(imports::THREADS.sleep_until(until));
    for operation in [P, V, TRY_P, P_UNTIL_NOW] {
        expect!((operation, once(place, operation)), (operation, Err(Error::TimedOut)));
    }
    expect!(once(held, UNLOCK), Ok(()));
    expect!((once(held, LOCK), once(held, UNLOCK)), (Err(Error::TimedOut), Err(Error::NotAllowed)));
    succeed!(sema.proxy().v());
    succeed!(waits.join());
    expect!((outcome(0), drain(&sema)), (0, 0));
    succeed!(end(place, sema.first_portal()));
    succeed!(end(held, mutex.first_portal()));
    Ok(())
}

/// What is taken back ends for the next call; who waits comes back as if nothing had happened.
pub fn taken_back() -> Result<(), Failed> {
    let before = succeed!(imports::LISTING.usage());
    let (own, grant, place) = succeed!(semaphore(Rights::ALL.calls(2), 0));
    let waits = succeed!(start(0, place, P));
    let other = succeed!(start(1, place, P));
    succeed!(GRANTS.take_back(grant));
    expect!(once(place, P), Err(Error::NoPortal));
    expect!((outcome(0), outcome(1)), (NOTHING, NOTHING));
    // It does not end under them, and they do not wait for ever.
    expect!(PORTALS.close(own.first_portal().into()), Err(Error::Busy));
    succeed!(own.proxy().v());
    succeed!(own.proxy().v());
    succeed!(waits.join());
    succeed!(other.join());
    expect!((outcome(0), outcome(1), drain(&own)), (0, 0, 0));
    succeed!(end(place, own.first_portal()));
    // A lock that is held, and one for which somebody waits.
    let (own, grant, place) = succeed!(lock(Rights::ALL.calls(2)));
    expect!(once(place, LOCK), Ok(()));
    let waits = succeed!(start(0, place, LOCK));
    expect!(outcome(0), NOTHING);
    succeed!(GRANTS.take_back(grant));
    expect!((once(place, UNLOCK), once(place, LOCK)), (Err(Error::NoPortal), Err(Error::NoPortal)));
    // It is this thread that took it, and it has portals of its own to the lock.
    succeed!(own.proxy().unlock());
    succeed!(waits.join());
    expect!(outcome(0), 0);
    expect!(own.proxy().lock().is_ok(), true);
    succeed!(own.proxy().unlock());
    succeed!(end(place, own.first_portal()));
    expect!(imports::LISTING.usage(), Ok(before));
    Ok(())
}

/// Any service of who runs to completion.
pub fn scheduler() -> Result<(), Failed> {
    let before = succeed!(imports::LISTING.usage());
    let threads: Object<dyn Threads> = succeed!(GRANTS.held(imports::THREADS.first_portal()));
    let until = time::now() + time::ticks(50_000);
    for (rights, error) in [
        (Rights::ALL.calls(3), Error::Exhausted),
        (Rights::ALL.calls(3).until(until), Error::Exhausted),
        (Rights::ALL.until(time::now()), Error::TimedOut),
    ] {
        let grant = succeed!(GRANTS.pass(&threads, ONE.first_portal(), rights));
        let place = succeed!(ONE.keep_threads(grant));
        let (times, is_late) = (3, error == Error::TimedOut);
        let expected = if is_late { Err(error) } else { Ok(times) };
        expect!(ONE.operate(place, OWN_NAME, 8), expected);
        expect!(ONE.operate(place, OWN_NAME, 8), Err(error));
        succeed!(ONE.drop(place));
    }
    succeed!(PORTALS.close(threads.first_portal().into()));
    expect!(imports::LISTING.usage(), Ok(before));
    Ok(())
}
