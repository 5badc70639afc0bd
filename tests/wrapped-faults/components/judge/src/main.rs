//! Puts components between the page faults of a victim and its pager, good ones and bad ones.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::{Error, InstanceId};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_test_hostile_contract::{judge, say};
use cairn_test_interposed_contract::{Between, BetweenProxy, Manner};
use cairn_test_paged_contract::Probe;
use core::fmt::Debug;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "wrapped-faults-judge",
    imports: {
        console: interfaces::Console,
        supervisor: interfaces::Supervisor,
        threads: interfaces::Threads,
        interposition: interfaces::Interposition,
        listing: interfaces::PortalListing,
        victim: Probe,
        innocent: Probe,
        first: Between,
        second: Between,
    },
    arguments: { first: u64 },
    main: main,
}

use imports::{
    CONSOLE, FIRST, INNOCENT, INTERPOSITION, LISTING, SECOND, SUPERVISOR, THREADS, VICTIM,
};

const PAGE: u64 = 4096;
/// Of the victim's section.
const PAGES: u64 = 40;

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

fn wait_until(condition: impl Fn() -> bool) {
    if !judge::wait_until(THREADS, condition) {
        say!("FAILED it takes too long");
    }
}

fn wrap(client: &str, interposer: &str) -> Result<u64, Error> {
    INTERPOSITION.wrap(client, "zero", interposer, false)
}

fn unwrap(client: &str, interposer: &str) -> Result<u64, Error> {
    INTERPOSITION.unwrap(client, "zero", interposer)
}

fn passed(between: BetweenProxy) -> u64 {
    between.passed().map_or(u64::MAX, |(count, _)| count)
}

fn behave(manner: Manner) {
    wait_until(|| FIRST.behave(manner).is_ok());
}

/// In another life the victim has none of its pages.
fn restart() {
    expect("the victim starts again", SUPERVISOR.restart("victim"), Ok(()));
    wait_until(|| VICTIM.size().is_ok());
}

/// It misses a page, and dies of it.
fn dies(what: &str, page: u64) {
    expect(what, VICTIM.store(page * PAGE, 1), Err(Error::Dead));
    wait_until(|| VICTIM.size().is_ok());
    expect("who has nothing to do with it", INNOCENT.load(8), Ok(77));
}

fn main() {
    wait_until(|| VICTIM.size() == Ok(PAGES * PAGE));
    wait_until(|| wrap("victim", "first").is_ok() && wrap("victim", "second").is_ok());
    let _ = (unwrap("victim", "first"), unwrap("victim", "second"));
    INNOCENT.store(8, 77).expect("a page");
    // The pager has the lock that it makes when it first needs it.
    restart();
    expect("as described", VICTIM.fill(PAGES, 1), Ok(0));
    let described = LISTING.usage();
    nobody_notices();
    two();
    in_the_kernel();
    it_can_only_refuse();
    deaths();
    never();
    expect("nothing is left of it", LISTING.usage(), described);
    restart();
    expect("the pager is asked", VICTIM.fill(PAGES, 1), Ok(0));
    say!("wrapped-faults: done");
    let _ = SUPERVISOR.halt(0);
}

/// Each page that is missed comes by, with all that there is to know of it.
fn nobody_notices() {
    expect("before the victim's", wrap("victim", "first"), Ok(1));
    expect("once", wrap("victim", "first"), Err(Error::Busy));
    restart();
    let before = passed(FIRST);
    expect("pages that are zero", VICTIM.fill(PAGES, 5), Ok(0));
    expect("and stay", VICTIM.load(3 * PAGE), Ok(5));
    // Each is read before it is written, and has both rights then.
    expect("nobody notices", passed(FIRST) - before, PAGES);
    let other = INNOCENT.load(PAGE);
    expect("another's do not come by", (other, passed(FIRST) - before), (Ok(0), PAGES));
    let (_, index) = FIRST.passed().unwrap_or_default();
    let (own, mut text) = (InstanceId(arguments::first() as u16), [0; 160]);
    let (length, _) = LISTING.describe(own, index, &mut text).unwrap_or_default();
    let line = core::str::from_utf8(&text[..length.min(text.len())]).unwrap_or("");
    expect("the listing says so", line, "npc=tiiii zero.pager page_fault for victim");
    expect("and gone", unwrap("victim", "first"), Ok(1));
    restart();
    let before = passed(FIRST);
    expect("as before", VICTIM.fill(PAGES, 5), Ok(0));
    expect("nothing comes by", passed(FIRST), before);
}

/// One before the other; they are taken away in either order. All clients of the pager, as well.
fn two() {
    for (one, other) in [("first", "second"), ("second", "first")] {
        expect("one", wrap("victim", "first"), Ok(1));
        expect("before it", wrap("", "second"), Ok(1));
        restart();
        let before = (passed(FIRST), passed(SECOND));
        let filled = VICTIM.fill(PAGES, 6);
        let came = (passed(FIRST) - before.0, passed(SECOND) - before.1);
        expect("two of them", (filled, came), (Ok(0), (PAGES, PAGES)));
        let client = |name| if name == "first" { "victim" } else { "" };
        expect("one less", unwrap(client(one), one).is_ok(), true);
        restart();
        let left = if one == "first" { SECOND } else { FIRST };
        let before = passed(left);
        expect("one of them", (VICTIM.fill(PAGES, 6), passed(left) - before), (Ok(0), PAGES));
        expect("none", unwrap(client(other), other).is_ok(), true);
        expect("all as it should be", VICTIM.load(0), Ok(6));
    }
}

