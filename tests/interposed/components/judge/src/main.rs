//! Puts components between the clerk and its till, under the clerk's calls.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod manners;

use cairn::thread::Stack;
use cairn::{Error, InstanceId, time};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_test_hostile_contract::{judge, say};
use cairn_test_interposed_contract::{Between, BetweenProxy};
use cairn_test_shared_contract::{Desk, Till};
use core::fmt::Debug;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "interposed-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        interposition: interfaces::Interposition,
        listing: interfaces::PortalListing,
        desk: Desk,
        till: Till,
        between_1: Between,
        between_2: Between,
        between_3: Between,
        between_4: Between,
        between_5: Between,
        between_6: Between,
        between_7: Between,
        between_8: Between,
    },
    arguments: { clerk: u64 },
    main: main,
}

use imports::{BETWEEN_1, CONSOLE, DESK, INTERPOSITION, LISTING, SUPERVISOR, THREADS, TILL};

const ROUNDS: u64 = 200;
/// Methods of a till.
const METHODS: u64 = 10;
const FIRST: &str = "between-1";

fn betweens() -> [(&'static str, BetweenProxy); 8] {
    [
        (FIRST, BETWEEN_1),
        ("between-2", imports::BETWEEN_2),
        ("between-3", imports::BETWEEN_3),
        ("between-4", imports::BETWEEN_4),
        ("between-5", imports::BETWEEN_5),
        ("between-6", imports::BETWEEN_6),
        ("between-7", imports::BETWEEN_7),
        ("between-8", imports::BETWEEN_8),
    ]
}

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

fn wait_until(condition: impl Fn() -> bool) {
    judge::wait_until(THREADS, condition);
}

static STACK: Stack<8192> = Stack::new();
static DEPOSITS: AtomicU64 = AtomicU64::new(0);
static LOST: AtomicU64 = AtomicU64::new(0);
static STOP: AtomicU64 = AtomicU64::new(0);

/// Deposits one after the other, and counts those that were not taken.
fn load(_: u64) {
    while STOP.load(Relaxed) == 0 {
        match DESK.deposit(1) {
            Ok(_) => DEPOSITS.fetch_add(1, Relaxed),
            Err(_) => LOST.fetch_add(1, Relaxed),
        };
    }
}

fn held() -> u64 {
    TILL.add(0).unwrap_or(0)
}

fn wrap(client: &str, server: &str, interposer: &str) -> Result<u64, Error> {
    INTERPOSITION.wrap(client, server, interposer, false)
}

fn unwrap(client: &str, server: &str, interposer: &str) -> Result<u64, Error> {
    INTERPOSITION.unwrap(client, server, interposer)
}

/// How many calls came by.
fn passed(between: BetweenProxy) -> u64 {
    between.passed().map_or(u64::MAX, |(count, _)| count)
}

/// Whether the listing of an instance's portals has a line that ends with this.
fn lists(instance: InstanceId, end: &str) -> bool {
    let (mut index, mut text) = (0, [0; 160]);
    while let Ok((length, found)) = LISTING.describe(instance, index, &mut text) {
        let line = core::str::from_utf8(&text[..length.min(text.len())]).unwrap_or("");
        if line.ends_with(end) {
            return true;
        }
        index = found + 1;
    }
    false
}

fn main() {
    wait_until(|| held() == 1000 && betweens().iter().all(|(_, one)| one.passed().is_ok()));
    wait_until(|| wrap("clerk", "teller", FIRST) != Err(Error::NotFound));
    let _ = unwrap("clerk", "teller", FIRST);
    expect("as described", DESK.check(), Ok(()));
    let described = LISTING.usage();
    one();
    eight();
    all();
    under_load();
    manners::all();
    refusals();
    expect("nothing is left of it", LISTING.usage(), described);
    // The last wait of the console's for an interrupt goes on through the interposer.
    interrupts();
    say!("interposed: done");
    let _ = SUPERVISOR.halt(0);
}

/// One that neither the clerk nor the teller notices.
fn one() {
    let clerk = InstanceId(arguments::clerk() as u16);
    expect("one between them", wrap("clerk", "teller", FIRST), Ok(METHODS));
    let before = passed(BETWEEN_1);
    expect("all as it should be", (DESK.check(), DESK.failed()), (Ok(()), Ok(0)));
    expect("all came by", passed(BETWEEN_1) - before, 12);
    expect("the listing says so", lists(clerk, "teller.till sum by between-1"), true);
    let mut line = [0; 64];
    let length = INTERPOSITION.rule(0, &mut line).unwrap_or(0);
    expect("as do the rules", &line[..length], &b"clerk teller between-1"[..]);
    expect("once", wrap("clerk", "teller", FIRST), Err(Error::Busy));
    expect("and gone", unwrap("clerk", "teller", FIRST), Ok(METHODS));
    let before = passed(BETWEEN_1);
    expect("as before", DESK.check(), Ok(()));
    expect("nothing came by", passed(BETWEEN_1), before);
    expect("the listing says that, too", lists(clerk, "teller.till sum"), true);
}

/// Each stands before the one that came before it.
fn eight() {
    for (name, _) in betweens() {
        if wrap("clerk", "teller", name) != Ok(METHODS) {
            expect("one more between", name, "");
        }
    }
    let before = betweens().map(|(_, one)| passed(one));
    expect("eight of them", DESK.check(), Ok(()));
    for ((name, one), before) in betweens().into_iter().zip(before) {
        if passed(one) - before != 12 {
            expect("calls that came by", (name, passed(one) - before), ("", 12));
        }
    }
    // The innermost, the outermost, those in the middle.
    for number in [0, 7, 3, 1, 5, 6, 2, 4] {
        let (name, _) = betweens()[number];
        if unwrap("clerk", "teller", name) != Ok(METHODS) || DESK.check() != Ok(()) {
            expect("one less", name, "");
        }
    }
    expect("none again", DESK.check(), Ok(()));
}

/// All servers of a client; all clients of a server.
fn all() {
    let portals = wrap("clerk", "", FIRST);
    expect("before all that the clerk calls", portals.is_ok_and(|count| count > METHODS), true);
    let before = passed(BETWEEN_1);
    expect("all as it should be", DESK.check(), Ok(()));
    // And its calls of the portal manager.
    expect("all came by", passed(BETWEEN_1) - before, 14);
    expect("and gone", unwrap("clerk", "", FIRST), portals);
    let own = u64::from(cairn::environment::startup().instance);
    let (second, between) = betweens()[1];
    expect("before all who call the teller", wrap("", "teller", second), Ok(2 * METHODS));
    let before = passed(between);
    expect("each is itself", (TILL.who(), DESK.check()), (Ok(own), Ok(())));
    expect("all came by", passed(between) - before, 13);
    expect("and gone", unwrap("", "teller", second), Ok(2 * METHODS));
}

/// What a driver waits for, and takes on, is called through portals, too.
fn interrupts() {
    let portals = wrap("console", "scheduler", FIRST);
    expect("before what the console waits for", portals.is_ok_and(|count| count >= 4), true);
    expect("and before what it takes on", wrap("console", "interrupts", FIRST), Ok(1));
    let before = passed(BETWEEN_1);
    for line in 0..20 {
        say!("the console says {line}, and has interrupts for it");
    }
    expect("its interrupts came by", passed(BETWEEN_1) > before + 20, true);
    expect("no more", unwrap("console", "interrupts", FIRST), Ok(1));
    expect("and gone", unwrap("console", "scheduler", FIRST), portals);
    let before = passed(BETWEEN_1);
    say!("the console says it alone");
    expect("no interrupt came by", passed(BETWEEN_1), before);
}

fn under_load() {
    let free = LISTING.usage();
    let before = held();
    let worker = spawn(THREADS, &STACK, load, 0, 45).expect("the quota has room");
    let count = passed(BETWEEN_1);
    for round in 0..ROUNDS {
        let (name, _) = betweens()[round as usize % 3];
        if wrap("clerk", "teller", name) != Ok(METHODS) {
            expect("a wrap under load", round, u64::MAX);
        }
        let _ = THREADS.sleep_until(time::now() + time::ticks(50));
        if unwrap("clerk", "teller", name) != Ok(METHODS) {
            expect("an unwrap under load", round, u64::MAX);
        }
    }
    STOP.store(1, Relaxed);
    let _ = worker.join();
    expect("no call is lost", LOST.load(Relaxed), 0);
    expect("all were taken", held() - before, DEPOSITS.load(Relaxed));
    expect("some came by", passed(BETWEEN_1) > count, true);
    // What was on its way.
    expect(
        "swept",
        wrap("clerk", "teller", FIRST).and(unwrap("clerk", "teller", FIRST)),
        Ok(METHODS),
    );
    expect("nothing is left of it", LISTING.usage(), free);
}

fn refusals() {
    expect("who registered nothing", wrap("clerk", "judge", "teller"), Err(Error::NotFound));
    expect("of nobody", wrap("nobody", "teller", FIRST), Err(Error::BadArgument));
    expect("to nobody", wrap("clerk", "nobody", FIRST), Err(Error::BadArgument));
    expect("by nobody", wrap("clerk", "teller", "nobody"), Err(Error::BadArgument));
    expect("of all to all", wrap("", "", FIRST), Err(Error::BadArgument));
    expect("of the scheduler", wrap("scheduler", "teller", FIRST), Err(Error::NotAllowed));
    expect("of the supervisor", wrap("supervisor", "", FIRST), Err(Error::NotAllowed));
    expect("by the scheduler", wrap("clerk", "teller", "scheduler"), Err(Error::NotSupported));
    expect("its own", wrap("clerk", "teller", "clerk"), Err(Error::BadArgument));
    expect("what is not there", unwrap("clerk", "teller", FIRST), Err(Error::NotFound));
}
