//! The attacks: each resource is taken by all others, then the judge asks for its part.

use crate::harness::{Judge, pause};
use crate::imports::{self, CLOCK, CONSOLE, MEMORY, PORTALS, SUPERVISOR, THREADS};
use crate::{TAKERS, Takers, taker_name};
use cairn::InstanceId;
use cairn::abi::address::PAGE_SIZE;
use cairn::measure::Stamp;
use cairn::{Error, Object, environment};
use cairn_interfaces::{Terminal, Timer};
use cairn_test_hostile_contract::say;
use cairn_test_hostile_parts::deed;
use core::sync::atomic::Ordering::Relaxed;

/// Timers of a client.
const TIMERS: usize = 4;
/// Sections that a domain can map at a time.
const SECTIONS: usize = 8;
/// Terminals of a client.
const TERMINALS: usize = 2;
/// The emulator's clock counts instructions, a nanosecond each; a tick is 100.
const INSTRUCTIONS_OF_TICK: i64 = 100;
const FOR_EVER: u64 = 10_000_000_000_000_000_000;
/// Takers that die in debt.
const DEBTORS: usize = 2;
/// More pages than half of the judge's quota.
const MANY_PAGES: u64 = 130;

pub fn all(judge: &mut Judge, takers: &Takers) {
    // The stacks of what it opened itself are a client's own, and count for it.
    takers.all(judge, "takers", deed::DOMAIN, 0);
    let free = Prices::measure(judge);
    judge.start();
    timers(judge, takers);
    debts(judge, takers);
    sections(judge, takers);
    accomplices(judge, takers);
    partners(judge, takers);
    terminals(judge, takers);
    prices(judge, takers, free);
}

fn close(judge: &mut Judge, name: &str, first: u32) {
    judge.expect(name, PORTALS.close(first.into()), Ok(()));
}

fn timers(judge: &mut Judge, takers: &Takers) {
    let name = "timers: what others take";
    takers.all(judge, name, deed::TIMERS, 16);
    longest_of_timers(judge, name);
    judge.passed(name);
}

/// Instructions of the shortest of some calls: no interrupt was in it.
fn shortest(mut call: impl FnMut()) -> i64 {
    let one = |_| {
        let begin = Stamp::begin();
        call();
        (Stamp::end() - begin).instructions
    };
    (0..8).map(one).min().unwrap_or(0)
}

fn one_timer(judge: &mut Judge) {
    let timer = CLOCK.timer(PORTALS, FOR_EVER);
    judge.expect("one timer", timer.map(drop), Ok(()));
    if let Ok(timer) = timer {
        judge.expect("one timer", timer.proxy().close(), Ok(()));
        close(judge, "one timer", timer.first_portal());
    }
}

/// Opens its whole part of timers, waits for one, and closes them; instructions of the longest call, but for the wait
/// the time that this thread ran, in units of about as many.
fn longest_of_timers(judge: &mut Judge, name: &str) -> i64 {
    let mut longest = 0;
    let timers: [Result<Object<dyn Timer>, Error>; TIMERS] = core::array::from_fn(|_| {
        let begin = Stamp::begin();
        let timer = CLOCK.timer(PORTALS, FOR_EVER);
        longest = longest.max((Stamp::end() - begin).instructions);
        timer
    });
    let ran = || THREADS.time_used().unwrap_or(0) as i64;
    let before = ran();
    let waited = timers[0].and_then(|timer| {
        timer.proxy().set_period(2_000_000)?;
        timer.proxy().wait()
    });
    judge.expect(name, waited.is_ok(), true);
    longest = longest.max((ran() - before) * INSTRUCTIONS_OF_TICK);
    for timer in timers {
        let closed = timer.and_then(|timer| {
            timer.proxy().close()?;
            PORTALS.close(timer.first_portal().into())
        });
        judge.expect(name, closed, Ok(()));
    }
    longest
}

fn debts(judge: &mut Judge, takers: &Takers) {
    let name = "timers: what the dead owe";
    takers.restart(judge, name, 0..TAKERS);
    let before = longest_of_timers(judge, name);
    for number in 0..DEBTORS {
        for _ in 0..TIMERS {
            judge.expect(name, takers.one(number, deed::OWE, 20_000), Ok(20_000));
        }
        let killed = SUPERVISOR.kill(taker_name(number).split('.').next().unwrap_or(""));
        judge.expect(name, killed, Ok(()));
    }
    pause(200_000);
    let after = longest_of_timers(judge, name);
    say!("{name}: {before} instructions, then {after}");
    judge.expect(name, after < 3 * before, true);
    takers.restart(judge, name, 0..DEBTORS);
    judge.end(name);
}

/// Makes its whole part of sections, and leaves them.
fn own_sections(judge: &mut Judge, name: &str) {
    let sections: [Result<u64, Error>; SECTIONS] = core::array::from_fn(|_| MEMORY.make_section(1));
    for section in sections {
        judge.expect(name, section.map(drop), Ok(()));
        if let Ok(section) = section {
            judge.expect(name, MEMORY.drop_section(section), Ok(()));
        }
    }
}

