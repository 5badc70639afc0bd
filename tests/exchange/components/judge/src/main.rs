//! Exchanges what the clerk calls, under its calls.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::{Error, InstanceId, time};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_test_hostile_contract::{judge, say};
use cairn_test_shared_contract::{Desk, Till};
use core::fmt::Debug;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "exchange-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        connections: interfaces::Connections,
        listing: interfaces::PortalListing,
        desk: Desk,
        till: Till,
        other: Till,
    },
    arguments: { clerk: u64, scheduler: u64 },
    main: main,
}

use imports::{CONNECTIONS, CONSOLE, DESK, LISTING, OTHER, SUPERVISOR, THREADS, TILL};

const ROUNDS: u64 = 300;

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

fn held() -> (u64, u64) {
    (TILL.add(0).unwrap_or(0), OTHER.add(0).unwrap_or(0))
}

fn main() {
    let clerk = InstanceId(arguments::clerk() as u16);
    let scheduler = InstanceId(arguments::scheduler() as u16);
    let exchange = |from: &str, to: &str| CONNECTIONS.exchange(clerk, from, to);
    wait_until(|| held() == (1000, 1000));
    expect("as described", DESK.deposit(1), Ok(1000));
    expect("exchanged", exchange("teller.till", "spare.till"), Ok(()));
    expect("the other till takes it", DESK.deposit(5), Ok(1000));
    expect("each has its own", held(), (1001, 1005));
    expect("and back", exchange("teller.till", "teller.till"), Ok(()));
    expect("as described again", DESK.deposit(1), Ok(1001));
    expect("twice back is back", exchange("teller.till", "teller.till"), Ok(()));

    let free = LISTING.usage();
    let before = held();
    let worker = spawn(THREADS, &STACK, load, 0, 45).expect("the quota has room");
    for round in 0..ROUNDS {
        let to = if round % 3 == 2 { "teller.till" } else { "spare.till" };
        if exchange("teller.till", to) != Ok(()) {
            expect("an exchange under load", round, u64::MAX);
        }
        let _ = THREADS.sleep_until(time::now() + time::ticks(50));
    }
    STOP.store(1, Relaxed);
    let _ = worker.join();
    let after = held();
    let deposits = DEPOSITS.load(Relaxed);
    expect("no call is lost", LOST.load(Relaxed), 0);
    expect("all were taken", (after.0 - before.0) + (after.1 - before.1), deposits);
    expect("by one and the other", after.0 > before.0 && after.1 > before.1, true);
    expect("nothing is left of it", exchange("teller.till", "teller.till"), Ok(()));
    expect("nothing is left of it", LISTING.usage(), free);

    expect("once more", exchange("teller.till", "spare.till"), Ok(()));
    expect("the other ends", SUPERVISOR.kill("spare"), Ok(()));
    expect("its death is its caller's error", DESK.deposit(0), Err(Error::Dead));
    expect("who is exchanged then", exchange("teller.till", "teller.till"), Ok(()));
    expect("as described", DESK.deposit(0), Ok(after.0));
    expect("the dead are not connected", exchange("teller.till", "spare.till"), Err(Error::Dead));
    expect("it starts again", SUPERVISOR.restart("spare"), Ok(()));
    wait_until(|| held() == (after.0, 1000));
    expect("and is connected", exchange("teller.till", "spare.till"), Ok(()));
    expect("the client starts again", SUPERVISOR.restart("clerk"), Ok(()));
    wait_until(|| DESK.deposit(0).is_ok());
    expect("as described", DESK.deposit(0), Ok(after.0));

    expect(
        "another interface",
        exchange("teller.till", "clock.clock"),
        Err(Error::VersionMismatch),
    );
    expect("no such export", exchange("teller.till", "teller.tell"), Err(Error::NotFound));
    expect("not open to it", exchange("teller.till", "secret.till"), Err(Error::NotAllowed));
    expect("no such connection", exchange("spare.till", "teller.till"), Err(Error::NotFound));
    let its_own = CONNECTIONS.exchange(scheduler, "teller.till", "spare.till");
    expect("of who runs to completion", its_own.is_err(), true);
    let nobody = CONNECTIONS.exchange(InstanceId(200), "teller.till", "spare.till");
    expect("of nobody", nobody, Err(Error::BadArgument));
    say!("exchange: done");
    let _ = SUPERVISOR.halt(0);
}
