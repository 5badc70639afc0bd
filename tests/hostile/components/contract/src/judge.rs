//! The judge of attacks: compares, says what failed, and sees that all that an attack took comes back.

use crate::measure::{Measure, Tellers};
use cairn::time::{now, ticks};
use cairn_interfaces::{ConsoleProxy, SupervisorProxy, ThreadsProxy};
use core::fmt;

/// Sleeps.
pub fn pause(threads: ThreadsProxy, microseconds: u64) {
    threads.sleep_until(now() + ticks(microseconds)).expect("sleep");
}

/// Time in the emulator stands still or runs on as the host's load has it, so nothing relies on how long anything
/// takes; this gives up after a time that is long in any emulator. Whether it came.
pub fn wait_until(threads: ThreadsProxy, condition: impl Fn() -> bool) -> bool {
    for _ in 0..20_000 {
        if condition() {
            return true;
        }
        pause(threads, 200);
    }
    false
}

/// Says of one comparison whether it held.
pub fn compare<T: PartialEq + fmt::Debug>(
    console: ConsoleProxy,
    what: &str,
    found: T,
    expected: T,
) {
    match found == expected {
        true => console.print(format_args!("ok {what}\n")),
        false => console.print(format_args!("FAILED {what}: {found:?}, expected {expected:?}\n")),
    }
    .expect("console");
}

/// What the supervisor says of an instance: its state as a word, and how often it was started again; `None` if the description
/// has none of this name.
pub fn life<R>(
    supervisor: SupervisorProxy,
    name: &str,
    read: impl FnOnce(&str, u64) -> R,
) -> Option<R> {
    let mut text = [0; 128];
    let mut number = 1;
    while let Ok((length, described)) = supervisor.describe(number, &mut text) {
        let line = core::str::from_utf8(text.get(..length)?).unwrap_or("");
        let mut words = line.split(' ');
        if words.next() == Some(name) {
            let state = words.nth(1)?;
            let restarts = words.nth(1).and_then(|word| word.parse().ok());
            return Some(read(state, restarts.unwrap_or(u64::MAX)));
        }
        number = described + 1;
    }
    None
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
        self.returned(name);
        self.passed(name);
    }

    /// Compares what there is with what there was at the start.
    pub fn returned(&mut self, name: &str) {
        // What dead domains had goes back when nobody is in them any more.
        for _ in 0..500 {
            if self.tellers.measure() == self.before {
                break;
            }
            pause(self.threads, 1000);
        }
        self.expect(name, self.tellers.measure(), self.before);
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
#[allow(clippy::crate_in_macro_def)]
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
