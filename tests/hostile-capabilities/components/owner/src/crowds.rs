//! Several threads, and large trees.

use crate::*;
use cairn::thread::Stack;
use cairn_interfaces::spawn;
use core::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// More than the three that the bank has stacks for.
const CROWD: usize = 6;
static STACKS: [Stack<8192>; CROWD] = [const { Stack::new() }; CROWD];
/// What each of them was answered: a value or an error.
static OUTCOMES: [AtomicI64; CROWD] = [const { AtomicI64::new(0) }; CROWD];
// Relaxed: read when the threads that add have been joined, but for the one that waits, which is asked for again and again.
static ANSWERED: AtomicU64 = AtomicU64::new(0);

/// Priority of threads that are of no use before the first thread waits.
const LOW: u8 = 5;

/// Threads call at once, interrupted at any instruction: they share what there is, and all of it.
pub fn more_calls() -> Result<(), Failed> {
    for calls in [1, 7, 150, 1_000] {
        let coin = succeed!(coin(40));
        let (_, place) = succeed!(give(ONE, &coin, Rights::ALL.calls(calls)));
        ANSWERED.store(0, Ordering::Relaxed);
        let hammer = |place: u64| {
            // A few at a time: the threads take turns.
            for _ in 0..60 {
                let answered = ONE.hammer(place, 10).unwrap_or(u64::MAX);
                ANSWERED.fetch_add(answered, Ordering::Relaxed);
                let _ = imports::THREADS.yield_now();
            }
        };
        let mut threads = [None; 3];
        for (thread, stack) in threads.iter_mut().zip(&STACKS) {
            *thread = Some(succeed!(spawn(imports::THREADS, stack, hammer, place, LOW)));
        }
        for thread in threads.into_iter().flatten() {
            succeed!(thread.join());
        }
        expect!(ANSWERED.load(Ordering::Relaxed), u64::from(calls));
        expect!(ONE.call(place, VALUE), Err(Error::Exhausted));
        succeed!(ONE.drop(place));
        expect!(BANK.melt(40), Ok(1));
        succeed!(close(coin));
    }
    Ok(())
}

/// Three threads are inside, three wait for a stack; those are refused by what there is when they have one, whatever there was when they came.
pub fn stack_waits() -> Result<(), Failed> {
    type Change = fn(Grant<dyn Coin>, u64) -> Result<(), Error>;
    let rights = Rights::ALL.passed_on(1);
    let end = cairn::time::now() + cairn::time::ticks(100_000);
    let changes: [(Rights, usize, Error, Change); 5] = [
        (rights.calls(3), 3, Error::Exhausted, |_, _| Ok(())),
        (rights.calls(4), 4, Error::Exhausted, |_, _| Ok(())),
        (rights.until(end), 3, Error::TimedOut, |_, end| imports::THREADS.sleep_until(end)),
        (rights, 3, Error::NoPortal, |grant, _| GRANTS.take_back(grant)),
        (rights.calls(9), 3, Error::NoPortal, |grant, _| GRANTS.take_back(grant)),
    ];
    for (rights, answered, error, change) in changes {
        let coin = succeed!(coin(43));
        let (grant, place) = succeed!(give(ONE, &coin, rights));
        let before = succeed!(BANK.waiting());
        let call = |place_and_thread: u64| {
            let called = ONE.call(place_and_thread >> 8, WAIT);
            let outcome = called.map_or_else(Error::status, |value| value as i64);
            OUTCOMES[place_and_thread as usize & 0xff].store(outcome, Ordering::Relaxed);
        };
        let mut threads = [None; CROWD];
        for ((number, thread), stack) in (0..).zip(&mut threads).zip(&STACKS) {
            let started = spawn(imports::THREADS, stack, call, place << 8 | number, 10);
            *thread = Some(succeed!(started));
        }
        // All of them have come as far as they can.
        let pause = || imports::THREADS.sleep_until(cairn::time::now() + cairn::time::ticks(3_000));
        succeed!(pause());
        expect!(BANK.waiting(), Ok(before + 3));
        succeed!(change(grant, end));
        // Each that comes back lets one go on that waits.
        for released in 0..answered as u64 {
            succeed!(BANK.release());
            succeed!(pause());
            let inside = (before + 3 + released + 1).min(before + answered as u64);
            expect!(BANK.waiting(), Ok(inside));
        }
        for thread in threads.into_iter().flatten() {
            succeed!(thread.join());
        }
        let count = |wanted: i64| {
            OUTCOMES.iter().filter(|outcome| outcome.load(Ordering::Relaxed) == wanted).count()
        };
        expect!((count(43), count(error.status())), (answered, CROWD - answered));
        succeed!(ONE.drop(place));
        expect!(BANK.melt(43), Ok(1));
        succeed!(close(coin));
    }
    Ok(())
}

