//! What is the same for all attacks: the comparison, the look at what the system has.

use crate::imports::{CODE, CONSOLE, CONTROL, NAMES, THREADS, USAGE};
use cairn::time::{now, ticks};
use cairn_test_hostile_contract::measure::{Measure, Tellers};
use core::fmt;

/// Writes to the console.
pub fn write(text: &[u8]) {
    CONSOLE.write(text).expect("console");
}

macro_rules! say {
    ($($argument:tt)*) => {{
        use core::fmt::Write;
        let mut line = cairn_test_hostile_contract::Line::new($crate::harness::write);
        let _ = writeln!(line, $($argument)*);
        line.flush();
    }};
}
pub(crate) use say;

fn measure() -> Measure {
    Tellers { control: CONTROL, memory: USAGE, portals: CODE, names: NAMES }.measure()
}

pub fn pause(microseconds: u64) {
    THREADS.sleep_until(now() + ticks(microseconds)).expect("sleep");
}

/// Gives up after a time that is long in any emulator.
pub fn wait_until(condition: impl Fn() -> bool) {
    for _ in 0..20_000 {
        if condition() {
            return;
        }
        pause(200);
    }
}

pub struct Judge {
    failed: u64,
    before: Measure,
}

impl Judge {
    pub fn begin() -> Judge {
        Judge { failed: 0, before: measure() }
    }

    pub fn failed(&self) -> u64 {
        self.failed
    }

    pub fn expect<T: PartialEq + fmt::Debug>(&mut self, name: &str, found: T, expected: T) {
        if found != expected {
            self.failed += 1;
            say!("FAILED {name}: {found:?} expected {expected:?}");
        }
    }

    /// What the system has from now on is what it has to have after the attack.
    pub fn start(&mut self) {
        self.before = measure();
    }

    /// Says whether an attack was held, and whether all that it took came back.
    pub fn end(&mut self, name: &str) {
        // What dead domains had goes back when nobody is in them any more.
        for _ in 0..500 {
            if measure() == self.before {
                break;
            }
            pause(1000);
        }
        self.expect(name, measure(), self.before);
        self.passed(name);
    }

    /// Says so if nothing has failed yet.
    pub fn passed(&self, name: &str) {
        if self.failed == 0 {
            say!("ok: {name}");
        }
    }
}
