//! Waits for alarms where others take all places and end. These are less urgent than the clock's driver and more urgent than this.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_driver_interfaces::WallClock;
use cairn_interfaces::{Console, SchedulerStatistics, Supervisor, Threads};

cairn::component! {
    name: "alarms-judge",
    imports: {
        console: Console,
        threads: Threads,
        supervisor: Supervisor,
        statistics: SchedulerStatistics,
        clock: WallClock,
    },
    main: main,
}

const SLEEPERS: [&str; 4] = ["sleeper-1", "sleeper-2", "sleeper-3", "sleeper-4"];
/// In each, as many end as the clock has places.
const ROUNDS: u32 = 3;
/// Nanoseconds until an alarm. A time that has passed takes no place, so it is longer than this thread lacks the processor.
const SOON: u64 = 100_000_000;
/// Most changes of who runs in a second, by what begins and ends beside.
const INTERRUPTIONS: u32 = 12;

fn wait() -> Result<(), Error> {
    let due = imports::CLOCK.now()? + SOON;
    imports::CLOCK.wait_until(due)?;
    assert!(imports::CLOCK.now()? >= due, "an alarm before its time");
    Ok(())
}

fn wait_for(expected: Result<(), Error>) {
    while wait() != expected {
        let _ = imports::THREADS.sleep_until(cairn::time::now() + cairn::time::ticks(100));
    }
}

/// While all others wait, this thread keeps the processor: the alarms that never come do not interrupt.
fn is_quiet() {
    let end = cairn::time::now() + cairn::time::ticks(1_000_000);
    let (mut since, mut interruptions) = (0, 0);
    while cairn::time::now() < end {
        let now = imports::STATISTICS.running_since().expect("statistics");
        interruptions += u32::from(now != since);
        since = now;
    }
    assert!(interruptions <= INTERRUPTIONS, "{interruptions} interruptions");
}

fn main() {
    for round in 0..ROUNDS {
        if round > 0 {
            SLEEPERS.iter().for_each(|name| imports::SUPERVISOR.restart(name).expect("restart"));
        }
        wait_for(Err(Error::Busy));
        if round == 0 {
            is_quiet();
        }
        SLEEPERS.iter().for_each(|name| imports::SUPERVISOR.kill(name).expect("kill"));
        wait_for(Ok(()));
    }
    let _ = imports::CONSOLE.print(format_args!("ok: who ended has left its place\n"));
    let _ = imports::SUPERVISOR.halt(0);
}