fn sections(judge: &mut Judge, takers: &Takers) {
    let name = "sections: what others take";
    takers.all(judge, name, deed::SECTIONS, 0);
    own_sections(judge, name);
    takers.restart(judge, name, 0..TAKERS);
    judge.end(name);
}

/// Everyone offers a section of its own, one after the other, all at different addresses; the judge maps each, and
/// leaves it.
fn accomplices(judge: &mut Judge, takers: &Takers) {
    let name = "sections: a victim of accomplices";
    let own = environment::startup().domain.into();
    for taker in 0..TAKERS {
        let mapped = takers.one(taker, deed::OFFER, own).and_then(|section| {
            MEMORY.accept(section)?;
            MEMORY.drop_section(section)
        });
        judge.expect(name, mapped, Ok(()));
    }
    own_sections(judge, name);
    takers.restart(judge, name, 0..TAKERS);
    judge.end(name);
}

/// A partner maps what the judge made, and never leaves: memory and number of sections are the judge's again.
fn partners(judge: &mut Judge, takers: &Takers) {
    let name = "sections: what a partner keeps";
    let domain = takers.one(0, deed::DOMAIN, 0).unwrap_or(0);
    for pages in [MANY_PAGES; 1].into_iter().chain([1; SECTIONS]) {
        let section = MEMORY.make_section(pages);
        let shared = section.and_then(|section| {
            MEMORY.share(section, InstanceId(domain as u16), true)?;
            // It may have no room for it.
            let _ = takers.one(0, deed::ACCEPT, section);
            MEMORY.drop_section(section)
        });
        judge.expect(name, shared, Ok(()));
    }
    let pages = MEMORY.allocate(MANY_PAGES);
    judge.expect(name, pages.map(drop), Ok(()));
    if let Ok(address) = pages {
        judge.expect(name, MEMORY.free(address, MANY_PAGES), Ok(()));
    }
    own_sections(judge, name);
    takers.restart(judge, name, 0..1);
    judge.end(name);
}

fn own_terminals(judge: &mut Judge, name: &str) {
    let terminals: [Result<Object<dyn Terminal>, Error>; TERMINALS] =
        core::array::from_fn(|_| CONSOLE.open(PORTALS));
    for terminal in terminals {
        let closed = terminal.and_then(|terminal| {
            terminal.proxy().write(b".")?;
            terminal.proxy().close()?;
            PORTALS.close(terminal.first_portal().into())
        });
        judge.expect(name, closed, Ok(()));
    }
}

fn terminals(judge: &mut Judge, takers: &Takers) {
    let name = "terminals: what others take";
    takers.all(judge, name, deed::TERMINALS, TERMINALS as u64);
    own_terminals(judge, name);
    takers.restart(judge, name, 0..TAKERS);
    judge.end(name);
}

extern "C" fn nothing() {}

fn one_name() -> Result<(), Error> {
    let mut methods = [0; 32];
    methods[8] = b'c';
    methods[24..].copy_from_slice(&(nothing as *const () as u64).to_le_bytes());
    PORTALS.register("judge.one", "*", &methods)?;
    PORTALS.unregister("judge.one")
}

/// What the judge's calls cost, in instructions.
#[derive(Clone, Copy)]
struct Prices {
    page: i64,
    section: i64,
    timer: i64,
    terminal: i64,
    name: i64,
}

impl Prices {
    fn measure(judge: &mut Judge) -> Prices {
        Prices {
            page: shortest(|| {
                let section = MEMORY.pages(2);
                judge.expect("pages", section.is_ok(), true);
                if let Ok(pages) = section {
                    pages.words(1)[0].store(PAGE_SIZE as i64, Relaxed);
                }
            }),
            section: shortest(|| {
                let left = MEMORY.make_section(2).and_then(|at| MEMORY.drop_section(at));
                judge.expect("section", left, Ok(()));
            }),
            timer: shortest(|| one_timer(judge)),
            terminal: shortest(|| {
                let closed = CONSOLE.open(PORTALS).and_then(|terminal| {
                    terminal.proxy().close()?;
                    PORTALS.close(terminal.first_portal().into())
                });
                judge.expect("terminal", closed, Ok(()));
            }),
            name: shortest(|| judge.expect("name", one_name(), Ok(()))),
        }
    }
}

/// Everyone takes everything; the judge's calls take no longer.
fn prices(judge: &mut Judge, takers: &Takers, free: Prices) {
    let name = "no call takes longer";
    for (deed, argument) in [
        (deed::TIMERS, 16),
        (deed::TERMINALS, TERMINALS as u64),
        (deed::SECTIONS, 0),
        (deed::PAGES, 0),
    ] {
        takers.all(judge, name, deed, argument);
    }
    let taken = Prices::measure(judge);
    for (what, free, taken) in [
        ("two pages", free.page, taken.page),
        ("a section", free.section, taken.section),
        ("a timer", free.timer, taken.timer),
        ("a terminal", free.terminal, taken.terminal),
        ("a name", free.name, taken.name),
    ] {
        say!("{what}: {free} instructions, then {taken}");
        judge.expect(what, taken <= free + free / 4, true);
    }
    takers.restart(judge, name, 0..TAKERS);
    judge.end(name);
}
