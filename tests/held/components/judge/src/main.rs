//! Has one held under the calls of four clients of different priorities.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::{Error, InstanceId};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_test_held_contract::{Calls, CallsProxy, Keeper, Work};
use cairn_test_hostile_contract::{judge, say};
use core::cell::Cell;
use core::fmt::Debug;

cairn::component! {
    name: "held-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        listing: interfaces::PortalListing,
        keeper: Keeper,
        work: Work,
        first: Calls,
        second: Calls,
        third: Calls,
        fourth: Calls,
    },
    arguments: { scheduler: u64, portals: u64, names: u64 },
    main: main,
}

use imports::{CONSOLE, FIRST, FOURTH, KEEPER, LISTING, SECOND, SUPERVISOR, THIRD, THREADS, WORK};

const ROUNDS: u64 = 300;

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

fn wait_until(condition: impl Fn() -> bool) -> bool {
    judge::wait_until(THREADS, condition)
}

/// The most urgent first.
fn callers() -> [CallsProxy; 4] {
    [FIRST, SECOND, THIRD, FOURTH]
}

fn begun() -> [u64; 4] {
    callers().map(|caller| caller.calls().map_or(0, |(begun, ..)| begun))
}

fn back() -> [u64; 4] {
    callers().map(|caller| caller.calls().map_or(0, |(_, back, _)| back))
}

fn failed() -> [u64; 4] {
    callers().map(|caller| caller.calls().map_or(u64::MAX, |(.., failed)| failed))
}

/// Each of them has called since.
fn all_call() -> bool {
    let before = back();
    wait_until(|| back().iter().zip(before).all(|(now, before)| *now > before + 4))
}

/// Each of them waits in its next call: nothing moves.
fn all_wait() -> bool {
    let waits =
        |caller: &CallsProxy| caller.calls().is_ok_and(|(begun, back, _)| begun == back + 1);
    let all = || callers().iter().all(waits);
    if !wait_until(all) {
        return false;
    }
    let before = begun();
    judge::pause(THREADS, 3000);
    all() && begun() == before
}

static STACK: Stack<16384> = Stack::new();

/// Is inside for a while.
fn stay(microseconds: u64) {
    let _ = WORK.stay(microseconds);
}

fn main() {
    wait_until(|| WORK.number().is_ok() && callers().iter().all(|caller| caller.number().is_ok()));
    let worker = WORK.number().unwrap_or(InstanceId(0));
    let numbers = callers().map(|caller| caller.number().map_or(0, |number| u64::from(number.0)));
    expect("all call", all_call(), true);

    let refused = [arguments::scheduler(), arguments::portals(), arguments::names()];
    let held = |number: u64| KEEPER.hold(InstanceId(number as u16));
    expect("who cannot be held", refused.map(held), [Err(Error::NotSupported); 3]);
    expect("nobody", held(200), Err(Error::BadArgument));
    expect("it is not held", KEEPER.release(worker), Err(Error::NotFound));
    expect("it is not held, nor relinked", KEEPER.relink(worker), Err(Error::NotAllowed));

    expect("it is held", KEEPER.hold(worker), Ok(()));
    expect("once", KEEPER.hold(worker), Err(Error::Busy));
    expect("all wait", all_wait(), true);
    expect("it is quiet", KEEPER.is_quiet(worker), Ok(true));
    expect("its holder calls it", KEEPER.call().is_ok(), true);
    expect("it is relinked", KEEPER.relink(worker), Ok(()));
    expect("it lives", KEEPER.leave(worker), Err(Error::Busy));
    expect("it is released", KEEPER.release(worker), Ok(()));
    expect("all go on", all_call(), true);

    by_priority(worker, numbers);
    under_load(worker);
    drained(worker);
    ends(worker);
    expect("no call is lost", failed(), [0; 4]);
    say!("held: done");
    let _ = SUPERVISOR.halt(0);
}

