//! Moves a counter to the kernel domain, or into the page table of another, and back while several threads call it, and others that misbehave there.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::{Error, Object, time};
use cairn_interfaces::Location::{self, Domain, Kernel, With};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_test_hostile_contract::{judge, say};
use cairn_test_replaced_contract::{Cell, Counter, CounterProxy, Witness, kinds};
use core::fmt::Debug;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "moves-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        portals: interfaces::Portals,
        memory: interfaces::MemoryStatistics,
        replacement: interfaces::Replacement,
        loader: interfaces::Loader,
        counter: Counter,
        refuses: Counter,
        faults: Counter,
        sleeps: Counter,
        spins: Counter,
        dies: Counter,
        keeps: Counter,
        kernel_witness: Witness,
        witness: Witness,
    },
    arguments: { rounds: u64, with: bool = false },
    main: main,
}

use imports::{CONSOLE, COUNTER, LOADER, MEMORY, PORTALS, REPLACEMENT, SUPERVISOR, THREADS};

const CALLERS: usize = 3;
const LIMIT_MILLISECONDS: u64 = 200;

static STACKS: [Stack<8192>; CALLERS] = [const { Stack::new() }; CALLERS];
static WAITED: AtomicU64 = AtomicU64::new(0);
static WAITING: Stack<8192> = Stack::new();
static STAYING: Stack<8192> = Stack::new();
// Relaxed: counts.
static ADDED: [AtomicU64; CALLERS] = [const { AtomicU64::new(0) }; CALLERS];
static LONGEST: [AtomicU64; CALLERS] = [const { AtomicU64::new(0) }; CALLERS];
static LOST: AtomicU64 = AtomicU64::new(0);
/// In whose page table they go on that do not move to the kernel domain.
const HOST: &str = "witness";
static PAUSES: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
static STOP: AtomicU64 = AtomicU64::new(0);

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

fn milliseconds(count: u64) -> u64 {
    time::ticks(count * 1000)
}

/// Calls all the time, and counts what was not answered.
fn call(number: u64) {
    let place = number as usize;
    while STOP.load(Relaxed) == 0 {
        let before = time::now();
        match COUNTER.add(1) {
            Ok(_) => ADDED[place].fetch_add(1, Relaxed),
            Err(_) => LOST.fetch_add(1, Relaxed),
        };
        LONGEST[place].fetch_max(time::now() - before, Relaxed);
        // The others have their turn, of whatever priority.
        let _ = THREADS.sleep_until(time::now() + time::ticks(20 + 10 * number));
    }
}

fn stay(time: u64) {
    if COUNTER.stay(milliseconds(time)).is_err() {
        LOST.fetch_add(1, Relaxed);
    }
}

fn wait(_: u64) {
    match COUNTER.wait() {
        Ok(kind) => WAITED.store(kind, Relaxed),
        Err(_) => _ = LOST.fetch_add(1, Relaxed),
    }
}

fn explain(what: &str) {
    let mut text = [0; 192];
    let length = LOADER.explain(&mut text).unwrap_or(0);
    let why = core::str::from_utf8(&text[..length]).unwrap_or("?");
    say!("moves: {what}: {why}");
}

/// The other place of those that move.
fn away() -> Location {
    if arguments::with() { With } else { Kernel }
}

fn try_to_move(name: &str, to: Location) -> Result<u64, Error> {
    match to {
        With => REPLACEMENT.move_with(name, HOST, LIMIT_MILLISECONDS),
        to => REPLACEMENT.move_to(name, to, LIMIT_MILLISECONDS),
    }
}

fn move_to(name: &str, to: Location) -> Result<(), Error> {
    let moved = try_to_move(name, to);
    PAUSES[usize::from(to != Domain)].fetch_max(moved.unwrap_or(0), Relaxed);
    moved.map(drop).inspect_err(|_| explain(name))
}

/// Where an instance is, says the supervisor.
fn place(name: &str) -> Option<Location> {
    let mut number = 0;
    loop {
        let mut text = [0; 160];
        let (length, found) = SUPERVISOR.describe(number, &mut text).ok()?;
        let line = core::str::from_utf8(text.get(..length)?).ok()?;
        let mut words = line.split(' ');
        if words.next() == Some(name) {
            return Some(match (words.next_back(), words.next_back()) {
                (Some("kernel"), _) => Kernel,
                (Some(HOST), Some("with")) => With,
                _ => Domain,
            });
        }
        number = found + 1;
    }
}

fn other(of: Location) -> Location {
    if of == Domain { away() } else { Domain }
}

