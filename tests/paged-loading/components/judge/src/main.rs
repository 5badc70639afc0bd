//! Has components loaded whose pages others provide, and sees that each gets its own, and that nothing of them is left.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::component::Interface;
use cairn::text::Line;
use cairn::{Error, Object};
use cairn_interfaces as interfaces;
use cairn_test_hostile_contract::say;
use cairn_test_hostile_pager_contract::Deeds;
use cairn_test_loading_contract::Guest;
use cairn_test_paged_contract::{Probe, ProbeProxy};

const PAGE: u64 = 4096;
/// Pages of a guest's range, and of a reader's.
const PAGES: u64 = 16;
const COPIED: u64 = 8;

cairn::component! {
    name: "paged-loading-judge",
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
    arguments: { rounds: u64 = 100 },
    main: main,
}

use imports::{LOADER, PORTALS, SUPERVISOR};

cairn_test_hostile_contract::harness!();
use harness::Judge;

/// What is open of one that is loaded.
struct Opened<I: Interface + ?Sized>(Object<I>);

impl<I: Interface + ?Sized> Opened<I> {
    fn of(name: &str, export: &str) -> Opened<I> {
        let name = Line::<64>::of(format_args!("{name}.{export}"));
        Opened(PORTALS.open_object::<I>(name.text()).expect("it is open"))
    }
}

impl<I: Interface + ?Sized> Drop for Opened<I> {
    fn drop(&mut self) {
        PORTALS.close(self.0.first_portal().into()).expect("its block is there");
    }
}

fn probe(name: &str) -> Opened<dyn Probe> {
    Opened::of(name, "probe")
}

impl Opened<dyn Probe> {
    fn proxy(&self) -> ProbeProxy {
        self.0.proxy()
    }
}

/// Why the last load failed.
fn reason(buffer: &mut [u8]) -> &str {
    let length = LOADER.explain(buffer).unwrap_or(0);
    core::str::from_utf8(&buffer[..length]).unwrap_or("")
}

fn load(judge: &mut Judge, package: &str, name: &str) {
    let loaded = LOADER.load(package, name).map(drop);
    judge.expect(package, loaded, Ok(()));
    if loaded.is_err() {
        let mut text = [0; 192];
        say!("{}", reason(&mut text));
    }
}

fn unload(judge: &mut Judge, name: &str) {
    judge.expect(name, LOADER.unload(name), Ok(()));
}

fn main() {
    let mut judge = harness::begin();
    // What the first load makes for good, and the pager's first fault.
    load(&mut judge, "guest", "first");
    judge.expect("the first page", probe("first").proxy().load(0), Ok(0));
    unload(&mut judge, "first");
    lives(&mut judge);
    refused(&mut judge);
    limits(&mut judge);
    layered(&mut judge);
    hostile(&mut judge);
    gone(&mut judge);
    rounds(&mut judge);
    say!("paged-loading: done");
    let _ = SUPERVISOR.halt(judge.failed().min(255));
}

fn lives(judge: &mut Judge) {
    judge.start();
    load(judge, "guest", "one");
    load(judge, "guest", "two");
    let (first, second) = (probe("one"), probe("two"));
    let (one, two) = (first.proxy(), second.proxy());
    judge.expect("its range", one.size(), Ok(PAGES * PAGE));
    judge.expect("zeros", one.fill(PAGES, 11), Ok(0));
    judge.expect("what it wrote", one.fill(PAGES, 12), Ok(PAGES));
    judge.expect("another's", two.fill(PAGES, 13), Ok(0));
    judge.expect("they stay", one.load(15 * PAGE), Ok(12));
    judge.expect("behind it", one.load(PAGES * PAGE), Err(Error::Dead));
    harness::wait_until(|| one.size().is_ok());
    judge.expect("a new life", one.fill(PAGES, 14), Ok(0));
    judge.expect("the other lives on", two.load(0), Ok(13));
    unload(judge, "one");
    load(judge, "guest", "three");
    let third = probe("three");
    judge.expect("nothing of one before", third.proxy().fill(PAGES, 15), Ok(0));
    drop((first, second, third));
    unload(judge, "two");
    unload(judge, "three");
    judge.end("pages come when they are missed, in each life new ones");
}