/// Holds it, when all who waited before have gone on.
fn hold(worker: InstanceId) -> Result<(), Error> {
    let held = Cell::new(Err(Error::Busy));
    wait_until(|| {
        held.set(KEEPER.hold(worker));
        held.get() != Err(Error::Busy)
    });
    held.get()
}

/// Who waited goes on by priority.
fn by_priority(worker: InstanceId, numbers: [u64; 4]) {
    let mut right = 0;
    for _ in 0..20 {
        let held = (hold(worker), all_wait(), KEEPER.watch());
        let released = (KEEPER.release(worker), all_call());
        // Each one's first call since, of those that called early enough to be written down.
        let mut order = [0; 4];
        let mut known = 0;
        for caller in (0..64).map(|number| WORK.watched(number).unwrap_or(0)) {
            if known < 4 && caller != 0 && !order.contains(&caller) {
                order[known] = caller;
                known += 1;
            }
        }
        let all = held == (Ok(()), true, Ok(())) && released == (Ok(()), true);
        right += u64::from(all && known > 1 && order[..known] == numbers[..known]);
    }
    expect("the most urgent goes on first, twenty times", right, 20);
}

/// Under load, again and again, by one that is less urgent than all of them but one.
fn again_and_again(worker: u64) {
    let worker = InstanceId(worker as u16);
    let mut right = 0;
    for round in 0..ROUNDS {
        let held = hold(worker);
        judge::pause(THREADS, round % 5 * 40);
        let quiet = wait_until(|| KEEPER.is_quiet(worker) == Ok(true));
        let relinked = KEEPER.relink(worker);
        let released = KEEPER.release(worker);
        judge::pause(THREADS, round % 7 * 40);
        right += u64::from((held, quiet, relinked, released) == (Ok(()), true, Ok(()), Ok(())));
    }
    expect("again and again", right, ROUNDS);
}

fn under_load(worker: InstanceId) {
    let free = LISTING.usage();
    for priority in [49, 41, 31] {
        let before = back();
        let rounds = spawn(THREADS, &STACK, again_and_again, worker.0.into(), priority);
        let _ = rounds.expect("the quota has room").join();
        let called = back().iter().zip(before).all(|(now, before)| *now > before + 2);
        expect("all called meanwhile", called, true);
    }
    expect("nothing is left of it", wait_until(|| LISTING.usage() == free), true);
}

/// Who is inside comes out.
fn drained(worker: InstanceId) {
    let inside = spawn(THREADS, &STACK, stay, 30_000, 49).expect("the quota has room");
    judge::pause(THREADS, 2000);
    expect("it is held with one inside", hold(worker), Ok(()));
    expect("it is not quiet", KEEPER.is_quiet(worker), Ok(false));
    expect("it is not relinked", KEEPER.relink(worker), Err(Error::Busy));
    expect("it gets quiet", wait_until(|| KEEPER.is_quiet(worker) == Ok(true)), true);
    let _ = inside.join();
    expect("all wait for it", all_wait(), true);
    expect("and it is released", KEEPER.release(worker), Ok(()));
    expect("all go on from there", all_call(), true);
}

/// Whoever ends meanwhile.
fn ends(worker: InstanceId) {
    expect("the holder holds", hold(worker), Ok(()));
    expect("all wait for the holder", all_wait(), true);
    expect("the holder ends", SUPERVISOR.restart("keeper"), Ok(()));
    expect("its death releases", all_call(), true);
    wait_until(|| KEEPER.call().is_ok());
    expect("its next life holds", hold(worker), Ok(()));
    expect("all wait for that", all_wait(), true);
    expect("the held one ends", SUPERVISOR.restart("worker"), Ok(()));
    wait_until(|| KEEPER.call() == Ok(1));
    expect("they wait through its death", all_wait(), true);
    expect("a client ends", SUPERVISOR.restart("fourth"), Ok(()));
    wait_until(|| FOURTH.calls() == Ok((1, 0, 0)));
    expect("its next life waits", all_wait(), true);
    expect("released for all", KEEPER.release(worker), Ok(()));
    expect("all call the next life", all_call(), true);
}
