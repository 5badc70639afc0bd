//! Moves a gate there and back while it is called in every way.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::thread::Stack;
use cairn_interfaces::{self as interfaces, Location, spawn};
use cairn_test_hostile_contract::{judge, say};
use cairn_test_hostile_moves_contract::{Caller, CallerProxy, Gate};
use core::fmt::Debug;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "hostile-moves-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        replacement: interfaces::Replacement,
        loader: interfaces::Loader,
        gate: Gate,
        brings: Caller,
        beside: Caller,
        inside: Caller,
        opens: Caller,
        grabs: Caller,
        moves: Caller,
    },
    arguments: { rounds: u64, with: bool = false },
    main: main,
}

use imports::{CONSOLE, GATE, LOADER, REPLACEMENT, SUPERVISOR, THREADS};

const LIMIT_MILLISECONDS: u64 = 200;
/// In whose page table the gate goes on that does not move to the kernel domain.
const HOST: &str = "dies";

static KEPT: Stack<8192> = Stack::new();
// Relaxed: told by one thread to another.
static CAME_BACK: AtomicU64 = AtomicU64::new(0);

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

fn move_to(name: &str, to: Location) -> Result<(), Error> {
    let moved = match (name, to) {
        ("gate", Location::Kernel) if arguments::with() => {
            REPLACEMENT.move_with(name, HOST, LIMIT_MILLISECONDS).map(drop)
        }
        _ => REPLACEMENT.move_to(name, to, LIMIT_MILLISECONDS).map(drop),
    };
    if moved.is_err() {
        let mut text = [0; 192];
        let length = LOADER.explain(&mut text).unwrap_or(0);
        say!("hostile-moves: {}", core::str::from_utf8(&text[..length]).unwrap_or("?"));
    }
    moved
}

/// There and back, so often, with a client that does the same in turn; how many moves were not made.
fn rounds(count: u64) -> usize {
    let mut lost = 0;
    for _ in 0..count {
        for to in [Location::Kernel, Location::Domain] {
            for name in ["gate", "moves"] {
                lost += usize::from(move_to(name, to).is_err());
                judge::pause(THREADS, 400);
            }
        }
    }
    lost
}

/// Whether all who call were answered since.
fn all_go_on() -> bool {
    let callers: [CallerProxy; 6] = [
        imports::BRINGS,
        imports::BESIDE,
        imports::INSIDE,
        imports::OPENS,
        imports::GRABS,
        imports::MOVES,
    ];
    let before = callers.map(|caller| caller.calls().unwrap_or(0));
    judge::wait_until(THREADS, || {
        let mut all = callers.iter().zip(before);
        all.all(|(caller, before)| caller.calls().is_ok_and(|now| now > before + 3))
    })
}

fn keep(_: u64) {
    let kept = GATE.keep();
    CAME_BACK.store(if kept == Ok(()) { 1 } else { 2 }, Relaxed);
}

/// Somebody inside never comes back.
fn kept_inside(to: Location) {
    CAME_BACK.store(0, Relaxed);
    let inside = spawn(THREADS, &KEPT, keep, 0, 94).expect("a thread");
    judge::pause(THREADS, 500);
    expect(
        "who is inside and stays keeps it where it is",
        move_to("gate", to),
        Err(Error::TimedOut),
    );
    expect("all go on", all_go_on(), true);
    expect("and who is inside", CAME_BACK.load(Relaxed), 0);
    expect("until it comes back", GATE.open(), Ok(()));
    expect("which it does", judge::wait_until(THREADS, || CAME_BACK.load(Relaxed) != 0), true);
    expect("as it should", CAME_BACK.load(Relaxed), 1);
    let _ = inside.join();
}

fn main() {
    expect("all call", all_go_on(), true);
    expect("there and back", rounds(arguments::rounds()), 0);
    expect("all go on", all_go_on(), true);
    kept_inside(Location::Kernel);
    expect("there once more", move_to("gate", Location::Kernel), Ok(()));
    expect("all go on", all_go_on(), true);
    kept_inside(Location::Domain);
    expect("and back", move_to("gate", Location::Domain), Ok(()));
    expect("all go on", all_go_on(), true);
    expect("who dies inside does", died(), true);
    say!("hostile-moves: done");
    let _ = SUPERVISOR.halt(0);
}

/// Whether the one that dies has.
fn died() -> bool {
    judge::life(SUPERVISOR, "dies", |_, restarts| restarts > 0) == Some(true)
}
