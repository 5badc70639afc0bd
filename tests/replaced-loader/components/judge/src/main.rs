//! Replaces the loader again and again, by itself and by another version, while several threads have it at work, and by what is none.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::{Error, time};
use cairn_app_interfaces::Echo;
use cairn_interfaces::{self as interfaces, InPlace, Location, spawn};
use cairn_test_hostile_contract::{judge, say};
use core::fmt::Debug;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "replaced-loader-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        portals: interfaces::Portals,
        statistics: interfaces::MemoryStatistics,
        replacement: interfaces::Replacement,
        loader: interfaces::Loader,
        echo: Echo,
    },
    arguments: { rounds: u64 },
    main: main,
}

use imports::{CONSOLE, ECHO, LOADER, PORTALS, REPLACEMENT, STATISTICS, SUPERVISOR, THREADS};

/// What has the loader at work, each on a thread of its own.
const CALLERS: [fn() -> Result<(), Error>; 5] = [load, prepare, replace_other, move_other, ask];
const PRIORITIES: [u8; CALLERS.len()] = [30, 94, 55, 90, 60];
const LIMIT_MILLISECONDS: u64 = 200;
/// Of another version, and of its own.
const PACKAGES: [&str; 2] = ["loader2", "loader1"];

static STACKS: [Stack<8192>; CALLERS.len()] = [const { Stack::new() }; CALLERS.len()];
static ONCE: Stack<8192> = Stack::new();
// Relaxed: counts.
static DONE: [AtomicU64; CALLERS.len()] = [const { AtomicU64::new(0) }; CALLERS.len()];
static LOST: AtomicU64 = AtomicU64::new(0);
static STOP: AtomicU64 = AtomicU64::new(0);

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

fn explained(text: &mut [u8; 192]) -> &str {
    let length = LOADER.explain(text).unwrap_or(0);
    core::str::from_utf8(&text[..length]).unwrap_or("?")
}

fn replace(name: &str, package: &str) -> Result<(), Error> {
    let replaced = REPLACEMENT.replace(name, package, LIMIT_MILLISECONDS);
    if replaced.is_err() {
        let mut text = [0; 192];
        say!("replaced-loader: {package}: {}", explained(&mut text));
    }
    replaced.map(drop)
}

/// Whether the loader has this content.
fn has(package: &str) -> bool {
    let version = if package.ends_with('2') { "0.2.0" } else { "0.1.0" };
    let Ok(state) = PORTALS.open_object::<dyn InPlace>("loader.in_place") else { return false };
    let mut text = [0; 16];
    let length = state.proxy().version(&mut text).unwrap_or(0);
    let _ = PORTALS.close(state.first_portal().into());
    text[..length] == *version.as_bytes()
}

fn load() -> Result<(), Error> {
    LOADER.load("guest", "loaded")?;
    let echo = PORTALS.open_object::<dyn Echo>("loaded.echo")?;
    let sum = echo.proxy().add(40, 2);
    PORTALS.close(echo.first_portal().into())?;
    LOADER.unload("loaded")?;
    if sum == Ok(42) { Ok(()) } else { Err(Error::Malformed) }
}

/// Between its two calls the loader is another.
fn prepare() -> Result<(), Error> {
    let prepared = LOADER.prepare("guest", "prepared")?;
    let _ = THREADS.sleep_until(time::now() + time::ticks(300));
    LOADER.begin(prepared)?;
    LOADER.unload("prepared")
}

fn replace_other() -> Result<(), Error> {
    REPLACEMENT.replace("greeter", "greeter2", LIMIT_MILLISECONDS)?;
    if ECHO.add(40, 2) == Ok(42) { Ok(()) } else { Err(Error::Malformed) }
}

/// It is refused: what it is about has a package's content, or is there.
fn move_other() -> Result<(), Error> {
    match REPLACEMENT.move_to("greeter", Location::Domain, LIMIT_MILLISECONDS) {
        Err(Error::VersionMismatch | Error::Busy) => Ok(()),
        moved => moved.map(drop).and(Err(Error::Malformed)),
    }
}

/// Each of its errors has its own words.
fn ask() -> Result<(), Error> {
    match LOADER.load("nothing", "never") {
        Err(Error::NotFound) => Ok(()),
        loaded => loaded.map(drop).and(Err(Error::Malformed)),
    }
}

/// Has it at work all the time, and counts what was not answered.
fn call(number: u64) {
    let place = number as usize;
    while STOP.load(Relaxed) == 0 {
        match CALLERS[place]() {
            Ok(()) => _ = DONE[place].fetch_add(1, Relaxed),
            Err(error) => {
                LOST.fetch_add(1, Relaxed);
                say!("replaced-loader: caller {place}: {}", error.text());
            }
        }
        let _ = THREADS.sleep_until(time::now() + time::ticks(20 + 10 * number));
    }
}

/// All that it does for others, from the content that it has now.
fn works(what: &str) {
    expect(what, load(), Ok(()));
    expect("it moves others", move_there_and_back(), Ok(()));
}

fn move_there_and_back() -> Result<(), Error> {
    for place in [Location::Kernel, Location::Domain] {
        REPLACEMENT.move_to("greeter", place, LIMIT_MILLISECONDS)?;
        if ECHO.add(1, 2) != Ok(3) {
            return Err(Error::Malformed);
        }
    }
    Ok(())
}

