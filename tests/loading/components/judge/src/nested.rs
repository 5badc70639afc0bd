//! Those that load others, out of their own quotas.

use crate::harness::{self, Judge};
use crate::imports::{LOADER, SUPERVISOR};
use crate::{Opened, judge};
use cairn::Error;

fn is_there(name: &str) -> bool {
    judge::life(SUPERVISOR, name, |state, _| state == "alive").unwrap_or(false)
}

pub fn all(judge: &mut Judge) {
    judge.start();
    judge.expect("load", LOADER.load("nest3", "nest3").is_ok(), true);
    harness::wait_until(|| is_there("crowd"));
    for (name, number) in [("nest3", 3), ("nest2", 2), ("nest1", 1), ("crowd", 7)] {
        let found = Opened::of(name).and_then(|guest| guest.proxy().number());
        judge.expect(name, found, Ok(number));
    }
    // No one may end what another one has, but all that it had loaded.
    judge.expect("a grandchild", LOADER.unload("nest1"), Ok(()));
    judge.expect("with its own", (is_there("nest2"), is_there("crowd")), (true, false));
    judge.expect("the whole nest", LOADER.unload("nest3"), Ok(()));
    judge.expect("nothing is there", is_there("nest2"), false);
    judge.expect("load", LOADER.load("nest3", "nest3").is_ok(), true);
    harness::wait_until(|| is_there("crowd"));
    // One that faults for good takes its children with it.
    let nest2 = Opened::of("nest2").expect("it is open");
    judge.expect("a parent faults", nest2.proxy().fault(), Err(Error::Dead));
    harness::wait_until(|| !is_there("crowd"));
    drop(nest2);
    judge.expect("its child is gone", (is_there("nest1"), is_there("nest3")), (false, true));
    judge.expect("kill", SUPERVISOR.kill("nest3"), Ok(()));
    judge.expect("the dead can go", LOADER.unload("nest3"), Ok(()));
    judge.end("loaded in turn");

    judge.start();
    judge.expect("load", LOADER.load("greedy", "greedy").is_ok(), true);
    let opened = Opened::of("greedy").expect("it is open");
    let greedy = opened.proxy();
    let exhausted = Error::Exhausted.status();
    judge.expect("too much memory", greedy.load("guest", "much"), Ok(exhausted));
    judge.expect("a small one", greedy.load("crowd", "small"), Ok(0));
    judge.expect("one too many", greedy.load("crowd", "small2"), Ok(exhausted));
    let taken = greedy.take_pages(100);
    judge.expect("what it has left", taken.is_ok_and(|pages| pages < 24), true);
    judge.expect("its child ends", LOADER.unload("small"), Ok(()));
    judge.expect("and its memory is its own again", greedy.take_pages(100), Ok(24));
    judge.expect("so there is too little", greedy.load("crowd", "small"), Ok(exhausted));
    drop(opened);
    judge.expect("unload", LOADER.unload("greedy"), Ok(()));
    judge.end("within its quota");
    prepared(judge);
}

/// What was prepared and has not begun ends with its parent, which does not wait for it for ever.
fn prepared(judge: &mut Judge) {
    judge.start();
    judge.expect("load", LOADER.load("greedy", "greedy").is_ok(), true);
    let opened = Opened::of("greedy").expect("it is open");
    let greedy = opened.proxy();
    for life in ["first", "second"] {
        let prepare = || greedy.prepare("crowd", "waiting").map(|status| status == 0);
        judge.expect("a child that does not begin", (life, prepare()), (life, Ok(true)));
        judge.expect("it is its one child", (life, prepare()), (life, Ok(false)));
        judge.expect("it faults", (life, greedy.fault()), (life, Err(Error::Dead)));
        harness::wait_until(|| greedy.number().is_ok());
    }
    judge.expect("in its third life", greedy.prepare("crowd", "waiting"), Ok(0));
    drop(opened);
    judge.expect("unload", LOADER.unload("greedy"), Ok(()));
    judge.end("what was only prepared ends with its parent");
}
