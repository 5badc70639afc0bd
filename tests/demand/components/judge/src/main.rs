//! Calls a component that is started by calls, often and rarely.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_interfaces as interfaces;
use cairn_test_demand_server::Rare;
use cairn_test_hostile_contract::{judge, say};
use core::fmt::Debug;

cairn::component! {
    name: "demand-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        statistics: interfaces::MemoryStatistics,
        portals: interfaces::Portals,
        rare: Rare,
    },
    main: main,
}

use imports::{CONSOLE, PORTALS, RARE, STATISTICS, SUPERVISOR, THREADS};

/// As the description has it.
const IDLE_STOP_MICROSECONDS: u64 = 5000;

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

/// Whether the supervisor says that the server is in this state, after so many new starts.
fn is(state: &str, restarts: u64) -> bool {
    judge::life(SUPERVISOR, "rare", |found, count| (found, count) == (state, restarts))
        == Some(true)
}

fn wait_until(condition: impl Fn() -> bool) -> bool {
    judge::wait_until(THREADS, condition)
}

#[repr(align(4096))]
struct Page([u8; 4096]);
static PAGE: Page = Page([2; 4096]);

/// Calls that come while it ends because nobody called it: the first ones before that, the last ones after.
fn lost_calls() -> usize {
    const STEP_MICROSECONDS: u64 = 1;
    let comes_late = |step: u64| {
        assert!(wait_until(|| {
            judge::life(SUPERVISOR, "rare", |found, _| found == "asleep") == Some(true)
        }));
        let first = RARE.sum(&[4]);
        // Tried after its time, it ends after the same time once more.
        judge::pause(THREADS, 2 * IDLE_STOP_MICROSECONDS + step * STEP_MICROSECONDS);
        // What a call brings lies on a stack of it, or is a page in its page table.
        let brought = [RARE.sum(&[1, 2, 3]), RARE.sum(&PAGE.0)];
        (first, brought) != (Ok(4), [Ok(6), Ok(8192)])
    };
    (0..30).filter(|step| comes_late(*step)).count()
}

fn main() {
    expect("nobody called it yet", is("asleep", 0), true);
    expect("three bytes come with the first call", RARE.sum(&[1, 2, 3]), Ok(6));
    expect("its main function began", RARE.count(), Ok((1, 1)));
    expect("it lives", is("alive", 0), true);
    let free = STATISTICS.usage();
    expect("it takes memory", RARE.take_page().is_ok(), true);
    expect("which is gone", STATISTICS.usage() == free, false);
    expect("it sleeps again", wait_until(|| is("asleep", 1)), true);
    expect("its memory is back", STATISTICS.usage(), free);
    expect("a page comes with the next call", RARE.sum(&PAGE.0), Ok(8192));
    expect("this life is another", RARE.count(), Ok((1, 1)));
    for round in 2..20 {
        judge::pause(THREADS, IDLE_STOP_MICROSECONDS * 3 / 4);
        if RARE.count() != Ok((1, round)) {
            expect("who is called often stays", round, 0);
        }
    }
    expect("who is called often stays", RARE.count(), Ok((1, 20)));
    expect("and who has a caller inside", RARE.stay(IDLE_STOP_MICROSECONDS * 6), Ok(()));
    expect("with all that it has", RARE.count(), Ok((1, 21)));
    expect("it sleeps once more", wait_until(|| is("asleep", 2)), true);
    let opened = PORTALS.open_object::<dyn Rare>("rare.rare");
    let count = opened.as_ref().map(|rare| rare.proxy().count());
    expect("it is opened while it sleeps, and called", count, Ok(Ok((1, 1))));
    expect("its faults are ends", RARE.fail(), Err(Error::Dead));
    expect("after which it lives", wait_until(|| is("alive", 3)), true);
    expect("it sleeps after that", wait_until(|| is("asleep", 4)), true);
    expect("killed while it sleeps", SUPERVISOR.kill("rare"), Ok(()));
    expect("it does not answer", RARE.count(), Err(Error::Dead));
    expect("it is dead", wait_until(|| is("dead", 4)), true);
    expect("it is started by name", SUPERVISOR.restart("rare"), Ok(()));
    expect("and lives", wait_until(|| is("alive", 5)), true);
    expect("as new", RARE.count(), Ok((1, 1)));
    expect("no call is lost", lost_calls(), 0);
    say!("demand: done");
    let _ = SUPERVISOR.halt(0);
}
