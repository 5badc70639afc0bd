//! A component that shall always run, and returns from its main function again and again.

use crate::harness::{Judge, wait_until};
use crate::imports::RETURNER;
use cairn::time::ticks;
use core::cell::Cell;

/// The time of the start of this generation; zero if it was looked for too late.
fn start_of(generation: u64) -> u64 {
    let found = Cell::new(0);
    wait_until(|| {
        // It is not there when it has no time yet.
        let started = RETURNER.started().unwrap_or(0);
        found.set(started);
        started >> 16 != 0 && started & 0xffff >= generation
    });
    if found.get() & 0xffff == generation { found.get() >> 16 } else { 0 }
}

pub fn attacks(judge: &mut Judge) {
    let name = "returns from its main function again and again";
    // Each start but the first has a delay, which doubles.
    let starts = [2, 3, 4, 5].map(start_of);
    for (pair, delay) in starts.windows(2).zip([20_000, 40_000, 80_000]) {
        let seen = pair[0] != 0 && pair[1] != 0;
        let apart = pair[1].saturating_sub(pair[0]);
        judge.expect(name, seen.then_some(apart >= ticks(delay)), seen.then_some(true));
    }
    judge.expect(name, starts.iter().filter(|start| **start != 0).count() > 2, true);
    // It begins and ends while this goes on, so what the system has is not compared here.
    judge.passed(name);
}
