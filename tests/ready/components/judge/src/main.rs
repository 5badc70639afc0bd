//! Calls components before they serve.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::section::Section;
use cairn::thread::Stack;
use cairn::{Error, environment};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_test_hostile_contract::{judge, say};
use cairn_test_ready_member::{ANSWERED, Member, REFUSED, lives, open, passed};
use core::fmt::Debug;
use core::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "ready-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        last: Member,
        early: Member,
        asleep: Member,
        failing: Member,
        late: Member,
        left: Member,
        right: Member,
        in_c: Member,
        early_in_c: Member,
    },
    main: main,
}

use imports::{
    ASLEEP, CONSOLE, EARLY, EARLY_IN_C, FAILING, IN_C, LAST, LATE, LEFT, RIGHT, SUPERVISOR, THREADS,
};

/// The members that need each other, the last of all: their gates are the first ones.
const MEMBERS: [&str; 6] = ["one", "two", "three", "four", "five", "six"];
const ORDERS: u64 = 720;
/// The gates of the others, as the description has them.
const GATE_EARLY: u64 = 6;
const GATE_FAILING: u64 = 7;
const GATE_LATE: u64 = 8;
const GATE_IN_C: u64 = 9;
const GATE_EARLY_IN_C: u64 = 10;
const PRIORITY: u8 = 50;

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

fn is(name: &str, state: &str, restarts: u64) -> bool {
    judge::life(SUPERVISOR, name, |found, count| (found, count) == (state, restarts)) == Some(true)
}

fn wait_until(condition: impl Fn() -> bool) -> bool {
    judge::wait_until(THREADS, condition)
}

static STACK: Stack<8192> = Stack::new();
/// What the last call that another thread made answered: a value, or an error's status; [`UNKNOWN`] until then.
static ANSWER: AtomicI64 = AtomicI64::new(UNKNOWN);
const UNKNOWN: i64 = i64::MAX;
static BEGUN: AtomicU64 = AtomicU64::new(0);

fn call(which: u64) {
    BEGUN.fetch_add(1, Relaxed);
    let answer = match which {
        0 => LAST.value(),
        1 => FAILING.value(),
        2 => IN_C.value(),
        _ => LATE.value_after(3000),
    };
    ANSWER.store(answer.map_or_else(|error| error.status(), |value| value as i64), Relaxed);
}

/// Has another thread call, does what is to be done while it waits, and tells what it was answered, if it had to wait.
fn answered(which: u64, meanwhile: impl FnOnce()) -> Option<i64> {
    ANSWER.store(UNKNOWN, Relaxed);
    let begun = BEGUN.load(Relaxed);
    let thread = spawn(THREADS, &STACK, call, which, PRIORITY).ok()?;
    wait_until(|| BEGUN.load(Relaxed) > begun);
    judge::pause(THREADS, 50);
    let waited = ANSWER.load(Relaxed) == UNKNOWN;
    meanwhile();
    thread.join().ok()?;
    waited.then(|| ANSWER.load(Relaxed))
}

/// The `number`th order of the members.
fn order(mut number: u64) -> [u64; 6] {
    let mut order = [0, 1, 2, 3, 4, 5];
    for place in 0..5 {
        let left = 6 - place;
        order[place..].rotate_right((number % left as u64) as usize);
        number /= left as u64;
    }
    order
}

/// All members start again, and begin to prepare in this order. Whether a call that was there before waited, and found all of it.
fn comes_up(gates: Section, number: u64) -> bool {
    for (gate, name) in (0..).zip(MEMBERS) {
        gates.store(open(gate), 0);
        gates.store(passed(gate), 0);
        let before = gates.load(lives(gate));
        let restarts = SUPERVISOR.restart(name) == Ok(());
        if !restarts || !wait_until(|| gates.load(lives(gate)) > before) {
            return false;
        }
    }
    let answer = answered(0, || {
        for gate in order(number) {
            gates.store(open(gate), 1);
            wait_until(|| gates.load(passed(gate)) == 1);
        }
    });
    answer == Some(6)
}

fn main() {
    let gates = environment::section("gates").expect("the description gives it");
    let open_gate = |gate| gates.store(open(gate), 1);
    expect("who is called waits for nobody if it says so", EARLY.value(), Err(Error::NotReady));
    open_gate(GATE_EARLY);
    expect("until it serves", wait_until(|| EARLY.value() == Ok(1)), true);
    let first = answered(0, || (0..6).rev().for_each(open_gate));
    expect("a call from before the first start waits for all", first, Some(6));
    expect("who is started by a call serves it when it is ready", ASLEEP.value(), Ok(1));
    let circle = (LEFT.value(), RIGHT.value());
    let (answered_one, refused) = (Ok(1 + ANSWERED), Ok(1 + REFUSED));
    let is_refused = circle == (answered_one, refused) || circle == (refused, answered_one);
    expect("of two that wait for each other one is refused", is_refused, true);
    let failed = answered(1, || open_gate(GATE_FAILING));
    expect("who dies before it serves", failed, Some(Error::Dead.status()));
    expect("serves in its next life", wait_until(|| FAILING.value() == Ok(1)), true);
    expect("whose client died", SUPERVISOR.kill("client"), Ok(()));
    expect("lets it go", wait_until(|| is("client", "dead", 0)), true);
    let late = answered(3, || {
        judge::pause(THREADS, 30_000);
        open_gate(GATE_LATE);
    });
    expect("the time before it serves is nobody's fault", late, Some(1));
    expect("and nobody was blamed", is("late", "alive", 0), true);
    for life in 1..=2 {
        let in_c = answered(2, || open_gate(GATE_IN_C));
        expect("a call of one in C waits until it serves", in_c, Some(1));
        expect("and later ones do not wait", IN_C.value_after(10), Ok(1));
        gates.store(open(GATE_IN_C), 0);
        if life == 1 {
            expect("it begins anew", SUPERVISOR.restart("in-c"), Ok(()));
            expect("in its next life", wait_until(|| gates.load(lives(GATE_IN_C)) == 2), true);
        }
    }
    expect("or is told, in C too", EARLY_IN_C.value(), Err(Error::NotReady));
    open_gate(GATE_EARLY_IN_C);
    expect("until it serves, in C too", wait_until(|| EARLY_IN_C.value() == Ok(1)), true);
    let wrong = (0..ORDERS).find(|number| !comes_up(gates, *number));
    expect("every order of six", wrong.map(order), None);
    say!("ready: done");
    let _ = SUPERVISOR.halt(0);
}
