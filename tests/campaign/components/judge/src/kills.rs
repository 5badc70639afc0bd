//! Who is killed, when and how.

use crate::imports::{self, INTERPOSITION, SUPERVISOR, THREADS};
use crate::{IN_A_ROUND, say};
use cairn::Error;
use cairn::text::Line;
use cairn::time::now;
use cairn_random::Random;
use cairn_test_campaign_contract::{self as course, ACTORS, Operation, THREADS as OF_AN_ACTOR};
use cairn_test_hostile_contract::judge;

/// Who calls.
const ACTOR_NAMES: [&str; ACTORS] = ["actor-1", "actor-2"];
/// Who is called: the loader and where it reads, interposers, who makes objects, their receivers, the pager.
const OTHERS: [&str; 8] =
    ["loader", "shelf", "between-1", "between-2", "bank", "near", "far", "zero"];
/// How many ticks there are at most between two kills.
const PAUSE: u64 = 12_000;
/// How often it is looked, a millisecond after the other, whether somebody is as it was told: long, beside all that dies.
const LOOKS: u64 = 3000;

/// How somebody comes to an end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Manner {
    #[default]
    Restarted,
    /// It faults at its next instruction.
    Crashed,
    /// It stays dead until the next kill, beside all others.
    Killed,
    /// It goes for good: one that was loaded.
    Retired,
}

/// One kill.
#[derive(Default)]
struct Kill {
    name: Line<12>,
    manner: Manner,
    /// Ticks after the kill before it.
    pause: u64,
    result: Option<Error>,
}

/// Those of a round.
#[derive(Default)]
pub struct Kills([Kill; IN_A_ROUND as usize]);

/// How often an actor's thread was killed, or lost who it had called, in each operation.
#[derive(Default)]
pub struct Tally([u64; Operation::ALL.len()]);

impl Tally {
    pub fn of(&self, operation: Operation) -> u64 {
        self.0[operation as usize]
    }

    fn count(&mut self) {
        for actor in 0..ACTORS {
            for thread in 0..OF_AN_ACTOR {
                self.0[course::current(actor, thread) as usize] += 1;
            }
        }
    }
}

impl Kills {
    /// Starts the actors, and kills.
    pub fn round(chance: &mut Random, tally: &mut Tally) -> Kills {
        let mut kills = Kills::default();
        for name in ACTOR_NAMES {
            start(name);
        }
        for kill in &mut kills.0 {
            *kill = Kill::by(chance);
            let _ = THREADS.sleep_until(now() + kill.pause);
            // Time is counted in steps of many instructions.
            for _ in 0..chance.below(50) {
                core::hint::spin_loop();
            }
            tally.count();
            kill.kill();
        }
        kills
    }

    /// Says what was done.
    pub fn tell(&self) {
        for kill in &self.0 {
            let Kill { name, manner, pause, result } = kill;
            say!("  {pause} ticks later: {manner:?} {} {result:?}", name.text());
        }
    }
}

impl Kill {
    fn by(chance: &mut Random) -> Kill {
        let pause = chance.below(PAUSE);
        let name = match chance.below(5) {
            0..=1 => Line::of(format_args!("{}", ACTOR_NAMES[chance.index(ACTORS)])),
            2 => {
                let (actor, thread) = (chance.index(ACTORS), chance.index(OF_AN_ACTOR));
                Line::of(format_args!("child{actor}{thread}{}", chance.below(2)))
            }
            _ => Line::of(format_args!("{}", OTHERS[chance.index(OTHERS.len())])),
        };
        let manners = if name.text().starts_with("child") { 4 } else { 3 };
        let manner = [Manner::Restarted, Manner::Crashed, Manner::Killed, Manner::Retired]
            [chance.index(manners)];
        Kill { name, manner, pause, result: None }
    }

    fn kill(&mut self) {
        let name = self.name.text();
        let result = match self.manner {
            Manner::Restarted => SUPERVISOR.restart(name),
            Manner::Crashed => SUPERVISOR.crash(name),
            Manner::Killed => SUPERVISOR.kill(name),
            Manner::Retired => SUPERVISOR.retire(name),
        };
        self.result = result.err();
    }
}

/// Waits until somebody is in this state; whether that came.
fn wait_for(name: &str, wanted: &str) -> bool {
    let is_so = || judge::life(SUPERVISOR, name, |state, _| state == wanted) == Some(true);
    for _ in 0..LOOKS {
        if is_so() {
            return true;
        }
        judge::pause(THREADS, 1000);
    }
    false
}

/// Says what there is, of who should be otherwise.
fn tell_of(name: &str, wanted: &str) {
    say!("FAILED {name} is not {wanted}");
    let (mut number, mut text) = (1, [0; 128]);
    while let Ok((length, described)) = SUPERVISOR.describe(number, &mut text) {
        say!("  {}", core::str::from_utf8(&text[..length]).unwrap_or("?"));
        number = described + 1;
    }
    let mut index = 0;
    while let Ok((length, described)) = SUPERVISOR.describe_thread(index, &mut text) {
        say!("  {}", core::str::from_utf8(&text[..length]).unwrap_or("?"));
        index = described + 1;
    }
}

fn start(name: &str) {
    let _ = SUPERVISOR.restart(name);
    if !wait_for(name, "alive") {
        tell_of(name, "alive");
    }
}

/// The newest rule of who stands between whom: it can be taken back however little room the interposers have.
fn last_rule() -> Option<Line<96>> {
    let rule = |number| {
        let mut text = [0; 96];
        let length = INTERPOSITION.rule(number, &mut text).ok()?;
        Some(Line::of(format_args!("{}", core::str::from_utf8(text.get(..length)?).ok()?)))
    };
    (0..).map_while(rule).last()
}

/// All actors are dead, with all that they had loaded; everybody else is in a new life, and nobody stands between others. Whether it is
/// so.
pub fn stop() -> bool {
    for name in ACTOR_NAMES {
        let _ = SUPERVISOR.kill(name);
        if !wait_for(name, "dead") {
            tell_of(name, "dead");
            return false;
        }
    }
    while let Some(rule) = last_rule() {
        let mut words = rule.text().split(' ').map(|word| if word == "*" { "" } else { word });
        let mut word = || words.next().unwrap_or("");
        let (client, server, interposer) = (word(), word(), word());
        if let Err(error) = INTERPOSITION.unwrap(client, server, interposer) {
            say!("FAILED {} cannot be unwrapped: {error:?}", rule.text());
            return false;
        }
    }
    // The pager's own client, who would die of the first page that a dead pager had.
    for name in OTHERS.into_iter().chain(["probe"]) {
        let _ = SUPERVISOR.restart(name);
        if !wait_for(name, "alive") {
            tell_of(name, "alive");
            return false;
        }
    }
    true
}
