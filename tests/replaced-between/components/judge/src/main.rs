//! Replaces who stands between the greeter and its callers, and before the page faults of a pager's client, while threads call and miss pages.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::thread::Stack;
use cairn_app_interfaces::Echo;
use cairn_interfaces::{self as interfaces, spawn};
use cairn_test_hostile_contract::judge::{self, life};
use cairn_test_hostile_contract::say;
use cairn_test_interposed_contract::{Between, Manner};
use cairn_test_replaced_pagers_contract::User;
use core::fmt::Debug;
// Relaxed: counts.
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "replaced-between-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        memory: interfaces::MemoryStatistics,
        replacement: interfaces::Replacement,
        loader: interfaces::Loader,
        echo: Echo,
        guard: Between,
        interposition: interfaces::Interposition,
        tool: interfaces::Tool,
        user: User,
    },
    arguments: { rounds: u64 },
    main: main,
}

use imports::*;

const CALLERS: usize = 3;
const LIMIT_MILLISECONDS: u64 = 100;

static STACKS: [Stack<8192>; CALLERS] = [const { Stack::new() }; CALLERS];
static ONCE: Stack<8192> = Stack::new();
static RIGHT: [AtomicU64; CALLERS] = [const { AtomicU64::new(0) }; CALLERS];
static LOST: AtomicU64 = AtomicU64::new(0);
static STOP: AtomicU64 = AtomicU64::new(0);

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

const SAID: &str = "said by one of three";
/// What the other client says.
const OTHER_SAID: &str = "over two pages, as a buffer that is passed on may lie";

/// Of texts that callers mix each byte is one's.
fn is_heard(text: &[u8]) -> bool {
    let is_of = |said: &str, place: usize, byte| said.as_bytes().get(place) == Some(byte);
    let mut bytes = text.iter().enumerate();
    bytes.all(|(place, byte)| is_of(SAID, place, byte) || is_of(OTHER_SAID, place, byte))
}

fn call(place: u64) {
    let mut number = place;
    let mut text = [0; 256];
    while STOP.load(Relaxed) == 0 {
        number += 1;
        let is_right = match number % 3 {
            0 => ECHO.say(SAID).is_ok(),
            1 => ECHO.fill(&mut text).is_ok_and(|length| is_heard(&text[..length])),
            _ => ECHO.add(number, place) == Ok(number + place),
        };
        let count = if is_right { &RIGHT[place as usize] } else { &LOST };
        count.fetch_add(1, Relaxed);
        judge::pause(THREADS, 20 + 10 * place);
    }
}

fn replace(package: &str) -> Result<(), Error> {
    replace_of("guard", package)
}

fn replace_of(name: &str, package: &str) -> Result<(), Error> {
    let replaced = REPLACEMENT.replace(name, package, LIMIT_MILLISECONDS).map(drop);
    if replaced.is_err() {
        let mut text = [0; 192];
        let length = LOADER.explain(&mut text).unwrap_or(0);
        say!("replaced: {package}: {}", core::str::from_utf8(&text[..length]).unwrap_or("?"));
    }
    replaced
}

/// How many calls have gone through this life of the guard.
fn passed() -> u64 {
    GUARD.passed().map_or(0, |(calls, _)| calls)
}

/// How often the user of pages has died.
fn deaths() -> u64 {
    life(SUPERVISOR, "user", |_, restarts| restarts).unwrap_or(u64::MAX)
}

fn rounds() -> u64 {
    USER.rounds().unwrap_or(0)
}

/// Calls go on, and through the guard.
fn go_on() {
    let before = (passed(), RIGHT.each_ref().map(|count| count.load(Relaxed)));
    let round = rounds();
    let all_go_on = judge::wait_until(THREADS, || {
        passed() > before.0
            && rounds() > round
            && RIGHT.iter().zip(before.1).all(|(count, before)| count.load(Relaxed) > before)
    });
    if !all_go_on {
        expect("all go on", passed(), u64::MAX);
    }
}