/// Without a load.
fn idle() {
    works("it loads");
    expect("a child", LOADER.load("guest", "child").is_ok(), true);
    let mut before = STATISTICS.usage();
    for (round, package) in ["loader1", "loader2", "loader2", "loader1"].into_iter().enumerate() {
        expect("no package", LOADER.load("nothing", "never").map(drop), Err(Error::NotFound));
        let prepared = LOADER.prepare("guest", "prepared");
        expect(package, replace("loader", package), Ok(()));
        expect("its content", (package, has(package)), (package, true));
        let words = explained(&mut [0; 192]).starts_with("there is no package `nothing`");
        expect("why something had failed", (words, package), (true, package));
        expect("what was prepared begins", prepared.and_then(|one| LOADER.begin(one)), Ok(()));
        expect("and ends", LOADER.unload("prepared"), Ok(()));
        works("it loads afterwards");
        match round {
            0 => before = STATISTICS.usage(),
            1 | 2 => {}
            _ => expect("nothing is left of the others", STATISTICS.usage(), before),
        }
    }
    expect("whose child it was is known", LOADER.unload("child"), Ok(()));
    expect("it replaces others", replace_other(), Ok(()));
    say!("ok: replaced");
}

fn refused() {
    let before = STATISTICS.usage();
    for (package, error) in [
        ("stranger", Error::VersionMismatch),
        ("nothing", Error::NotFound),
        ("lies-layout", Error::VersionMismatch),
        ("lies-place", Error::BadArgument),
        ("lies-pages", Error::BadArgument),
        ("lies-state", Error::BadArgument),
        ("frees", Error::NotSupported),
        // They are at fault in its domain, which lives again.
        ("faults", Error::Dead),
        ("stays", Error::Dead),
    ] {
        expect(package, replace("loader", package), Err(error));
        let goes_on = judge::wait_until(THREADS, || load().is_ok());
        expect("the old goes on", (goes_on, has("loader1")), (true, true));
        let is_free = judge::wait_until(THREADS, || STATISTICS.usage() == before);
        expect("it costs nothing more", (package, is_free), (package, true));
    }
    // Whoever asked is inside, and does not leave in no time at all.
    expect("too slow", REPLACEMENT.replace("loader", "loader2", 0), Err(Error::TimedOut));
    let words = explained(&mut [0; 192]).ends_with("did not come back in time");
    expect("why", (words, has("loader1")), (true, true));
    expect("it goes on", load(), Ok(()));
    expect("it costs nothing more", STATISTICS.usage(), before);
    say!("ok: refused");
}

fn under_load() {
    let threads: [_; CALLERS.len()] = core::array::from_fn(|place| {
        spawn(THREADS, &STACKS[place], call, place as u64, PRIORITIES[place]).expect("a thread")
    });
    let mut longest = 0;
    for round in 0..arguments::rounds() {
        let package = PACKAGES[round as usize % 2];
        match REPLACEMENT.replace("loader", package, LIMIT_MILLISECONDS) {
            Ok(waited) => longest = waited.max(longest),
            Err(error) => expect("a replacement under load", (round, error.text()), (0, "")),
        }
        if !has(package) {
            expect("its content", (package, round), ("", 0));
        }
        // The least urgent have their turn.
        let _ = THREADS.sleep_until(time::now() + time::ticks(1000));
        if round % 16 == 0 {
            expect("refused under load", replace("loader", "lies-layout").is_err(), true);
        }
    }
    STOP.store(1, Relaxed);
    for thread in threads {
        let _ = thread.join();
    }
    expect("no call is lost", LOST.load(Relaxed), 0);
    let done = DONE.each_ref().map(|one| one.load(Relaxed));
    expect("all were busy", done.iter().all(|one| *one > 0), true);
    say!("replaced-loader: {done:?} rounds, callers waited for {longest} ticks at most");
    say!("ok: no call is lost");
}

/// Replaces once, whatever becomes of it.
fn replace_once(number: u64) {
    let _ = REPLACEMENT.replace("loader", PACKAGES[number as usize % 2], LIMIT_MILLISECONDS);
}

/// The loader, or who asked, is killed at some instant: it is replaced or not, and goes on.
fn disturbed() {
    for victim in ["loader", "asker"] {
        for round in 0..2 * arguments::rounds() {
            if victim == "asker" {
                let _ = SUPERVISOR.restart("asker");
                let _ = THREADS.sleep_until(time::now() + time::ticks(37 * round % 3000));
                let _ = SUPERVISOR.kill("asker");
            } else {
                let once = spawn(THREADS, &ONCE, replace_once, round, 94).expect("a thread");
                let _ = THREADS.sleep_until(time::now() + time::ticks(37 * round % 3000));
                if SUPERVISOR.restart("loader").is_err() {
                    expect("it is killed", round, u64::MAX);
                }
                let _ = once.join();
            }
            if !judge::wait_until(THREADS, || load().is_ok()) {
                expect("it goes on", (victim, round), ("", 0));
                let _ = LOADER.unload("loaded");
            }
        }
        let replaced = judge::wait_until(THREADS, || replace("loader", "loader1").is_ok());
        expect("it can be replaced", (victim, replaced, has("loader1")), (victim, true, true));
    }
    say!("ok: disturbed");
}

fn main() {
    let _ = SUPERVISOR.kill("asker");
    let replaced = judge::wait_until(THREADS, || replace("loader", "loader1").is_ok());
    expect("it can be replaced", replaced, true);
    idle();
    refused();
    let before = STATISTICS.usage();
    under_load();
    disturbed();
    let is_free = judge::wait_until(THREADS, || STATISTICS.usage() == before);
    expect("nothing is left", (is_free, STATISTICS.usage()), (true, before));
    expect("it loads in the end", load(), Ok(()));
    expect("and replaces others", replace_other(), Ok(()));
    say!("replaced-loader: done");
    let _ = SUPERVISOR.halt(0);
}