/// The call comes back with what it was called for; the next one finds no portal.
pub fn inside() -> Result<(), Failed> {
    let coin = succeed!(coin(41));
    let (grant, place) = succeed!(give(ONE, &coin, Rights::ALL.passed_on(1)));
    let word = succeed!(ONE.pass(place, agents().1, 0, 0));
    let second = succeed!(TWO.keep_word(agents().0, word));
    let before = succeed!(BANK.waiting());
    ANSWERED.store(0, Ordering::Relaxed);
    let wait_in_one = |place: u64| {
        ANSWERED.fetch_add(ONE.call(place, WAIT).unwrap_or(1_000_000), Ordering::Relaxed);
    };
    let wait_in_two = |place: u64| {
        ANSWERED.fetch_add(TWO.call(place, WAIT).unwrap_or(1_000_000), Ordering::Relaxed);
    };
    let first = succeed!(spawn(imports::THREADS, &STACKS[0], wait_in_one, place, 10));
    let other = succeed!(spawn(imports::THREADS, &STACKS[1], wait_in_two, second, 10));
    while succeed!(BANK.waiting()) < before + 2 {
        succeed!(imports::THREADS.sleep_until(cairn::time::now() + cairn::time::ticks(100)));
    }
    succeed!(GRANTS.take_back(grant));
    expect!(ONE.call(place, VALUE), Err(Error::NoPortal));
    expect!(TWO.call(second, VALUE), Err(Error::NoPortal));
    // Their portals, and the coin itself, can go meanwhile.
    succeed!(ONE.drop(place));
    succeed!(TWO.drop(second));
    expect!(ANSWERED.load(Ordering::Relaxed), 0);
    succeed!(BANK.release());
    succeed!(BANK.release());
    succeed!(first.join());
    succeed!(other.join());
    expect!(ANSWERED.load(Ordering::Relaxed), 2 * 41);
    expect!(BANK.melt(41), Ok(1));
    succeed!(close(coin));
    Ok(())
}

/// Forty grants, each of the one before, and as many beside them.
pub fn tree() -> Result<(), Failed> {
    const DEPTH: usize = 20;
    let before = succeed!(imports::LISTING.usage());
    for end in 0..3 {
        let coin = succeed!(coin(42));
        let (grant, first) = succeed!(give(ONE, &coin, Rights::ALL.passed_on(2 * DEPTH as u16)));
        let mut places = [(0, 0); 2 * DEPTH];
        let (mut last, mut is_one) = (first, true);
        for (depth, pair) in places.chunks_exact_mut(2).enumerate() {
            let (from, to) = if is_one { (ONE, TWO) } else { (TWO, ONE) };
            let (granter, receiver) = if is_one { agents() } else { (agents().1, agents().0) };
            let left = 2 * (DEPTH - depth - 1) as u64;
            for (place, passes) in pair.iter_mut().zip([0, left]) {
                let word = succeed!(from.pass(last, receiver, passes, 0));
                *place = (u64::from(!is_one), succeed!(to.keep_word(granter, word)));
            }
            (last, is_one) = (pair[1].1, !is_one);
        }
        let agent = |is_one: u64| if is_one == 1 { ONE } else { TWO };
        for (is_one, place) in places {
            expect!(agent(is_one).call(place, VALUE), Ok(42));
        }
        match end {
            0 => succeed!(GRANTS.take_back(grant)),
            1 => succeed!(ONE.drop(first)),
            _ => {
                expect!(BANK.melt(42), Ok(2 * DEPTH as u64 + 2));
            }
        }
        for (is_one, place) in places {
            expect!(agent(is_one).call(place, VALUE), Err(Error::NoPortal));
            succeed!(agent(is_one).drop(place));
        }
        if end != 1 {
            succeed!(ONE.drop(first));
        }
        if end != 2 {
            expect!(BANK.melt(42), Ok(1));
        }
        succeed!(close(coin));
    }
    expect!(imports::LISTING.usage(), Ok(before));
    Ok(())
}
