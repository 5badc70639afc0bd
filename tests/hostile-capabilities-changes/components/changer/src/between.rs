//! Somebody stands between who has it and who serves it.

use crate::imports::{BETWEEN, INTERPOSITION, ONE};
use crate::*;
use cairn_test_interposed_contract::Manner;

fn wrap() {
    let wrapped = INTERPOSITION.wrap("one", "bank", "between", false);
    expect("somebody stands there", wrapped.is_ok(), true);
}

fn unwrap() {
    let unwrapped = INTERPOSITION.unwrap("one", "bank", "between");
    expect("nobody stands there", unwrapped.is_ok(), true);
}

fn behave(manner: Manner) {
    expect("it is told", BETWEEN.behave(manner), Ok(()));
}

/// Limits are those of calls of the server, whoever makes them on the way; nobody there gets more than the client has.
pub fn wrapped() {
    let coin = coin(60);
    let few = const { Rights::ALL.only::<dyn Coin>(&["value", "sum"]) };
    let (_, six) = give(ONE, &coin, Rights::ALL.calls(6));
    let (_, weak) = give(ONE, &coin, few);
    wrap();
    behave(Manner::Forward);
    expect("one of six", ONE.call(six, VALUE), Ok(60));
    behave(Manner::Repeat);
    expect("two of six", ONE.call(six, VALUE), Ok(60));
    behave(Manner::Drop);
    expect("none of six", ONE.call(six, VALUE), Err(Error::NotAllowed));
    behave(Manner::Repeat);
    expect("two more", ONE.call(six, VALUE), Ok(60));
    expect("the last, and one too many", ONE.call(six, VALUE), Err(Error::Exhausted));
    let methods = [VALUE, ADD, SUM].map(|method| ONE.call(weak, method).ok());
    expect("a weaker one is as weak", methods, [Some(60), None, Some(6)]);
    // Its own thread, by the index of a call that came by.
    behave(Manner::Later);
    let later = || {
        pause(500);
        BETWEEN.later().map(|status| Error::from_status(status as i64))
    };
    expect("a call comes by", ONE.call(weak, VALUE), Ok(60));
    judge::wait_until(THREADS, || later() == Ok(Error::NotAllowed));
    behave(Manner::Forward);
    let (_, once) = give(ONE, &coin, Rights::ONCE);
    let calls = [ONE.call(once, SUM), ONE.call(once, VALUE)];
    expect("one that comes later, too", calls, [Ok(6), Err(Error::Exhausted)]);
    unwrap();
    let calls = [six, once].map(|place| ONE.call(place, VALUE));
    expect("it has none afterwards", calls, [Err(Error::Exhausted); 2]);
    let methods = [VALUE, ADD, SUM].map(|method| ONE.call(weak, method).ok());
    expect("nor other methods", methods, [Some(60), None, Some(6)]);
    for place in [six, weak, once] {
        let _ = ONE.drop(place);
    }
    expect("it ends", BANK.melt(60), Ok(1));
    close(coin);
    say!("ok: somebody stands between");
}

/// A thread is on its way when it is taken back: it comes no further, and takes nothing of what comes after it.
pub fn on_the_way() {
    type End = fn(Grant<dyn Coin>, u64) -> Result<(), Error>;
    let ends: [End; 3] = [
        |grant, _| GRANTS.take_back(grant),
        |_, _| BANK.melt(61).map(drop),
        |_, place| ONE.drop(place),
    ];
    for (number, end) in ends.into_iter().enumerate() {
        for stays in [true, false] {
            let (coin, other) = (coin(61), coin(62));
            let (grant, place) = give(ONE, &coin, Rights::ALL.calls(5));
            wrap();
            behave(Manner::Wait);
            let before = BETWEEN.passed().map_or(0, |passed| passed.0);
            let call = |place: u64| {
                let called = ONE.call(place, VALUE);
                OUTCOME.store(called.map_or_else(Error::status, |value| value as i64), Relaxed);
            };
            OUTCOME.store(0, Relaxed);
            let thread = spawn(THREADS, &STACK, call, place, 40).expect("a thread");
            judge::wait_until(THREADS, || {
                BETWEEN.passed().is_ok_and(|passed| passed.0 == before + 1)
            });
            if !stays {
                unwrap();
            }
            expect("it ends", end(grant, place), Ok(()));
            // In the same place of the table of grants.
            let (_, next) = give(ONE, &other, Rights::ONCE);
            behave(Manner::Forward);
            let _ = thread.join();
            let outcome = Error::from_status(OUTCOME.load(Relaxed));
            expect(
                "it came no further",
                (number, stays, outcome),
                (number, stays, Error::NoPortal),
            );
            expect("nor at another's", ONE.call(next, VALUE), Ok(62));
            if stays {
                unwrap();
            }
            let _ = (ONE.drop(place), ONE.drop(next), BANK.melt(61), BANK.melt(62));
            close(coin);
            close(other);
        }
    }
    say!("ok: on its way");
}