fn refused(judge: &mut Judge) {
    judge.start();
    for (package, error) in [
        ("nobody", Error::NotFound),
        ("closed", Error::NotFound),
        ("reader", Error::NotFound),
        ("no-pager", Error::NotFound),
    ] {
        judge.expect(package, LOADER.load(package, "refused").map(drop), Err(error));
        judge.expect("why", reason(&mut [0; 192]).contains("pager"), true);
    }
    judge.expect("itself", LOADER.load("selfish", "itself").map(drop), Err(Error::NotFound));
    load(judge, "guest", "other");
    let refused = LOADER.load("no-pager", "refused").map(drop);
    judge.expect("what is no pager", refused, Err(Error::VersionMismatch));
    unload(judge, "other");
    load(judge, "private", "hidden");
    let refused = LOADER.load("closed", "refused").map(drop);
    judge.expect("what is not open", refused, Err(Error::NotAllowed));
    judge.expect("why", reason(&mut [0; 192]).contains("not open"), true);
    unload(judge, "hidden");
    judge.end("who has no pager is not loaded");
}

fn limits(judge: &mut Judge) {
    judge.start();
    load(judge, "wide", "wide");
    let wide = probe("wide");
    judge.expect("as many as it has places", wide.proxy().fill(PAGES, 1), Ok(0));
    judge.expect("one more", wide.proxy().load(PAGES * PAGE), Err(Error::Dead));
    drop(wide);
    unload(judge, "wide");
    let names = ["a", "b", "c", "d", "e"];
    names.iter().for_each(|name| load(judge, "guest", name));
    let opened = names.map(probe);
    let [a, b, c, d, e] = opened.each_ref().map(|one| one.proxy());
    for (name, one) in names.iter().zip([a, b, c, d]) {
        judge.expect(name, one.load(0), Ok(0));
    }
    judge.expect("a fifth client has no part", e.load(0), Err(Error::Dead));
    unload(judge, "d");
    harness::wait_until(|| e.size().is_ok());
    judge.expect("now it has", e.load(0), Ok(0));
    // There are fewer pages than places.
    let filled = [a, b, c, e].map(|one| one.fill(PAGES, 1));
    judge.expect("some got all", filled.iter().filter(|one| one.is_ok()).count() >= 2, true);
    judge.expect("and some died", filled.contains(&Err(Error::Dead)), true);
    judge.expect("who got some has them", a.load(PAGE), Ok(1));
    drop(opened);
    for name in ["a", "b", "c", "e"] {
        unload(judge, name);
    }
    judge.end("what a pager does not have it does not give");
}

/// The pager is loaded, and what it copies comes from another.
fn layered(judge: &mut Judge) {
    judge.start();
    load(judge, "copier", "copier");
    load(judge, "reader", "reader");
    load(judge, "reader", "second");
    let (one, two) = (probe("reader"), probe("second"));
    judge.expect("the original", one.proxy().load(3 * PAGE), Ok(0));
    judge.expect("copies", one.proxy().fill(COPIED, 21), Ok(0));
    judge.expect("another has its own", two.proxy().fill(COPIED, 22), Ok(0));
    judge.expect("they stay", one.proxy().load(3 * PAGE), Ok(21));
    // It is needed.
    judge.expect("the pager", LOADER.unload("copier"), Err(Error::Busy));
    judge.expect("restart", SUPERVISOR.restart("copier"), Ok(()));
    // When nobody is in it any more.
    harness::wait_until(|| one.proxy().load(3 * PAGE) == Err(Error::Dead));
    harness::wait_until(|| one.proxy().load(3 * PAGE).is_ok());
    judge.expect("a new life", one.proxy().load(3 * PAGE), Ok(0));
    drop((one, two));
    unload(judge, "second");
    unload(judge, "reader");
    unload(judge, "copier");
    judge.end("a pager that is loaded");
}

