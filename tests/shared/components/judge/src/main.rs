//! Asks the clerk and the teller, lets one of them die, and sees what becomes of both.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::{Error, environment};
use cairn_interfaces as interfaces;
use cairn_test_hostile_contract::{judge, say};
use cairn_test_shared_contract::{Desk, Till};
use core::fmt::Debug;

cairn::component! {
    name: "shared-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        desk: Desk,
        till: Till,
    },
    main: main,
}

use imports::{CONSOLE, DESK, SUPERVISOR, THREADS, TILL};

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

fn wait_until(condition: impl Fn() -> bool) {
    judge::wait_until(THREADS, condition);
}

/// How often the supervisor says that an instance was started again, and whether it is alive.
fn life(name: &str) -> Option<(bool, u64)> {
    judge::life(SUPERVISOR, name, |state, restarts| (state == "alive", restarts))
}

/// Both live for the so-manieth time, and are as at the beginning of a life.
fn expect_life(what: &str, restarts: u64) {
    let both = || (life("clerk"), life("teller"));
    let expected = Some((true, restarts));
    wait_until(|| both() == (expected, expected) && DESK.begun() == Ok((1, 1000)));
    expect(what, both(), (expected, expected));
    expect(what, DESK.begun(), Ok((1, 1000)));
}

fn main() {
    wait_until(|| DESK.begun() == Ok((1, 1000)));
    expect("the clerk reaches the till", DESK.check(), Ok(()));
    expect("nothing failed", DESK.failed(), Ok(0));
    expect("the till holds what came from the desk", DESK.deposit(11), Ok(1000));
    expect("the till's own callers see it", TILL.add(0), Ok(1011));
    expect("memory of a caller of both", DESK.sum(&[3; 100]), Ok(300));
    let own = u64::from(environment::startup().instance);
    expect("a caller from elsewhere", TILL.who(), Ok(own));
    expect("an import by its index", TILL.page_by_index(), Ok(()));
    let notice = environment::section("notice").expect("the description maps it");
    notice.store(0, 5);
    expect("a section of one", DESK.write_notice(6), Ok(5));
    expect("is the same of the other", TILL.notice(), Ok(6));
    expect("and outside", notice.load(0), 6);
    expect("imports that can be left out", DESK.options(), Ok((false, 7)));
    expect("arguments", TILL.given(), Ok((65536, -7, true)));
    // A quota is each one's own.
    let taken = DESK.take_pages(1000).unwrap_or(0);
    expect("the clerk's quota ends", (1..100).contains(&taken), true);
    expect("the teller's does not", TILL.take_pages(4), Ok(4));
    expect("the teller's ends elsewhere", TILL.take_pages(1000).is_ok_and(|got| got > taken), true);
    expect("a fault of one is the end of a call of the other", DESK.break_till(), Err(Error::Dead));
    expect_life("both live again", 1);
    expect("the clerk reaches the till again", DESK.check(), Ok(()));
    expect("what both had is free again", DESK.take_pages(1000), Ok(taken));
    expect("a fault in a call from elsewhere", TILL.break_down(), Err(Error::Dead));
    expect_life("both live once more", 2);
    expect("one is killed by name", SUPERVISOR.kill("teller"), Ok(()));
    wait_until(|| life("clerk").is_some_and(|(alive, _)| !alive));
    expect("the other is dead", DESK.deposit(1), Err(Error::Dead));
    expect("the other starts again by name", SUPERVISOR.restart("clerk"), Ok(()));
    expect_life("both were started", 3);
    expect("one loses its memory", SUPERVISOR.crash("clerk"), Ok(()));
    expect("the other has none", TILL.add(0), Err(Error::Dead));
    expect_life("both have it again", 4);
    say!("shared: done");
    let _ = SUPERVISOR.halt(0);
}
