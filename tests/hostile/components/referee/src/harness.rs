//! What is the same for all attacks: the attack, the way back, the look around.

use crate::imports::{ATTACKER, CODE, NAMES, SCHEDULING, SUPERVISOR, THREADS, USAGE, VICTIM};
use cairn::Error;
use cairn::time::{now, ticks};
use cairn_test_hostile_contract::measure::{Measure, Tellers};
use core::fmt;

macro_rules! say {
    ($($argument:tt)*) => {{
        let text = format_args!("{}\n", format_args!($($argument)*));
        $crate::imports::CONSOLE.print(text).expect("the console is a neighbour too");
    }};
}
pub(crate) use say;

const TELLERS: Tellers =
    Tellers { scheduling: SCHEDULING, memory: USAGE, portals: CODE, names: NAMES };

pub fn pause(microseconds: u64) {
    THREADS.sleep_until(now() + ticks(microseconds)).expect("sleep");
}

/// How an attack has to end.
pub enum End {
    /// The attacker faults, so its caller is told.
    Dies,
    /// The attacker answers this.
    Answers(u64),
}

pub struct Harness {
    failed: u64,
    before: Measure,
}

impl Harness {
    /// Begins when everyone has started.
    pub fn begin() -> Harness {
        pause(20_000);
        // What is allocated once, such as a page table for memory at run time, is there from here on.
        let mut harness = Harness { failed: 0, before: TELLERS.measure() };
        harness.renew();
        pause(20_000);
        harness.before = TELLERS.measure();
        harness
    }

    pub fn failed(&self) -> u64 {
        self.failed
    }

    pub fn fail(&mut self, name: &str, what: impl fmt::Debug) {
        self.failed += 1;
        say!("FAILED {name}: {what:?}");
    }

    /// Compares.
    pub fn expect<T: PartialEq + fmt::Debug>(&mut self, name: &str, found: T, expected: T) {
        if found != expected {
            self.fail(name, (found, "expected", expected));
        }
    }

    /// Starts the attacker again, however it is, and waits until it answers.
    pub fn renew(&mut self) {
        if let Err(error) = SUPERVISOR.restart("attacker") {
            self.fail("restart", error);
        }
        for _ in 0..10_000 {
            match ATTACKER.count() {
                Ok(1) => return,
                Ok(count) => {
                    return self.fail("the attacker's variables are as at its start", count);
                }
                Err(Error::Dead) => pause(200),
                Err(error) => return self.fail("restart", error),
            }
        }
        self.fail("restart", "it does not answer");
    }

    /// After an attack: everyone else answers, and nothing is missing.
    pub fn look_around(&mut self, name: &str) {
        self.expect(name, VICTIM.echo(41), Ok(42));
        self.expect(name, VICTIM.is_whole(), Ok(true));
        // Code and stacks go back as soon as nobody is there any more.
        let mut after = TELLERS.measure();
        for round in 0..200 {
            if after == self.before {
                break;
            }
            pause(1000);
            if round == 20 {
                // The portal manager keeps code as long as any word below a thread's top may name it;
                // the supervisor's registers still do, until it looks at other stacks.
                self.renew();
            }
            after = TELLERS.measure();
        }
        self.expect(name, after, self.before);
        // Once is enough for what is lost.
        self.before = after;
    }

    /// Has one attack made.
    pub fn attack(&mut self, name: &str, (attack, first, second): (u64, u64, u64), end: End) {
        let failed = self.failed;
        let found = ATTACKER.attack(attack, first, second);
        let expected = match end {
            End::Dies => Err(Error::Dead),
            End::Answers(value) => Ok(value),
        };
        self.expect(name, found, expected);
        self.after(name);
        if failed == self.failed {
            say!("ok: {name}");
        }
    }

    /// [`Harness::after`], and says whether all held since `failed`.
    pub fn finish(&mut self, name: &str, failed: u64) {
        self.after(name);
        if failed == self.failed {
            say!("ok: {name}");
        }
    }

    /// The way back, and the look around.
    pub fn after(&mut self, name: &str) {
        self.renew();
        self.look_around(name);
    }
}