/// A pager that lies or dies hurts its users alone.
fn hostile(judge: &mut Judge) {
    judge.start();
    load(judge, "guest", "innocent");
    load(judge, "villain", "villain");
    load(judge, "victim", "victim");
    let (innocent, victim) = (probe("innocent"), probe("victim"));
    let villain = Opened::<dyn Deeds>::of("villain", "deeds");
    let deeds = villain.0.proxy();
    judge.expect("zero", innocent.proxy().fill(PAGES, 31), Ok(0));
    judge.expect("it behaves", victim.proxy().load(0), Ok(0));
    judge.expect("what is mapped stays", deeds.give_back().map(|status| status != 0), Ok(true));
    let (page, code, section) = deeds.places(1).expect("places");
    for address in [0, code, section, page + 8 * PAGE, !0xfff] {
        judge.expect("answer", deeds.answer(0, address | 3), Ok(()));
        judge.expect("not its own", victim.proxy().load(PAGE), Err(Error::Dead));
        harness::wait_until(|| victim.proxy().size().is_ok());
    }
    // The innocent one's range, its own number's, and none.
    for range in [0, 1, 3, u64::MAX] {
        let taken = deeds.unmap(range, 0, 1).map(|status| status == 0);
        judge.expect("another's range", taken, Ok(false));
    }
    judge.expect("behave", deeds.behave(), Ok(()));
    judge.expect("again", victim.proxy().load(PAGE), Ok(0));
    judge.expect("die", deeds.die(), Ok(()));
    judge.expect("it dies of a fault", victim.proxy().load(5 * PAGE), Err(Error::Dead));
    harness::wait_until(|| deeds.seen().is_ok());
    harness::wait_until(|| victim.proxy().size().is_ok());
    judge.expect("both live again", victim.proxy().load(5 * PAGE), Ok(0));
    judge.expect("never answer", deeds.keep(true), Ok(()));
    judge.expect("it is late", victim.proxy().load(6 * PAGE), Err(Error::Dead));
    judge.expect("nobody else noticed", innocent.proxy().fill(PAGES, 32), Ok(PAGES));
    drop((innocent, victim, villain));
    for name in ["victim", "villain", "innocent"] {
        unload(judge, name);
    }
    judge.end("a pager that lies or dies");
}

/// A pager ends with its parent, though others need it.
fn gone(judge: &mut Judge) {
    judge.start();
    load(judge, "parent", "parent");
    let parent = Opened::<dyn Guest>::of("parent", "guest");
    judge.expect("its child", parent.0.proxy().load("copier", "copier"), Ok(0));
    drop(parent);
    load(judge, "reader", "reader");
    let reader = probe("reader");
    judge.expect("pages", reader.proxy().fill(2, 41), Ok(0));
    judge.expect("the parent", LOADER.unload("parent"), Ok(()));
    judge.expect("a page that it had", reader.proxy().load(0), Err(Error::Dead));
    harness::wait_until(|| reader.proxy().size().is_ok());
    judge.expect("no page comes", reader.proxy().load(5 * PAGE), Err(Error::Dead));
    harness::wait_until(|| reader.proxy().size().is_ok());
    // Another of that name is another.
    load(judge, "copier", "copier");
    judge.expect("nor from another", reader.proxy().load(5 * PAGE), Err(Error::Dead));
    unload(judge, "copier");
    drop(reader);
    unload(judge, "reader");
    judge.end("a pager that goes for good");
}

fn rounds(judge: &mut Judge) {
    judge.start();
    for round in 0..arguments::rounds() {
        let layered = round % 4 == 3;
        if layered {
            load(judge, "copier", "copier");
        }
        load(judge, if layered { "reader" } else { "guest" }, "visitor");
        let visitor = probe("visitor");
        judge.expect("zeros", visitor.proxy().fill(COPIED, round + 1), Ok(0));
        drop(visitor);
        unload(judge, "visitor");
        if layered {
            unload(judge, "copier");
        }
    }
    judge.end("again and again");
}
