//! The judge, with what this component is connected to.

use crate::imports::{CODE, CONSOLE, CONTROL, NAMES, THREADS, USAGE};
use cairn_test_hostile_contract::judge;
pub use cairn_test_hostile_contract::judge::Judge;
use cairn_test_hostile_contract::measure::Tellers;

pub fn begin() -> Judge {
    let tellers = Tellers { control: CONTROL, memory: USAGE, portals: CODE, names: NAMES };
    Judge::begin(CONSOLE, THREADS, tellers)
}

pub fn pause(microseconds: u64) {
    judge::pause(THREADS, microseconds);
}

pub fn wait_until(condition: impl Fn() -> bool) {
    judge::wait_until(THREADS, condition);
}