/// Counts all calls of this instance to the greeter, before and behind a replacement.
fn counted() {
    STOP.store(1, Relaxed);
    judge::pause(THREADS, 20_000);
    expect("told to count", TOOL.act(interfaces::Action::Count, 0, 1, ""), Ok(()));
    let wrapped = INTERPOSITION.wrap("judge", "greeter", "counter", false);
    expect("it stands there", wrapped.is_ok_and(|portals| portals > 0), true);
    for number in 0..10 {
        expect("counted", ECHO.add(number, 1), Ok(number + 1));
        expect("replaced", replace_of("counter", "counter2"), Ok(()));
    }
    let mut text = [0; 192];
    let length = TOOL.counted(0, &mut text).map_or(0, |(length, _)| length);
    let line = core::str::from_utf8(&text[..length]).unwrap_or("?");
    say!("replaced: {line}");
    let mut words = line.split(' ');
    let calls = (words.nth(1), words.next(), words.next());
    expect("all of them", calls, (Some("add"), Some("10"), Some("0")));
    expect("taken out", INTERPOSITION.unwrap("judge", "greeter", "counter").is_ok(), true);
}

/// Replaces once, whatever becomes of it.
fn replace_once(_: u64) {
    let _ = REPLACEMENT.replace("guard", "larger", LIMIT_MILLISECONDS);
}

/// Who replaces, who stands between, the server or a client is killed at some instant of it. Calls may fail then; nothing else is lost.
fn disturbed(before: Result<(u64, u64), Error>) {
    for victim in ["loader", "guard", "greeter", "caller"] {
        for round in 0..arguments::rounds() / 2 {
            let once = spawn(THREADS, &ONCE, replace_once, 0, 79).expect("a thread");
            judge::pause(THREADS, 41 * round % 1500);
            if SUPERVISOR.restart(victim).is_err() {
                expect("it is killed", round, u64::MAX);
            }
            let _ = once.join();
            // It may have missed a page while nobody stood before its pager.
            let _ = SUPERVISOR.restart("user");
            go_on();
        }
        let is_replaced = judge::wait_until(THREADS, || {
            REPLACEMENT.replace("guard", "guard2", LIMIT_MILLISECONDS).is_ok()
        });
        expect("it is replaced", (victim, is_replaced), (victim, true));
        go_on();
        judge::wait_until(THREADS, || MEMORY.usage() == before);
        expect("nothing is left of it", (victim, MEMORY.usage()), (victim, before));
    }
}

fn main() {
    for (place, priority) in [30, 50, 70].into_iter().enumerate() {
        spawn(THREADS, &STACKS[place], call, place as u64, priority).expect("a thread");
    }
    go_on();
    expect("by itself", replace("guard2"), Ok(()));
    go_on();
    let died = deaths();
    let before = MEMORY.usage();
    for round in 0..arguments::rounds() {
        expect("replaced", replace(["larger", "guard2"][round as usize % 2]), Ok(()));
        go_on();
        if round % 8 == 0 {
            expect("one that stands nowhere", replace("deaf"), Err(Error::NotReady));
            go_on();
            expect("one that dies", replace("faults"), Err(Error::Dead));
            go_on();
        }
    }
    expect("no call is lost", LOST.load(Relaxed), 0);
    expect("no page is lost", deaths(), died);
    expect("nothing is left", MEMORY.usage(), before);
    disturbed(before);
    counted();
    // What it refuses it refuses in its place, too, and until its place is another's.
    STOP.store(1, Relaxed);
    expect("nobody misses a page", SUPERVISOR.kill("user"), Ok(()));
    expect("it refuses", GUARD.behave(Manner::Drop), Ok(()));
    expect("a call", ECHO.add(1, 2), Err(Error::NotAllowed));
    expect("one that stands nowhere", replace("deaf"), Err(Error::NotReady));
    expect("it passes on in its next life", ECHO.add(1, 2), Ok(3));
    let through = passed();
    expect("through it", ECHO.add(2, 2), Ok(4));
    expect("nobody gets past it", passed(), through + 1);
    say!("replaced-between: done");
    let _ = SUPERVISOR.halt(0);
}
