//! Replaces the managers again and again, by themselves and by another version, while several threads have them at work.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::{Error, environment, time};
use cairn_app_interfaces::Echo;
use cairn_interfaces::{self as interfaces, InPlace, spawn};
use cairn_test_hostile_contract::{judge, say};
use core::fmt::Debug;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "managers-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        portals: interfaces::Portals,
        memory: interfaces::Memory,
        statistics: interfaces::MemoryStatistics,
        names: interfaces::Names,
        replacement: interfaces::Replacement,
        loader: interfaces::Loader,
    },
    arguments: { rounds: u64 },
    main: main,
}

use imports::{
    CONSOLE, LOADER, MEMORY, NAMES, PORTALS, REPLACEMENT, STATISTICS, SUPERVISOR, THREADS,
};

/// What has the managers at work, each on a thread of its own.
const CALLERS: [fn() -> Result<(), Error>; 5] = [open, allocate, publish, look, supervise];
const PRIORITIES: [u8; CALLERS.len()] = [30, 55, 70, 90, 60];
const LIMIT_MILLISECONDS: u64 = 200;
/// Each with a package of its own version, and one of another.
const MANAGERS: [(&str, [&str; 2]); 5] = [
    ("names", ["names2", "names1"]),
    ("portals", ["portals2", "portals1"]),
    ("memory", ["memory2", "memory1"]),
    ("supervisor", ["supervisor2", "supervisor1"]),
    ("loader", ["loader2", "loader1"]),
];

static STACKS: [Stack<8192>; CALLERS.len()] = [const { Stack::new() }; CALLERS.len()];
static ONCE: Stack<8192> = Stack::new();
// Relaxed: counts.
static DONE: [AtomicU64; CALLERS.len()] = [const { AtomicU64::new(0) }; CALLERS.len()];
static LONGEST: [AtomicU64; CALLERS.len()] = [const { AtomicU64::new(0) }; CALLERS.len()];
static LOST: AtomicU64 = AtomicU64::new(0);
static STOP: AtomicU64 = AtomicU64::new(0);

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

/// The portal manager, which asks the name server.
fn open() -> Result<(), Error> {
    let echo = PORTALS.open_object::<dyn Echo>("greeter.echo")?;
    let sum = echo.proxy().add(2, 3)?;
    PORTALS.close(echo.first_portal().into())?;
    if sum == 5 { Ok(()) } else { Err(Error::Malformed) }
}

/// The memory manager.
fn allocate() -> Result<(), Error> {
    let pages = MEMORY.pages(3)?;
    let is_zero = pages.load(8) == 0;
    pages.store(8, 7);
    if is_zero && pages.load(8) == 7 { Ok(()) } else { Err(Error::Malformed) }
}

/// All but the memory manager.
fn publish() -> Result<(), Error> {
    let made = PORTALS.make_semaphore(1)?;
    PORTALS.publish(made, "judge.comes", "*")?;
    PORTALS.unregister("judge.comes")?;
    PORTALS.close(made)
}

/// What looks only.
fn look() -> Result<(), Error> {
    let mut text = [0; 256];
    let (length, _) = NAMES.list(0, &mut text)?;
    let (free, _) = STATISTICS.usage()?;
    if length > 0 && free > 0 { Ok(()) } else { Err(Error::Malformed) }
}

/// The supervisor: others die, live again, and are told of, meanwhile.
fn supervise() -> Result<(), Error> {
    let mut text = [0; 256];
    let (length, _) = SUPERVISOR.describe(0, &mut text)?;
    if DONE[4].load(Relaxed).is_multiple_of(8) {
        SUPERVISOR.restart("victim")?;
    }
    if length > 0 { Ok(()) } else { Err(Error::Malformed) }
}

/// Has them at work all the time, and counts what was not answered.
fn call(number: u64) {
    let place = number as usize;
    while STOP.load(Relaxed) == 0 {
        let before = time::now();
        match CALLERS[place]() {
            Ok(()) => _ = DONE[place].fetch_add(1, Relaxed),
            Err(error) => {
                LOST.fetch_add(1, Relaxed);
                say!("managers: caller {place}: {}", error.text());
            }
        }
        LONGEST[place].fetch_max(time::now() - before, Relaxed);
        let _ = THREADS.sleep_until(time::now() + time::ticks(20 + 10 * number));
    }
}

fn replace(name: &str, package: &str) -> Result<u64, Error> {
    let replaced = REPLACEMENT.replace(name, package, LIMIT_MILLISECONDS);
    if replaced.is_err() {
        let mut text = [0; 192];
        let length = LOADER.explain(&mut text).unwrap_or(0);
        let why = core::str::from_utf8(&text[..length]).unwrap_or("?");
        say!("managers: {package}: {why}");
    }
    replaced
}

/// Whether a manager has this content.
fn has(name: &str, package: &str) -> bool {
    let version = if package.ends_with('2') { "0.2.0" } else { "0.1.0" };
    let path = cairn::text::Line::<32>::of(format_args!("{name}.in_place"));
    let Ok(state) = PORTALS.open_object::<dyn InPlace>(path.text()) else { return false };
    let mut text = [0; 16];
    let length = state.proxy().version(&mut text).unwrap_or(0);
    let _ = PORTALS.close(state.first_portal().into());
    text[..length] == *version.as_bytes()
}