/// Where nothing calls.
fn at_rest() {
    expect("as described", (COUNTER.kind(), place("counter")), (Ok(kinds::GOOD), Some(Domain)));
    expect("it counts", COUNTER.add(40), Ok(40));
    let cell = COUNTER.cell(PORTALS, 7).expect("there is room");
    expect("its object too", cell.proxy().add(1), Ok(8));
    expect("it is there", move_to("counter", Domain), Err(Error::Busy));
    let mut inner: Option<Object<dyn Cell>> = None;
    for round in 1..5 {
        expect("there", move_to("counter", away()), Ok(()));
        expect("it is there", (place("counter"), COUNTER.kind()), (Some(away()), Ok(kinds::GOOD)));
        expect("the same state", COUNTER.add(0), Ok(40));
        expect("the same object", cell.proxy().add(1), Ok(7 + 2 * round));
        expect("it is there", move_to("counter", away()), Err(Error::Busy));
        // One that was opened there goes with it, too.
        let opened = inner.get_or_insert_with(|| COUNTER.cell(PORTALS, 0).expect("there is room"));
        expect("an object of there", opened.proxy().add(1), Ok(2 * round - 1));
        expect("and back", move_to("counter", Domain), Ok(()));
        expect("it is here", (place("counter"), COUNTER.add(0)), (Some(Domain), Ok(40)));
        expect("the same object", cell.proxy().add(1), Ok(8 + 2 * round));
        expect("an object of there", opened.proxy().add(1), Ok(2 * round));
    }
    for (name, error) in [("nobody", Error::NotFound), ("memory", Error::NotSupported)] {
        expect(name, move_to(name, away()), Err(error));
    }
    let (name, elsewhere) = match arguments::with() {
        true => ("counter@witness", Kernel),
        false => ("counter@kernel", With),
    };
    expect("no name", move_to(name, away()), Err(Error::NotFound));
    expect("nor instance", SUPERVISOR.kill(name), Err(Error::NotFound));
    expect("not so described", move_to("counter", elsewhere), Err(Error::NotSupported));
    let others = [("nobody", Error::NotFound), ("judge", Error::NotSupported)];
    for (other, error) in others {
        let moved = REPLACEMENT.move_with("counter", other, LIMIT_MILLISECONDS);
        expect(other, moved, Err(error));
    }
    expect("it stays", SUPERVISOR.retire("counter"), Err(Error::NotSupported));
    say!("ok: at rest");
}

/// It dies in both places, and lives again where it died.
fn killed() {
    for to in [away(), Domain, away(), Domain] {
        expect("it moves", move_to("counter", to), Ok(()));
        let before = MEMORY.usage();
        for _ in 0..3 {
            expect("it counts", COUNTER.add(1).is_ok(), true);
            expect("it is killed", SUPERVISOR.restart("counter"), Ok(()));
            expect("it answers", answers(), true);
            expect("there", (place("counter"), COUNTER.add(0)), (Some(to), Ok(0)));
        }
        expect("nothing is left", MEMORY.usage(), before);
    }
    say!("ok: killed");
}

/// Those that misbehave in the kernel go on where they were, with their state.
fn refused() {
    let before = MEMORY.usage();
    let all: [(&str, CounterProxy, Error); 6] = [
        ("refuses", imports::REFUSES, Error::VersionMismatch),
        ("faults", imports::FAULTS, Error::Dead),
        ("sleeps", imports::SLEEPS, Error::TimedOut),
        ("spins", imports::SPINS, Error::TimedOut),
        ("dies", imports::DIES, Error::Dead),
        ("keeps", imports::KEEPS, Error::Dead),
    ];
    for (name, counter, error) in all {
        expect(name, counter.add(11), Ok(11));
        let cell = counter.cell(PORTALS, 3).expect("there is room");
        for _ in 0..2 {
            expect(name, move_to(name, away()), Err(error));
            expect("it goes on", (place(name), counter.add(0)), (Some(Domain), Ok(11)));
            expect("with its object", cell.proxy().add(0), Ok(3));
        }
        let _ = PORTALS.close(cell.first_portal().into());
    }
    expect("nothing is left of it", MEMORY.usage(), before);
    say!("ok: refused");
}

/// How many calls of those who call all the time, from the kernel domain and from another one, were answered, and how many not.
fn seen() -> [(u64, u64); 2] {
    [imports::KERNEL_WITNESS, imports::WITNESS].map(|one| one.seen().expect("it serves"))
}

