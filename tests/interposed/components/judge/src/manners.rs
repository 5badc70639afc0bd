//! Those that do not pass calls on as they came.

use super::*;
use cairn_test_interposed_contract::Manner;

static WAITS: Stack<8192> = Stack::new();
static ANSWER: AtomicU64 = AtomicU64::new(0);

/// A call that is kept until the one between dies.
fn wait(_: u64) {
    let answer = DESK.deposit(0);
    ANSWER.store(u64::from(answer == Err(Error::Dead)) + 1, Relaxed);
}

fn behave(manner: Manner) {
    expect("it is told", BETWEEN_1.behave(manner), Ok(()));
}

/// Until it stands there in its next life.
fn wait_for_the_next() {
    wait_until(|| BETWEEN_1.passed().is_ok() && DESK.deposit(0).is_ok());
}

pub fn all() {
    let own = u64::from(arguments::clerk());
    expect("between them", wrap("clerk", "teller", FIRST), Ok(METHODS));
    behave(Manner::Drop);
    let before = held();
    expect("a call that is dropped", DESK.deposit(1), Err(Error::NotAllowed));
    expect("did not happen", held(), before);
    behave(Manner::Repeat);
    expect("one that is repeated", DESK.deposit(1), Ok(before + 1));
    expect("happened twice", held(), before + 2);
    behave(Manner::Change);
    expect("an amount that is changed", DESK.deposit(1), Ok(before + 2));
    expect("as it says", held(), before + 2 + 0x1000);
    expect("memory that is not the clerk's", DESK.sum(&[1; 200]), Err(Error::BadPointer));
    expect("nor a copy of it", DESK.sum(&[1; 20]), Err(Error::BadPointer));
    behave(Manner::Forward);
    expect("the clerk is who it is", (DESK.check(), own > 0), (Ok(()), true));
    behave(Manner::Mistake);
    // The method is another's, and finds what it finds there.
    expect("by another index", DESK.deposit(1).is_ok() || DESK.deposit(1).is_err(), true);
    behave(Manner::Forward);
    expect("all as it should be", DESK.check(), Ok(()));
    behave(Manner::Later);
    expect("a call", DESK.deposit(1).is_ok(), true);
    wait_until(|| BETWEEN_1.later().is_ok_and(|answer| answer != 1 << 32));
    let refused = Error::NotAllowed.status() as u64;
    expect("which nobody repeats when it is over", BETWEEN_1.later(), Ok(refused));
    deaths();
    expect("and gone", unwrap("clerk", "teller", FIRST), Ok(METHODS));
}

fn deaths() {
    let before = held();
    behave(Manner::DieBefore);
    expect("it dies with a call", DESK.deposit(1), Err(Error::Dead));
    wait_for_the_next();
    expect("that did not happen", held(), before);
    behave(Manner::DieBehind);
    expect("behind the call", DESK.deposit(1), Err(Error::Dead));
    wait_for_the_next();
    expect("that happened", held(), before + 1);
    expect("it stands there in its next life", DESK.check(), Ok(()));
    expect("all came by", passed(BETWEEN_1) >= 12, true);

    behave(Manner::Keep);
    let waits = spawn(THREADS, &WAITS, wait, 0, 45).expect("the quota has room");
    wait_until(|| passed(BETWEEN_1) > 12 + 1);
    let _ = THREADS.sleep_until(time::now() + time::ticks(2000));
    expect("it keeps a call", ANSWER.load(Relaxed), 0);
    expect("it is killed", SUPERVISOR.kill(FIRST), Ok(()));
    let _ = waits.join();
    expect("and the call comes back", ANSWER.load(Relaxed), 2);
    expect("it starts again", SUPERVISOR.restart(FIRST), Ok(()));
    wait_for_the_next();
    expect("all as it should be", DESK.check(), Ok(()));

    // The server, and the client.
    expect("the teller breaks down", DESK.break_till(), Err(Error::Dead));
    wait_until(|| held() == 1000);
    expect("all as it should be", DESK.check(), Ok(()));
    expect("the clerk starts again", SUPERVISOR.restart("clerk"), Ok(()));
    wait_until(|| DESK.deposit(0).is_ok());
    let count = passed(BETWEEN_1);
    expect("all as it should be", DESK.check(), Ok(()));
    expect("all came by", passed(BETWEEN_1) - count, 12);

    // One with which the clerk gets along without.
    let (second, between) = betweens()[1];
    let wrapped = INTERPOSITION.wrap("clerk", "teller", second, true);
    expect("another, for as long as it lives", wrapped, Ok(METHODS));
    expect("it is told", between.behave(Manner::DieBefore), Ok(()));
    expect("it dies with a call", DESK.deposit(1), Err(Error::Dead));
    wait_until(|| between.passed().is_ok());
    let count = passed(between);
    expect("all as it should be", DESK.check(), Ok(()));
    expect("nothing comes by", passed(between), count);
    expect("it is gone", unwrap("clerk", "teller", second), Err(Error::NotFound));
}
