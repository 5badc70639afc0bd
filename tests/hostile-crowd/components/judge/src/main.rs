//! Counts what operations of the shared components cost before any other client has asked for anything, and
//! again when 200 have taken all they can get.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn::measure::Stamp;
use cairn::thread::Stack;
use cairn::time::{counter, ticks};
use cairn_interfaces as interfaces;
use cairn_interfaces::{TimerProxy, spawn};
use core::fmt::{self, Write};
use core::sync::atomic::Ordering;

cairn::component! {
    name: "hostile-crowd-judge",
    imports: {
        console: interfaces::Console,
        portals: interfaces::Portals,
        memory: interfaces::Memory,
        threads: interfaces::Threads,
        clock: interfaces::Clock,
        supervisor: interfaces::Supervisor,
    },
    main: main,
}

struct Screen;
impl Write for Screen {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        imports::CONSOLE.write(text.as_bytes()).map(drop).map_err(|_| fmt::Error)
    }
}

/// The crowd.
const CLIENTS: i64 = 200;
/// The best of so many counts: an interrupt may come in any of them.
const ROUNDS: usize = 5;

static STACK: Stack<4096> = Stack::new();

type Operation = (&'static str, fn() -> Result<(), cairn::Error>);

const OPERATIONS: [Operation; 11] = [
    ("allocate a page, free it", || {
        imports::MEMORY.allocate(1).and_then(|page| imports::MEMORY.free(page, 1))
    }),
    ("make a section, drop it", || {
        imports::MEMORY.make_section(1).and_then(|section| imports::MEMORY.drop_section(section))
    }),
    ("make a semaphore, close it", || {
        let semaphore = imports::PORTALS.semaphore(0)?;
        imports::PORTALS.close(semaphore.first_portal().into())
    }),
    ("make a lock, close it", || {
        let lock = imports::PORTALS.lock()?;
        imports::PORTALS.close(lock.first_portal().into())
    }),
    ("publish a name, take it back", || {
        let semaphore = imports::PORTALS.semaphore(0)?.first_portal();
        imports::PORTALS.publish(semaphore.into(), "judge.own", "*")?;
        imports::PORTALS.unregister("judge.own")?;
        imports::PORTALS.close(semaphore.into())
    }),
    ("open an export, close it", || {
        let first = imports::PORTALS.open("clock.clock", 0, b"")?;
        imports::PORTALS.close(first)
    }),
    ("look for a name that is not there", || {
        match imports::PORTALS.open("nobody.nothing", 0, b"") {
            Err(cairn::Error::NotFound) => Ok(()),
            other => other.and(Err(cairn::Error::Unknown)),
        }
    }),
    ("open a timer, end it", || {
        let timer = imports::CLOCK.timer(imports::PORTALS, 1_000_000)?.first_portal();
        TimerProxy::at(timer).close()?;
        imports::PORTALS.close(timer.into())
    }),
    ("start a thread, join it", || spawn(imports::THREADS, &STACK, |_| (), 0, 200)?.join()),
    ("sleep", || imports::CLOCK.sleep(1_000)),
    ("describe an instance", || imports::SUPERVISOR.describe(1, &mut [0; 64]).map(drop)),
];

/// Executed instructions of an operation, the best of some rounds.
fn cost(operation: Operation) -> i64 {
    let mut least = i64::MAX;
    for _ in 0..ROUNDS {
        let before = Stamp::begin();
        let result = (operation.1)();
        let after = Stamp::end();
        if let Err(error) = result {
            let _ = writeln!(Screen, "FAILED {}: {}", operation.0, error.text());
            return i64::MAX;
        }
        least = least.min((after - before).instructions);
    }
    least
}

fn main() {
    // The crowd has a lower priority, and has not run yet.
    let alone = OPERATIONS.map(cost);
    let stage = &environment::section("stage").expect("the section is described").words(1)[0];
    while stage.load(Ordering::Relaxed) < CLIENTS {
        imports::THREADS.sleep_until(counter() + ticks(10_000)).expect("sleeping does not fail");
    }
    let mut failed = 0;
    for (operation, alone) in OPERATIONS.into_iter().zip(alone) {
        let crowded = cost(operation);
        // A search from a hint may differ a little; a search over what others have is a multiple.
        let is_bounded = crowded <= alone.saturating_add(alone / 16).saturating_add(200);
        failed += u64::from(!is_bounded || alone == i64::MAX);
        let verdict = if is_bounded { "ok" } else { "FAILED" };
        let _ =
            writeln!(Screen, "{verdict} {}: {alone} alone, {crowded} in the crowd", operation.0);
    }
    let _ = writeln!(Screen, "hostile-crowd: {failed} failed");
    let _ = imports::SUPERVISOR.halt(failed);
}
