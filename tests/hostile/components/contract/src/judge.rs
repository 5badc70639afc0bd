//! The judge of attacks: compares, says what failed, and sees that all that an attack took comes back.

use crate::measure::{Measure, Tellers};
use cairn::time::{now, ticks};
use cairn_interfaces::{ConsoleProxy, ThreadsProxy};
use core::fmt;

/// Sleeps.
pub fn pause(threads: ThreadsProxy, microseconds: u64) {
    threads.sleep_until(now() + ticks(microseconds)).expect("sleep");
}

/// Time in the emulator stands still or runs on as the host's load has it, so nothing relies on how long anything
/// takes; this gives up after a time that is long in any emulator.
pub fn wait_until(threads: ThreadsProxy, condition: impl Fn() -> bool) {
    for _ in 0..20_000 {
        if condition() {
            return;
        }
        pause(threads, 200);
    }
}

/// A judge.
pub struct Judge {
    console: ConsoleProxy,
    threads: ThreadsProxy,
    tellers: Tellers,
    failed: u64,
    before: Measure,
}

impl Judge {
    /// Has judged nothing yet.
    pub fn begin(console: ConsoleProxy, threads: ThreadsProxy, tellers: Tellers) -> Judge {
        Judge { console, threads, tellers, failed: 0, before: tellers.measure() }
    }

    /// How many comparisons failed.
    pub fn failed(&self) -> u64 {
        self.failed
    }

    fn say(&self, text: fmt::Arguments<'_>) {
        self.console.print(format_args!("{text}\n")).expect("console");
    }

    /// Compares.
    pub fn expect<T: PartialEq + fmt::Debug>(&mut self, name: &str, found: T, expected: T) {
        if found != expected {
            self.failed += 1;
            self.say(format_args!("FAILED {name}: {found:?} expected {expected:?}"));
        }
    }

    /// What the system has from now on is what it has to have after the attack.
    pub fn start(&mut self) {
        self.before = self.tellers.measure();
    }

    /// Says whether an attack was held, and whether all that it took came back.
    pub fn end(&mut self, name: &str) {
        // What dead domains had goes back when nobody is in them any more.
        for _ in 0..500 {
            if self.tellers.measure() == self.before {
                break;
            }
            pause(self.threads, 1000);
        }
        self.expect(name, self.tellers.measure(), self.before);
        self.passed(name);
    }

    /// Says so if nothing has failed yet.
    pub fn passed(&self, name: &str) {
        if self.failed == 0 {
            self.say(format_args!("ok: {name}"));
        }
    }
}

/// The module `harness` of a component with a judge: the judge, with what the component is connected to.
#[macro_export]
macro_rules! harness {
    () => {
        mod harness {
            use crate::imports::{CODE, CONSOLE, NAMES, SCHEDULING, THREADS, USAGE};
            pub use $crate::judge::Judge;
            use $crate::{judge, measure::Tellers};

            pub fn begin() -> Judge {
                let tellers =
                    Tellers { scheduling: SCHEDULING, memory: USAGE, portals: CODE, names: NAMES };
                Judge::begin(CONSOLE, THREADS, tellers)
            }

            pub fn pause(microseconds: u64) {
                judge::pause(THREADS, microseconds);
            }

            pub fn wait_until(condition: impl Fn() -> bool) {
                judge::wait_until(THREADS, condition);
            }
        }
    };
}
