//! A console that keeps whoever writes; its argument says how.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::time::{now, ticks};
use cairn::window::ReadWindow;
use cairn::{Error, environment};
use cairn_interfaces::{Console, Portals, Threads, WriteOnlyConsole};

/// What the one that answers late sleeps, and the slow one works.
const LATE_MICROSECONDS: u64 = 3_000_000;
const WORK_MICROSECONDS: u64 = 1_000_000;
/// Longer than what the slow one does between two looks at the time, unless somebody else runs in between.
const STEP_MICROSECONDS: u64 = 500;

struct Screen;
static SCREEN: Screen = Screen;

cairn::component! {
    name: "hostile-screen",
    imports: { threads: Threads, portals: Portals },
    exports: { console: Console = SCREEN },
    objects: {},
}

/// Works, without a wait, for a time that does not count who else runs.
fn work() {
    let mut left = ticks(WORK_MICROSECONDS);
    while left > 0 {
        let begin = now();
        (0..1000).for_each(|_| core::hint::spin_loop());
        let passed = now() - begin;
        if passed < ticks(STEP_MICROSECONDS) {
            left = left.saturating_sub(passed);
        }
    }
}

impl WriteOnlyConsole for Screen {
    fn write(&self, _: ReadWindow<'_>) -> Result<(), Error> {
        loop {
            match environment::argument() {
                "waits" => imports::THREADS.sleep_until(u64::MAX)?,
                "deaf" => drop(imports::THREADS.sleep_until(u64::MAX)),
                "late" => {
                    imports::THREADS.sleep_until(now() + ticks(LATE_MICROSECONDS))?;
                    return Err(Error::Busy);
                }
                "slow" => {
                    work();
                    return Ok(());
                }
                _ => core::hint::spin_loop(),
            }
        }
    }
}
