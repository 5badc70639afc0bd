//! Calls what moves in one way, all the time, and says when an answer is not what it should be.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::exclusive::Exclusive;
use cairn::thread::Stack;
use cairn::{Error, Object, time};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_test_hostile_contract::say;
use cairn_test_hostile_moves_contract::{Caller, Gate, kinds};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "hostile-moves-caller",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        portals: interfaces::Portals,
        gate: Gate,
    },
    exports: { caller: Caller = SERVER },
    arguments: { kind: u64 },
    main: main,
}

use imports::{GATE, PORTALS, THREADS};

/// Two pages that go over in windows.
#[repr(align(4096))]
struct Pages([u8; 8192]);
static PAGES: Exclusive<Pages> = Exclusive::new(Pages([0; 8192]));
static STACK: Stack<8192> = Stack::new();
// Relaxed: a count.
static CALLS: AtomicU64 = AtomicU64::new(0);

impl Caller for Server {
    fn calls(&self) -> Result<u64, Error> {
        Ok(CALLS.load(Relaxed))
    }
}

/// Counts what was answered as it should be.
fn check<T: PartialEq + core::fmt::Debug>(what: &str, found: T, expected: T) -> bool {
    let is_right = found == expected;
    match is_right {
        true => _ = CALLS.fetch_add(1, Relaxed),
        false => say!("FAILED {}: {what}: {found:?}, expected {expected:?}", arguments::kind()),
    }
    is_right
}

fn pause(microseconds: u64) {
    let _ = THREADS.sleep_until(time::now() + time::ticks(microseconds));
}

/// Brings so many bytes, and looks at what came back.
fn bring(bytes: &mut [u8], round: u64, ticks: u64) -> bool {
    let byte = round as u8 | 1;
    bytes.fill(0);
    let filled = check("filled", GATE.fill(bytes, byte, ticks), Ok(()));
    let is_whole = check("all of it", bytes.iter().all(|one| *one == byte), true);
    let sum = bytes.len() as u64 * u64::from(byte);
    filled && is_whole && check("read", GATE.sum(bytes, ticks), Ok(sum))
}

fn brings() {
    for round in 0.. {
        let mut small = [0; 24];
        let ticks = if round % 4 == 0 { time::ticks(30) } else { 0 };
        let mut go_on = bring(&mut small, round, ticks);
        go_on = go_on && PAGES.with(|pages| bring(&mut pages.0, round, ticks));
        if !go_on || !check("nothing", GATE.sum(&[], 0), Ok(0)) {
            return;
        }
        pause(400);
    }
}

fn inside() {
    let mut small = [0; 8];
    for round in 0.. {
        if !bring(&mut small, round, time::ticks(150)) {
            return;
        }
    }
}

fn opens() {
    for round in 0.. {
        let opened: Result<Object<dyn Gate>, Error> = PORTALS.open_object("gate.gate");
        let Ok(gate) = opened else {
            check("opened", opened.map(drop), Ok(()));
            return;
        };
        let called = check("by name", gate.proxy().sum(&[1, 2, 3], 0), Ok(6));
        let door = gate.proxy().door(PORTALS, round);
        let Ok(door) = door else {
            check("an object", door.map(drop), Ok(()));
            return;
        };
        for _ in 0..3 {
            pause(40);
            if !check("its answer", door.proxy().answer(), Ok(round)) {
                return;
            }
        }
        let ended = check("its end", door.proxy().end(), Ok(()));
        let closed =
            [PORTALS.close(door.first_portal().into()), PORTALS.close(gate.first_portal().into())];
        if !called || !ended || !check("closed", closed, [Ok(()), Ok(())]) {
            return;
        }
    }
}

/// Objects that are kept, and what they answer.
const KEPT: usize = 40;

fn grabs() {
    let mut doors = [const { None }; KEPT];
    for (answer, place) in (0..).zip(&mut doors) {
        match GATE.door(PORTALS, answer) {
            Ok(door) => *place = Some(door),
            Err(error) => {
                check("no more objects", error, Error::Exhausted);
                break;
            }
        }
    }
    let mut opened: [Option<Object<dyn Gate>>; 256] = [const { None }; 256];
    let mut count = 0;
    while let Some(place) = opened.get_mut(count)
        && let Ok(gate) = PORTALS.open_object("gate.gate")
    {
        (*place, count) = (Some(gate), count + 1);
    }
    check("its part is used up", count < opened.len(), true);
    loop {
        for (answer, door) in (0..).zip(doors.iter().flatten()) {
            if !check("a kept object", door.proxy().answer(), Ok(answer)) {
                return;
            }
        }
        for gate in opened.iter().flatten() {
            if !check("a kept portal", gate.proxy().sum(&[7], 0), Ok(7)) {
                return;
            }
        }
        pause(1000);
    }
}

fn stays(_: u64) {
    PAGES.with(|pages| {
        let _ = GATE.fill(&mut pages.0, 1, time::ticks(100_000));
    });
}

fn dies() {
    let _ = spawn(THREADS, &STACK, stays, 0, 70);
    pause(5_000 + time::now() % 1_000);
    panic!("on purpose");
}

fn main() {
    match arguments::kind() {
        kinds::BRINGS => brings(),
        kinds::INSIDE => inside(),
        kinds::OPENS => opens(),
        kinds::GRABS => grabs(),
        _ => dies(),
    }
}
