//! Has others take all the time, and sees whether the pulse keeps its deadlines.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::section::Section;
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn::{Error, environment};
use cairn_interfaces as interfaces;
use cairn_interfaces::spawn;
use cairn_test_hostile_beat::{Spinner, Storm, beats, mode};
use cairn_test_hostile_contract::{judge, say};
use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "hostile-judge-time",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        storm: Storm,
        spinner: Spinner,
        illegal: Spinner,
    },
    main: main,
}

/// The pulse runs at most so many microseconds after it is due, and the driver of the second device after its interrupt,
/// unless the argument says two other numbers; in the emulator, where an instruction takes a nanosecond, that is
/// 4,000 and 2,000 instructions.
const LATEST: [u64; 2] = [4, 2];
/// Of each test.
const BEATS: u64 = 50;

struct Judge {
    section: Section,
    latest: [u64; 2],
    failed: u64,
}

impl Judge {
    fn expect<T: PartialEq + fmt::Debug>(&mut self, what: &str, found: T, expected: T) {
        if found != expected {
            self.failed += 1;
            say!("FAILED {what}: {found:?} expected {expected:?}");
        }
    }

    /// Waits while the pulse beats and the second device interrupts, then says how late they were.
    fn listen(&mut self, name: &str) {
        let failed = self.failed;
        let first = [beats::COUNT, beats::ALARMS].map(|count| self.section.load(count));
        self.section.store(beats::LATEST, 0);
        self.section.store(beats::ALARM_LATEST, 0);
        while self.section.load(beats::COUNT) < first[0] + BEATS {
            pause(500);
        }
        let latest = self.section.load(beats::LATEST);
        if latest > ticks(self.latest[0]) {
            self.failed += 1;
            say!("FAILED {name}: {latest} ticks late");
        }
        // As often as the pulse, but for one at either end.
        let alarms = self.section.load(beats::ALARMS) - first[1];
        self.expect("interrupts of the second device", alarms + 2 >= BEATS, true);
        let alarm = self.section.load(beats::ALARM_LATEST);
        if alarm > self.latest[1] * 1000 {
            self.failed += 1;
            say!("FAILED {name}: the second device's driver {alarm} ns late");
        }
        if failed == self.failed {
            say!("ok: {name}, at most {latest} ticks late, the other driver {alarm} ns");
        }
    }
}

fn pause(microseconds: u64) {
    imports::THREADS.sleep_until(now() + ticks(microseconds)).expect("sleep");
}

fn main() {
    let section = environment::section("beats").expect("section");
    let argued = [0, 1].map(|position| word(environment::argument(), position));
    let latest = [0, 1].map(|number| argued[number].unwrap_or(LATEST[number]));
    let mut judge = Judge { section, latest, failed: 0 };
    pause(20_000);
    judge.listen("nothing happens");
    storm(&mut judge);
    spin(&mut judge);
    illegal(&mut judge);
    crash_loop(&mut judge);
    let failed = judge.failed;
    say!("hostile-time: {failed} failed");
    let _ = imports::SUPERVISOR.halt(failed.min(1));
}

fn interrupts(mode: u64) -> u64 {
    imports::STORM.behave(mode).expect("storm")
}

fn storm(judge: &mut Judge) {
    let calm = interrupts(mode::STORM);
    judge.listen("an interrupt storm");
    let storm = interrupts(mode::CALM);
    say!("{} interrupts", storm - calm);
    judge.expect("it was a storm", storm - calm > 1000, true);
    interrupts(mode::SILENCE);
    judge.listen("a driver that does not acknowledge");
    let silence = interrupts(mode::CALM);
    judge.expect("nothing more comes of the source", silence - storm <= 2, true);
}

static STACK: Stack<8192> = Stack::new();
static RESULT: AtomicI64 = AtomicI64::new(0);

fn spin(judge: &mut Judge) {
    let call = |_| RESULT.store(imports::SPINNER.spin().map_or_else(Error::status, |_| 0), Relaxed);
    let thread = spawn(imports::THREADS, &STACK, call, 0, 30).expect("spawn");
    judge.listen("a callee that never returns");
    judge.expect("it has not returned", RESULT.load(Relaxed), 0);
    judge.expect("kill", imports::SUPERVISOR.kill("spinner"), Ok(()));
    judge.expect("join", thread.join(), Ok(()));
    judge.expect("its caller", RESULT.load(Relaxed), Error::Dead.status());
}

static ENOUGH: AtomicBool = AtomicBool::new(false);
static DEATHS: AtomicU64 = AtomicU64::new(0);

/// Illegal instructions, one after the other: the firmware looks at each, with interrupts off, before it is a fault.
fn illegal(judge: &mut Judge) {
    let call = |_| {
        while !ENOUGH.load(Relaxed) {
            if imports::ILLEGAL.spin() == Err(Error::Dead) {
                DEATHS.store(DEATHS.load(Relaxed) + 1, Relaxed);
            }
            let _ = imports::SUPERVISOR.restart("illegal");
        }
    };
    let thread = spawn(imports::THREADS, &STACK, call, 0, 30).expect("spawn");
    judge.listen("illegal instructions");
    ENOUGH.store(true, Relaxed);
    judge.expect("join", thread.join(), Ok(()));
    judge.expect("there were many", DEATHS.load(Relaxed) > 50, true);
}

/// The decimal number that is the `position`th word.
fn word(text: &str, position: usize) -> Option<u64> {
    text.split(' ').nth(position)?.parse().ok()
}

/// The instance `loop` faults as soon as it starts, and is always started again.
fn crash_loop(judge: &mut Judge) {
    for _ in 0..3 {
        judge.expect("restart", imports::SUPERVISOR.restart("loop"), Ok(()));
        judge.listen("a crash loop");
    }
    let restarts = judge::life(imports::SUPERVISOR, "loop", |_, restarts| restarts);
    // Each delay is twice the one before, so there are few of them in 50 ms.
    judge.expect("restarts", restarts.is_some_and(|restarts| (8..30).contains(&restarts)), true);
}
