//! Has everyone else take all of what is shared, and sees that its own part is kept, and that no call takes longer.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod attacks;
mod rounds;

use cairn::Error;
use cairn_interfaces as interfaces;
use cairn_test_hostile_contract::say;
use cairn_test_hostile_parts::{Taker, deed};
use harness::Judge;

cairn::component! {
    name: "hostile-parts-judge",
    imports: {
        console: interfaces::Console,
        scheduling: interfaces::SchedulerStatistics,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        usage: interfaces::MemoryStatistics,
        code: interfaces::PortalListing,
        names: interfaces::Names,
        memory: interfaces::Memory,
        portals: interfaces::Portals,
        clock: interfaces::Clock,
    },
    main: main,
}

/// How many of them there are, called `t-1` and so on.
const TAKERS: usize = 17;

/// All takers. The judge has no room for the portals of all of them at a time, so it opens them for each call.
struct Takers;

/// What a taker's export is called: its instance stands before the dot.
fn taker_name(number: usize) -> &'static str {
    const NAMES: [&str; TAKERS] = [
        "t-1.taker",
        "t-2.taker",
        "t-3.taker",
        "t-4.taker",
        "t-5.taker",
        "t-6.taker",
        "t-7.taker",
        "t-8.taker",
        "t-9.taker",
        "t-10.taker",
        "t-11.taker",
        "t-12.taker",
        "t-13.taker",
        "t-14.taker",
        "t-15.taker",
        "t-16.taker",
        "t-17.taker",
    ];
    NAMES[number % TAKERS]
}

impl Takers {
    fn one(&self, number: usize, deed: u64, argument: u64) -> Result<u64, Error> {
        let taker = imports::PORTALS.open_object::<dyn Taker>(taker_name(number))?;
        let answer = taker.proxy().take(deed, argument);
        imports::PORTALS.close(taker.first_portal().into())?;
        answer
    }

    /// Has all of them do it.
    fn all(&self, judge: &mut Judge, name: &str, deed: u64, argument: u64) {
        for number in 0..TAKERS {
            judge.expect(name, self.one(number, deed, argument).map(drop), Ok(()));
        }
    }

    /// Starts takers again, after which they have nothing.
    fn restart(&self, judge: &mut Judge, name: &str, numbers: core::ops::Range<usize>) {
        for number in numbers {
            let text = taker_name(number).split('.').next().unwrap_or("");
            judge.expect(name, imports::SUPERVISOR.restart(text), Ok(()));
            harness::wait_until(|| self.one(number, deed::DOMAIN, 0).is_ok());
        }
    }
}

cairn_test_hostile_contract::harness!();

fn main() {
    let mut judge = harness::begin();
    attacks::all(&mut judge, &Takers);
    rounds::all(&mut judge, &Takers);
    let failed = judge.failed();
    say!("hostile-parts: {failed} failed");
    let _ = imports::SUPERVISOR.halt(failed.min(1));
}