/// A pager in the kernel domain.
fn in_the_kernel() {
    let wrapped = INTERPOSITION.wrap("", "deep/Pager", "second", false);
    expect("before the other pager", wrapped, Ok(1));
    let before = passed(SECOND);
    let filled = (2..8).map(|page| INNOCENT.store(page * PAGE, page));
    expect("its pages", filled.filter(Result::is_ok).count(), 6);
    expect("one in the kernel domain", passed(SECOND) - before, 6);
    expect("whose pages stay", (INNOCENT.load(3 * PAGE), INNOCENT.load(8)), (Ok(3), Ok(77)));
    expect("and gone", INTERPOSITION.unwrap("", "deep/Pager", "second"), Ok(1));
}

/// Whatever an interposer says of a fault, the pager is asked for what was missed, and what that answers is mapped.
fn it_can_only_refuse() {
    expect("before it", wrap("victim", "first"), Ok(1));
    for manner in [Manner::Change, Manner::Repeat, Manner::Forward] {
        restart();
        behave(manner);
        expect("whatever it says", VICTIM.fill(PAGES, 7), Ok(0));
        expect("the page is the victim's", VICTIM.load(9 * PAGE), Ok(7));
    }
    expect("and the other's is not", (INNOCENT.load(8), INNOCENT.load(9 * PAGE)), (Ok(77), Ok(0)));
    behave(Manner::Drop);
    restart();
    dies("who is refused dies", 2);
    behave(Manner::Later);
    expect("a page", VICTIM.store(2 * PAGE, 1), Ok(()));
    wait_until(|| FIRST.later().is_ok_and(|answer| answer != 1 << 32));
    let refused = Error::NotAllowed.status() as u64;
    expect("which nobody asks for when it is over", FIRST.later(), Ok(refused));
}

/// The interposer dies before it has asked, or behind it; then the pager does.
fn deaths() {
    for (manner, page) in [(Manner::DieBefore, 3), (Manner::DieBehind, 4)] {
        behave(manner);
        dies("it dies with a fault", page);
        wait_until(|| FIRST.passed().is_ok());
        let before = passed(FIRST);
        expect("in its next life it stands there", VICTIM.store(page * PAGE, 1), Ok(()));
        expect("and is asked", passed(FIRST) - before, 1);
    }
    expect("the interposer is killed", SUPERVISOR.kill("first"), Ok(()));
    dies("while it is dead", 5);
    expect("it starts again", SUPERVISOR.restart("first"), Ok(()));
    wait_until(|| FIRST.passed().is_ok());
    expect("a page", VICTIM.store(5 * PAGE, 1), Ok(()));
    expect("the pager starts again", SUPERVISOR.restart("zero"), Ok(()));
    dies("what a dead pager had is lost", 5);
    wait_until(|| VICTIM.store(5 * PAGE, 1).is_ok());
    // One without which the victim gets along.
    let wrapped = INTERPOSITION.wrap("victim", "zero", "second", true);
    expect("another, for as long as it lives", wrapped, Ok(1));
    expect("it is told", SECOND.behave(Manner::DieBefore), Ok(()));
    dies("it dies with a fault", 6);
    wait_until(|| SECOND.passed().is_ok());
    let before = passed(SECOND);
    expect("a page", VICTIM.store(6 * PAGE, 1), Ok(()));
    expect("without it", passed(SECOND), before);
}

static STACK: Stack<8192> = Stack::new();
static ANSWER: AtomicU64 = AtomicU64::new(0);

fn miss(page: u64) {
    let answer = VICTIM.store(page * PAGE, 1);
    ANSWER.store(u64::from(answer == Err(Error::Dead)) + 1, Relaxed);
}

/// It never answers, or lets the victim miss the same page for ever: who is killed comes home.
fn never() {
    for manner in [Manner::Keep, Manner::Pretend] {
        behave(manner);
        restart();
        ANSWER.store(0, Relaxed);
        let before = passed(FIRST);
        let thread = spawn(THREADS, &STACK, miss, 7, 40).expect("the quota has room");
        wait_until(|| passed(FIRST) > before);
        judge::pause(THREADS, 2000);
        expect("it is kept", ANSWER.load(Relaxed), 0);
        expect("it is killed", SUPERVISOR.kill("victim"), Ok(()));
        let _ = thread.join();
        expect("who never answers dies with it", ANSWER.load(Relaxed), 2);
        behave(Manner::Forward);
        expect("it starts again", SUPERVISOR.restart("victim"), Ok(()));
        wait_until(|| VICTIM.size().is_ok());
        expect("a page", VICTIM.store(7 * PAGE, 1), Ok(()));
    }
    // While a thread is in it.
    expect("and gone", unwrap("victim", "first"), Ok(1));
}
