//! Counts what the longest of many operations of the portal manager takes, before any hostile thread runs, and again
//! when many wait as deep in calls as they get.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::measure::Stamp;
use cairn::time::{counter, ticks};
use cairn::{Error, environment};
use cairn_interfaces as interfaces;
use core::fmt::{self, Write};
use core::sync::atomic::Ordering;

cairn::component! {
    name: "hostile-depth-judge",
    imports: {
        console: interfaces::Console,
        portals: interfaces::Portals,
        listing: interfaces::PortalListing,
        threads: interfaces::Threads,
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

/// Threads of the divers that count themselves.
const DIVERS: i64 = 48;
/// More blocks than the judge's part of them, so that whatever they leave has to be taken back in between.
const BLOCKS: usize = 250;
/// Series, of which the best counts: an interrupt may come in any operation.
const SERIES: usize = 4;

type Operation = (&'static str, fn() -> Result<(), Error>);

const OPERATIONS: [Operation; 3] = [
    ("open an export, close it", || {
        let first = imports::PORTALS.open("console.console", 0, b"")?;
        imports::PORTALS.close(first)
    }),
    ("make a semaphore, close it", || {
        let semaphore = imports::PORTALS.semaphore(0)?;
        imports::PORTALS.close(semaphore.first_portal().into())
    }),
    ("ask how much portal code is in use", || imports::LISTING.usage().map(drop)),
];

/// Executed instructions of the longest of many operations.
fn longest((name, operation): Operation) -> i64 {
    let series = || {
        (0..BLOCKS).map(|_| {
            let before = Stamp::begin();
            let result = operation();
            let after = Stamp::end();
            if let Err(error) = result {
                let _ = writeln!(Screen, "FAILED {name}: {}", error.text());
            }
            (after - before).instructions
        })
    };
    (0..SERIES).filter_map(|_| series().max()).min().unwrap_or(i64::MAX)
}

fn main() {
    // The divers have a lower priority, and have not run yet.
    let alone = OPERATIONS.map(longest);
    let stage = &environment::section("stage").expect("the section is described").words(1)[0];
    while stage.load(Ordering::Relaxed) < DIVERS {
        imports::THREADS.sleep_until(counter() + ticks(10_000)).expect("sleeping does not fail");
    }
    let mut failed = 0;
    for (operation, alone) in OPERATIONS.into_iter().zip(alone) {
        let beside = longest(operation);
        let is_bounded = beside <= alone + alone / 16 + 200;
        failed += u64::from(!is_bounded);
        let verdict = if is_bounded { "ok" } else { "FAILED" };
        let name = operation.0;
        let _ = writeln!(Screen, "{verdict} {name}: {alone} alone, {beside} beside deep threads");
    }
    let _ = writeln!(Screen, "hostile-depth: {failed} failed");
    let _ = imports::SUPERVISOR.halt(failed);
}
