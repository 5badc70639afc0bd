//! Has components loaded, and sees that they do what they should, and that nothing of them is left.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod failures;
mod many;
mod nested;

use cairn::{Error, Object};
use cairn_interfaces as interfaces;
use cairn_test_hostile_contract::{judge, say};
use cairn_test_loading_contract::{Guest, GuestProxy};

cairn::component! {
    name: "loading-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        portals: interfaces::Portals,
        loader: interfaces::Loader,
        scheduling: interfaces::SchedulerStatistics,
        usage: interfaces::MemoryStatistics,
        code: interfaces::PortalListing,
        names: interfaces::Names,
    },
    arguments: {
        rounds: u64 = 200,
        crowd: u64 = 200,
    },
    main: main,
}

use imports::{LOADER, PORTALS, SUPERVISOR};

cairn_test_hostile_contract::harness!();
use harness::Judge;

/// A guest that is open.
struct Opened(Object<dyn Guest>);

impl Opened {
    fn of(name: &str) -> Result<Opened, Error> {
        let mut buffer = [0; 40];
        let length = name.len() + 6;
        buffer[..name.len()].copy_from_slice(name.as_bytes());
        buffer[name.len()..length].copy_from_slice(b".guest");
        let name = core::str::from_utf8(&buffer[..length]).map_err(|_| Error::Malformed)?;
        PORTALS.open_object::<dyn Guest>(name).map(Opened)
    }

    fn proxy(&self) -> GuestProxy {
        self.0.proxy()
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        PORTALS.close(self.0.first_portal().into()).expect("its block is there");
    }
}

fn main() {
    let mut judge = harness::begin();
    one(&mut judge);
    failures::all(&mut judge);
    faults(&mut judge);
    nested::all(&mut judge);
    many::all(&mut judge);
    say!("loading: done");
    let _ = SUPERVISOR.halt(judge.failed().min(255));
}

/// One is loaded, called, and unloaded, several times.
fn one(judge: &mut Judge) {
    // What the first load makes for good: the loader's lock, and portals to those it calls.
    let _ = LOADER.load("guest", "first");
    judge.expect("unload the first", LOADER.unload("first"), Ok(()));
    judge.start();
    for _ in 0..3 {
        judge.expect("load", LOADER.load("guest", "visitor").is_ok(), true);
        let guest = Opened::of("visitor").expect("it is open to all");
        let guest = guest.proxy();
        judge.expect("its argument", guest.number(), Ok(11));
        judge.expect("its data", (guest.count(), guest.count()), (Ok(101), Ok(102)));
        judge.expect("itself", guest.itself(), Ok((0, true)));
        judge.expect("small data", guest.sum(&[1; 40]), Ok(40));
        judge.expect("windows", guest.sum(&[2; 2000]), Ok(4000));
        let own = cairn::environment::startup().instance;
        judge.expect("its caller", guest.who(), Ok(own.into()));
        let pages = guest.take_pages(100);
        judge.expect("pages", pages.is_ok_and(|pages| (1..32).contains(&pages)), true);
        let life = judge::life(SUPERVISOR, "visitor", |state, _| state == "alive");
        judge.expect("it is listed", life, Some(true));
        judge.expect("unload", LOADER.unload("visitor"), Ok(()));
        judge.expect("it is gone", guest.count(), Err(Error::NoPortal));
        judge.expect("its name too", Opened::of("visitor").map(drop), Err(Error::NotFound));
    }
    judge.end("loaded, called, unloaded");
}

/// One faults: it is started again, with its imports, and is unloaded all the same.
fn faults(judge: &mut Judge) {
    judge.start();
    judge.expect("load", LOADER.load("guest", "frail").is_ok(), true);
    let opened = Opened::of("frail").expect("it is open");
    let guest = opened.proxy();
    for life in 0..3 {
        judge.expect("its data are new", guest.count(), Ok(101));
        judge.expect("itself", guest.itself(), Ok((life, true)));
        judge.expect("it takes pages", guest.take_pages(1), Ok(1));
        judge.expect("it faults", guest.fault(), Err(Error::Dead));
        harness::wait_until(|| guest.number().is_ok());
    }
    judge.expect("unload", LOADER.unload("frail"), Ok(()));
    drop(opened);
    judge.expect(
        "load the one that is started by a call",
        LOADER.load("demand", "late").is_ok(),
        true,
    );
    let asleep = judge::life(SUPERVISOR, "late", |state, _| state == "asleep");
    judge.expect("it sleeps", asleep, Some(true));
    let opened = Opened::of("late").expect("it is open");
    judge.expect("it wakes", opened.proxy().number(), Ok(7));
    judge.expect("unload", LOADER.unload("late"), Ok(()));
    drop(opened);
    judge.end("it faults and lives again");
}