/// Without a load.
fn idle() {
    // What each of them knows.
    let pages = MEMORY.pages(2).expect("there is room");
    pages.store(8, 42);
    let semaphore = PORTALS.make_semaphore(3).expect("there is room");
    PORTALS.publish(semaphore, "judge.stays", "judge").expect("the name is free");
    let echo = PORTALS.open_object::<dyn Echo>("greeter.echo").expect("it is open");
    let mut before = STATISTICS.usage();
    for (name, [other, same]) in MANAGERS {
        for (round, package) in [same, other, same].into_iter().enumerate() {
            expect("replaced", (package, replace(name, package).map(drop)), (package, Ok(())));
            expect("its content", (package, has(name, package)), (package, true));
            expect("what is open", echo.proxy().add(40, 2), Ok(42));
            expect("what was allocated", pages.load(8), 42);
            let found = NAMES.look_up(environment::startup().instance, b"judge.stays");
            expect("what was published", found.is_ok(), true);
            // The layout's own content shares nothing with the shelf, and that of another version can have another size.
            match round {
                0 => before = STATISTICS.usage(),
                1 => {}
                _ => expect("nothing is left of the others", STATISTICS.usage(), before),
            }
        }
    }
    for (package, error) in [
        ("names-layout", Error::VersionMismatch),
        ("names-place", Error::BadArgument),
        ("names-pages", Error::BadArgument),
        ("stranger", Error::VersionMismatch),
    ] {
        expect(package, replace("names", package), Err(error));
        expect("the old goes on", has("names", "names1"), true);
        expect("it costs nothing more", STATISTICS.usage(), before);
    }
    let serves_else = replace("interrupts", "stranger");
    expect("who serves something else", serves_else.map(drop), Err(Error::VersionMismatch));
    expect("it can be taken back", PORTALS.unregister("judge.stays"), Ok(()));
    expect("all of it", PORTALS.close(semaphore), Ok(()));
    let _ = PORTALS.close(echo.first_portal().into());
    say!("ok: replaced, and refused");
}

fn under_load() {
    let threads: [_; CALLERS.len()] = core::array::from_fn(|place| {
        spawn(THREADS, &STACKS[place], call, place as u64, PRIORITIES[place]).expect("a thread")
    });
    let mut pauses = [0; MANAGERS.len()];
    for round in 0..arguments::rounds() {
        for (place, (name, packages)) in MANAGERS.into_iter().enumerate() {
            let package = packages[round as usize % 2];
            match replace(name, package) {
                Ok(pause) => pauses[place] = pause.max(pauses[place]),
                Err(_) => expect("a replacement under load", (name, round), ("", 0)),
            }
            if !has(name, package) {
                expect("its content", (name, round), ("", 0));
            }
        }
        if round % 16 == 0 {
            expect("refused under load", replace("names", "names-layout").is_err(), true);
        }
    }
    say!("managers: paused for {pauses:?} ticks at most");
    disturbed();
    STOP.store(1, Relaxed);
    for thread in threads {
        let _ = thread.join();
    }
    expect("no call is lost", LOST.load(Relaxed), 0);
    let done = DONE.each_ref().map(|one| one.load(Relaxed));
    expect("all were busy", done.iter().all(|one| *one > arguments::rounds()), true);
    let longest = LONGEST.each_ref().map(|one| one.load(Relaxed));
    say!("managers: {done:?} rounds, the longest took {longest:?} ticks");
    say!("ok: no call is lost");
}

/// Replaces once, whatever becomes of it.
fn replace_once(number: u64) {
    let (name, packages) = MANAGERS[number as usize % MANAGERS.len()];
    let _ = REPLACEMENT.replace(name, packages[number as usize / MANAGERS.len() % 2], 200);
}

/// The loader is killed at some instant of it: what it was about to do is done or not, and no caller notices.
fn disturbed() {
    for round in 0..arguments::rounds() {
        let once = spawn(THREADS, &ONCE, replace_once, round, 94).expect("a thread");
        let _ = THREADS.sleep_until(time::now() + time::ticks(37 * round % 1500));
        if SUPERVISOR.restart("loader").is_err() {
            expect("it is killed", round, u64::MAX);
        }
        let _ = once.join();
        let (name, packages) = MANAGERS[round as usize % MANAGERS.len()];
        let goes_on = judge::wait_until(THREADS, || {
            REPLACEMENT.replace(name, packages[1], LIMIT_MILLISECONDS).is_ok()
        });
        expect("it can be replaced", (round, goes_on), (round, true));
    }
    say!("ok: disturbed");
}

fn main() {
    idle();
    let before = STATISTICS.usage();
    under_load();
    expect("nothing is left", STATISTICS.usage(), before);
    say!("managers: done");
    let _ = SUPERVISOR.halt(0);
}
