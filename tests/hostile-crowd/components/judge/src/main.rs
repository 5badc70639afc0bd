//! Counts what operations of the shared components cost before any other client has asked for anything, and
//! again when 200 have taken all they can get.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::InstanceId;
use cairn::measure::Stamp;
use cairn::time::{counter, ticks};
use cairn_interfaces as interfaces;
use cairn_test_hostile_contract::operations::{OPERATIONS, Operation, Servers};
use cairn_test_hostile_contract::{Victim, rounds};
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
        names: interfaces::Names,
        usage: interfaces::MemoryStatistics,
        code: interfaces::PortalListing,
        neighbour: Victim,
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

const SERVERS: Servers = Servers {
    memory: imports::MEMORY,
    portals: imports::PORTALS,
    threads: imports::THREADS,
    clock: imports::CLOCK,
    console: imports::CONSOLE,
    supervisor: imports::SUPERVISOR,
};

const RESTART: &str = "start an instance again";

/// What not everyone may ask for.
const FURTHER: [Operation; 6] = [
    ("write a line", |_| imports::CONSOLE.write(b"\n")),
    ("find a name, describe its method", |_| {
        imports::NAMES.look_up(InstanceId(1), b"clock.clock").map(drop).or(Ok(()))?;
        imports::NAMES.describe_method("clock.clock", 0, &mut [0; 64]).map(drop)
    }),
    ("the next name", |_| imports::NAMES.list(0, &mut [0; 64]).map(drop)),
    ("what there is of memory", |_| {
        imports::USAGE.usage().and(imports::USAGE.usage_of(InstanceId(1))).map(drop)
    }),
    ("describe a portal", |_| imports::CODE.describe(InstanceId(1), 1, &mut [0; 64]).map(drop)),
    (RESTART, |_| {
        imports::SUPERVISOR.restart("neighbour")?;
        while imports::NEIGHBOUR.echo(1) != Ok(2) {
            imports::THREADS.sleep_until(counter() + ticks(50))?;
        }
        Ok(())
    }),
];

/// Executed instructions of an operation, the best of some rounds.
fn cost(operation: Operation) -> i64 {
    let mut least = i64::MAX;
    for _ in 0..ROUNDS {
        let before = Stamp::begin();
        let result = (operation.1)(&SERVERS);
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
    // The crowd waits until it is told to begin; by deadlines, everyone else may begin after this.
    imports::THREADS.sleep_until(counter() + ticks(20_000)).expect("sleeping does not fail");
    let all = || OPERATIONS.into_iter().chain(FURTHER);
    let mut alone = [0; OPERATIONS.len() + FURTHER.len()];
    alone.iter_mut().zip(all()).for_each(|(alone, operation)| *alone = cost(operation));
    rounds::begin();
    let rounds = rounds::all().expect("the section is described");
    while rounds.iter().map(|rounds| rounds.load(Ordering::Relaxed)).sum::<i64>() < CLIENTS {
        imports::THREADS.sleep_until(counter() + ticks(10_000)).expect("sleeping does not fail");
    }
    let mut failed = 0;
    for (operation, alone) in all().zip(alone) {
        let crowded = cost(operation);
        // A search from a hint may differ a little, and so may each portal of which others displaced the template; a search over
        // what others have is a multiple.
        // A death looks at the invocation stacks of all threads, which the system's `threads` bound, and where others are
        // in calls has more to look at.
        let part = if operation.0 == RESTART { 1 } else { 16 };
        // A heap of 200 threads has eight levels, of up to 32 instructions. Who sleeps goes through one; by deadlines, who yields
        // leaves that of the ready threads and enters it again.
        let is_bounded = crowded <= alone.saturating_add(alone / part).saturating_add(3 * 256);
        failed += u64::from(!is_bounded || alone == i64::MAX);
        let verdict = if is_bounded { "ok" } else { "FAILED" };
        let _ =
            writeln!(Screen, "{verdict} {}: {alone} alone, {crowded} in the crowd", operation.0);
    }
    let _ = writeln!(Screen, "hostile-crowd: {failed} failed");
    let _ = imports::SUPERVISOR.halt(failed);
}
