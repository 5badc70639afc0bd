//! Thousands of operations and a hundred deaths: what there is of everything, page tables too, is what it was.

use crate::Takers;
use crate::harness::Judge;
use crate::imports::{CLOCK, CONSOLE, MEMORY, PORTALS, SUPERVISOR, THREADS};
use cairn_test_hostile_contract::operations::{OPERATIONS, Servers};
use cairn_test_hostile_parts::deed;

const ROUNDS: usize = 400;
/// Rounds for a death.
const FOR_DEATH: usize = 4;

pub fn all(judge: &mut Judge, takers: &Takers) {
    let name = "thousands of operations and a hundred deaths";
    let servers = Servers {
        memory: MEMORY,
        portals: PORTALS,
        threads: THREADS,
        clock: CLOCK,
        console: CONSOLE,
        supervisor: SUPERVISOR,
    };
    let round = |judge: &mut Judge, number: usize| {
        for (operation, does) in OPERATIONS {
            judge.expect(operation, does(&servers), Ok(()));
        }
        if number.is_multiple_of(FOR_DEATH) {
            // It dies with a part of all that it can take.
            for (deed, argument) in [(deed::TIMERS, 2), (deed::SECTIONS, 0), (deed::PAGES, 0)] {
                judge.expect(name, takers.one(0, deed, argument).map(drop), Ok(()));
            }
            takers.restart(judge, name, 0..1);
        }
    };
    // As much as there was before the first attack.
    (0..ROUNDS).for_each(|number| round(judge, number));
    judge.end(name);
}
