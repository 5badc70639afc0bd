//! A counter is replaced by a newer one, which serves an interface more; and an adaptor lets its old clients go on with one that means something else.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::{Error, Object};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_test_hostile_contract::{judge, say};
use cairn_test_newer_contract::{Counter, Counter2};
use core::fmt::Debug;
use core::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};

cairn::component! {
    name: "newer-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        portals: interfaces::Portals,
        interposition: interfaces::Interposition,
        loader: interfaces::Loader,
        replacement: interfaces::Replacement,
        counter: Counter,
        other: Counter,
    },
    main: main,
}

use imports::{
    CONSOLE, COUNTER, INTERPOSITION, LOADER, OTHER, PORTALS, REPLACEMENT, SUPERVISOR, THREADS,
};

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

fn replace(package: &str) -> Result<(), Error> {
    REPLACEMENT.replace("counter", package, 200).map(drop)
}

fn open(name: &str) -> Result<Object<dyn Counter2>, Error> {
    PORTALS.open_object::<dyn Counter2>(name)
}

fn opened() -> Object<dyn Counter2> {
    open("counter.counter2").expect("it is open")
}

/// What a thread finds that calls the newer interface until it finds an error, and whether it does.
static ENDED: AtomicI64 = AtomicI64::new(0);
static CALLS: AtomicBool = AtomicBool::new(false);
static STACK: Stack<8192> = Stack::new();

/// Calls all the time, so that it is among those who wait when a replacement is through.
fn call(_: u64) {
    let newer = opened();
    let ended = loop {
        if let Err(error) = newer.proxy().add_times(0, 0) {
            break error;
        }
        CALLS.store(true, Relaxed);
    };
    ENDED.store(ended as i64, Relaxed);
    let _ = PORTALS.close(newer.first_portal().into());
}

fn main() {
    comes();
    goes();
    adapts();
    let _ = SUPERVISOR.halt(0);
}

/// An interface more, and what is none.
fn comes() {
    expect("it counts", COUNTER.add(40), Ok(40));
    expect("there is none yet", open("counter.counter2").err(), Some(Error::NotFound));
    expect("nor for an import", LOADER.load("user", "user").err(), Some(Error::NotFound));
    expect("one that does not take the state", replace("refuses"), Err(Error::VersionMismatch));
    expect("leaves nothing", open("counter.counter2").err(), Some(Error::NotFound));
    let crowded = REPLACEMENT.replace("other", "second", 200).err();
    expect("one that has no room for more", crowded, Some(Error::TooLarge));
    expect("goes on", OTHER.add(1), Ok(1));
    expect("the newer one", replace("second"), Ok(()));
    expect("the old interface", COUNTER.add(1), Ok(41));
    let newer = opened();
    expect("the new one", newer.proxy().add_times(3, 3), Ok(50));
    let cell = newer.proxy().cell(PORTALS).expect("there is room");
    expect("its objects", cell.proxy().add(7), Ok(7));
    let hidden = open("counter.hidden").err();
    expect("what its package opens to nobody", hidden, Some(Error::NotAllowed));
    for round in 0..20 {
        expect("by itself", replace("second"), Ok(()));
        expect("the same portals", newer.proxy().add_times(1, 1), Ok(51 + round));
    }
    expect("one that refuses", replace("refuses"), Err(Error::VersionMismatch));
    expect("the new interface stays", newer.proxy().add_times(0, 0), Ok(70));
    say!("ok: a newer interface");
}

/// Back to a component that does not have it.
fn goes() {
    let newer = opened();
    let cell = newer.proxy().cell(PORTALS).expect("there is room");
    expect("an import", LOADER.load("user", "user").map(drop), Ok(()));
    expect("keeps it", replace("first"), Err(Error::VersionMismatch));
    expect("for its client", newer.proxy().add_times(0, 0), Ok(70));
    expect("until that goes", LOADER.unload("user"), Ok(()));
    spawn(THREADS, &STACK, call, 0, 90).expect("a thread");
    judge::wait_until(THREADS, || CALLS.load(Relaxed));
    expect("the older one", replace("first"), Ok(()));
    expect("the old interface", COUNTER.add(1), Ok(71));
    judge::wait_until(THREADS, || ENDED.load(Relaxed) != 0);
    expect("who waited", ENDED.load(Relaxed), Error::NoPortal as i64);
    expect("the new one", newer.proxy().add_times(3, 3), Err(Error::NoPortal));
    expect("its objects", cell.proxy().add(7), Err(Error::NoPortal));
    expect("is not there", open("counter.counter2").err(), Some(Error::NotFound));
    expect("is not served", open("counter.hidden").err(), Some(Error::NotFound));
    expect("the newer one", replace("second"), Ok(()));
    expect("is opened anew", newer.proxy().add_times(3, 3), Err(Error::NoPortal));
    let newer = opened();
    expect("with the state", newer.proxy().add_times(3, 3), Ok(80));
    expect("it starts again", SUPERVISOR.restart("counter"), Ok(()));
    let starts = || newer.proxy().add_times(0, 0).is_ok() || open("counter.counter2").is_ok();
    judge::wait_until(THREADS, starts);
    expect("anew", opened().proxy().add_times(2, 2), Ok(4));
    say!("ok: an interface less");
}

/// A component in between for those who know the old meaning.
fn adapts() {
    let newer = opened();
    // From now on it counts in hundredths, says whoever made it; its old clients know nothing of that.
    expect("an adaptor", INTERPOSITION.wrap("", "counter/Counter", "adaptor", false), Ok(1));
    expect("in hundredths", newer.proxy().add_times(96, 1), Ok(100));
    expect("in ones", COUNTER.add(2), Ok(3));
    expect("in hundredths", newer.proxy().add_times(0, 0), Ok(300));
    expect("replaced behind it", replace("second"), Ok(()));
    expect("in ones", COUNTER.add(1), Ok(4));
    expect("and gone", INTERPOSITION.unwrap("", "counter/Counter", "adaptor"), Ok(1));
    expect("in hundredths", COUNTER.add(1), Ok(401));
    say!("ok: an adaptor");
}
