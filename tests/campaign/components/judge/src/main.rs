//! Kills by chance, at any instruction, whoever takes part when components are loaded, unloaded, wrapped, unwrapped, passed on, taken
//! back and mapped. After each round nothing may be missing, and all that was not killed answers, as does all that was started again.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod health;
mod kills;

use cairn::text::Line;
use cairn_interfaces as interfaces;
use cairn_random::Random;
use cairn_test_campaign_contract::{self as course, Operation};
use cairn_test_hostile_capabilities_contract::{Agent, Bank};
use cairn_test_hostile_contract::say;
use cairn_test_paged_contract::Probe;
use kills::{Kills, Tally};

cairn::component! {
    name: "campaign-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        portals: interfaces::Portals,
        grants: interfaces::Grants,
        loader: interfaces::Loader,
        interposition: interfaces::Interposition,
        scheduling: interfaces::SchedulerStatistics,
        usage: interfaces::MemoryStatistics,
        code: interfaces::PortalListing,
        names: interfaces::Names,
        bank: Bank,
        near: Agent,
        far: Agent,
        probe: Probe,
    },
    arguments: {
        seed: u64 = 1,
        kills: u64 = 300,
    },
    main: main,
}

cairn_test_hostile_contract::harness!();

/// Kills between two looks.
const IN_A_ROUND: u64 = 10;
/// Rounds between two lines that say how far it is.
const TOLD: u64 = 20;

fn main() {
    let mut judge = harness::begin();
    let mut tally = Tally::default();
    let (first, rounds) = (arguments::seed(), arguments::kills().div_ceil(IN_A_ROUND));
    let is_quiet = kills::stop();
    judge.expect("all stop", is_quiet, true);
    health::all(&mut judge, "before");
    let capacity = health::capacity();
    judge.start();
    for round in 0..rounds {
        let seed = first + round;
        course::set_seed(seed);
        let kills = Kills::round(&mut Random::of_seed(seed), &mut tally);
        let failed = judge.failed();
        let is_quiet = kills::stop();
        let name = Line::<40>::of(format_args!("the round of seed {seed}"));
        judge.expect(name.text(), ("all stop", is_quiet), ("all stop", true));
        health::all(&mut judge, name.text());
        judge.returned(name.text());
        if judge.failed() != failed {
            kills.tell();
            break;
        }
        if round % TOLD == TOLD - 1 {
            say!("seed {seed}: {} kills", (round + 1) * IN_A_ROUND);
        }
    }
    judge.expect("as much can be loaded and passed on as before", health::capacity(), capacity);
    for operation in Operation::ALL {
        let (killed, done) = (tally.of(operation), course::successes(operation));
        say!("{operation:?}: {done} done, {killed} killed in it");
        let is_tried = operation == Operation::Nothing || (killed > 0 && done > 0);
        judge.expect("each was done and died in", (operation, is_tried), (operation, true));
    }
    judge.passed("nothing is lost");
    say!("campaign: done");
    let _ = SUPERVISOR.halt(judge.failed().min(255));
}

use imports::SUPERVISOR;
