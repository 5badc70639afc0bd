//! Kills, crashes and starts components by chance that do whatever they can, and looks what is missing when all are
//! dead. Its argument is the first number of chance and how many rounds.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn_interfaces as interfaces;
use cairn_random::Random;
use cairn_test_hostile_contract::measure::{Measure, Tellers};
use cairn_test_hostile_contract::{judge, say};

cairn::component! {
    name: "hostile-croupier",
    imports: {
        console: interfaces::Console,
        scheduling: interfaces::SchedulerStatistics,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        usage: interfaces::MemoryStatistics,
        code: interfaces::PortalListing,
        names: interfaces::Names,
    },
    main: main,
}

const PLAYERS: [&str; 4] = ["player-1", "player-2", "player-3", "player-4"];
/// Deaths in a round before all die.
const DEATHS: u64 = 12;

fn measure() -> Measure {
    Tellers {
        scheduling: imports::SCHEDULING,
        memory: imports::USAGE,
        portals: imports::CODE,
        names: imports::NAMES,
    }
    .measure()
}

fn pause(microseconds: u64) {
    judge::pause(imports::THREADS, microseconds);
}

/// One round; what there is when all are dead, once it is `before`, or after half a second.
fn round(chance: &mut Random, before: Option<Measure>) -> Measure {
    for player in PLAYERS {
        imports::SUPERVISOR.restart(player).expect("restart");
    }
    for _ in 0..DEATHS {
        pause(300 + chance.below(8000));
        let player = PLAYERS[chance.below(4) as usize];
        let _ = match chance.below(3) {
            0 => imports::SUPERVISOR.crash(player),
            _ => imports::SUPERVISOR.restart(player),
        };
    }
    for player in PLAYERS {
        // It may be dead already.
        let _ = imports::SUPERVISOR.kill(player);
    }
    let mut after = measure();
    for _ in 0..500 {
        if Some(after) == before {
            break;
        }
        pause(1000);
        after = measure();
    }
    after
}

fn main() {
    let mut words = environment::argument().split(' ');
    let mut number = || words.next().and_then(|word| word.parse().ok()).unwrap_or(1);
    let mut chance = Random::new(number());
    let rounds: u64 = number();
    let first = round(&mut chance, None);
    let mut failed = 0;
    for number in 1..=rounds {
        let after = round(&mut chance, Some(first));
        if after != first {
            failed += 1;
            say!("FAILED round {number}: {after:?} expected {first:?}");
        }
    }
    say!("hostile-chance: {rounds} rounds, {failed} failed");
    let _ = imports::SUPERVISOR.halt(failed.min(1));
}