fn under_load() {
    let seen_before = seen();
    let first = COUNTER.add(0).unwrap_or(0);
    let callers = [30, 55, 90];
    let threads: [_; CALLERS] = core::array::from_fn(|place| {
        spawn(THREADS, &STACKS[place], call, place as u64, callers[place]).expect("a thread")
    });
    for round in 0..arguments::rounds() {
        if move_to("counter", if round % 2 == 0 { away() } else { Domain }).is_err() {
            expect("a move under load", round, u64::MAX);
        }
    }
    let pauses = PAUSES.each_ref().map(|one| one.load(Relaxed));
    say!("moves: paused for {pauses:?} ticks at most, to the domain and to the other place");
    // Who waits inside waits in the other place.
    let waiting = spawn(THREADS, &WAITING, wait, 0, 60).expect("a thread");
    let _ = THREADS.sleep_until(time::now() + milliseconds(5));
    for to in [away(), Domain, away()] {
        expect("one that waits moves", move_to("counter", to), Ok(()));
    }
    expect("it waits", WAITED.load(Relaxed), 0);
    let _ = COUNTER.wake();
    let _ = waiting.join();
    expect("it came back", WAITED.load(Relaxed), kinds::GOOD);
    // Who is inside has its time; then it goes on where it was. In the other place first.
    for to in [Domain, away()] {
        let staying = spawn(THREADS, &STAYING, stay, 50, 60).expect("a thread");
        let _ = THREADS.sleep_until(time::now() + milliseconds(5));
        expect("a call that comes back", move_to("counter", to), Ok(()));
        let _ = staying.join();
        let staying = spawn(THREADS, &STAYING, stay, 400, 60).expect("a thread");
        let _ = THREADS.sleep_until(time::now() + milliseconds(5));
        expect("a call that does not", move_to("counter", other(to)), Err(Error::TimedOut));
        expect("it stays", place("counter"), Some(to));
        let _ = staying.join();
    }
    STOP.store(1, Relaxed);
    for thread in threads {
        let _ = thread.join();
    }
    let added: u64 = ADDED.iter().map(|one| one.load(Relaxed)).sum();
    expect("no call is lost", LOST.load(Relaxed), 0);
    for ((answered, lost), before) in seen().into_iter().zip(seen_before) {
        expect("no call of others is", lost, before.1);
        expect("they were busy", answered - before.0 > arguments::rounds(), true);
    }
    expect("none is counted twice", COUNTER.add(0), Ok(first + added));
    expect("all were busy", ADDED.iter().all(|one| one.load(Relaxed) > arguments::rounds()), true);
    let longest = LONGEST.each_ref().map(|one| one.load(Relaxed));
    say!("moves: the longest calls took {longest:?} ticks");
    say!("ok: no call is lost");
}

fn answers() -> bool {
    judge::wait_until(THREADS, || COUNTER.kind().is_ok())
}

/// Moves once, whatever becomes of it.
fn move_once(to: u64) {
    let _ = try_to_move("counter", if to == 0 { Domain } else { away() });
}

/// Who has it done, or what moves, is killed at some instant of it. Calls may fail then, and state may be lost; but nothing else is.
fn disturbed() {
    let moves = |to| {
        judge::wait_until(THREADS, || {
            let moved = try_to_move("counter", to);
            matches!(moved, Ok(_) | Err(Error::Busy)) && place("counter") == Some(to)
        })
    };
    expect("it is here", moves(Domain), true);
    let before = MEMORY.usage();
    // The host dies in the one case, in the other one who only calls.
    for victim in ["loader", "counter", HOST] {
        for round in 0..arguments::rounds() {
            let to = place("counter").map_or(away(), other);
            let once = spawn(THREADS, &WAITING, move_once, u64::from(to != Domain), 94);
            let once = once.expect("a thread");
            let _ = THREADS.sleep_until(time::now() + time::ticks(37 * round % 1500));
            if SUPERVISOR.restart(victim).is_err() {
                expect("it is killed", round, u64::MAX);
            }
            let _ = once.join();
            if !answers() {
                expect("it answers", (victim, round), ("", 0));
            }
        }
        for to in [away(), Domain] {
            expect("it moves", (victim, moves(to)), (victim, true));
        }
        expect("nothing is left of it", (victim, MEMORY.usage()), (victim, before));
    }
    say!("ok: disturbed");
}

/// What is in both places is the description's content.
fn replaced() {
    expect("there", move_to("counter", away()), Ok(()));
    let replace = || REPLACEMENT.replace("counter", "good", LIMIT_MILLISECONDS).map(drop);
    expect("not there", replace().inspect_err(|_| explain("good")), Err(Error::NotSupported));
    expect("and back", move_to("counter", Domain), Ok(()));
    expect("it counts", COUNTER.add(9).is_ok(), true);
    let sum = COUNTER.add(0);
    expect("replaced", replace(), Ok(()));
    expect("it stays", move_to("counter", away()), Err(Error::VersionMismatch));
    expect("with its state", (COUNTER.add(0), place("counter")), (sum, Some(Domain)));
    say!("ok: replaced");
}

fn main() {
    at_rest();
    killed();
    under_load();
    refused();
    disturbed();
    replaced();
    say!("moves: done");
    let _ = SUPERVISOR.halt(0);
}
