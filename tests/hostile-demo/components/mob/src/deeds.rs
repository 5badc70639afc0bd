//! The attacks, each in a loop that does not end.

use crate::imports::{PORTALS, THREADS};
use crate::{PACE, again, open};
use cairn::Error;
use cairn::abi::RegionId;
use cairn::abi::address::{IMAGE_OFFSET, NUCLEUS, image_spread, region};
use cairn::section::Section;
use cairn::time::own_domain;
use cairn::{Object, environment};
use cairn_app_interfaces::Echo;
use cairn_interfaces::{Clock, Console, Memory, SemaphoreProxy, Supervisor};
use cairn_random::Random;
use cairn_test_hostile_beat::Spinner;
use cairn_test_hostile_captors::Captor;
use cairn_test_hostile_contract::operations::{OPERATIONS, Servers};
use cairn_test_hostile_contract::{Attacker, notes};
use cairn_test_hostile_nest::{Holder, Hop};
use cairn_test_hostile_objects_contract::{Bank, Numbers};
use cairn_test_hostile_parts::{Taker, deed};
use cairn_test_hostile_places::Keeper;
use cairn_test_hostile_timers_racing::Racer;

/// Addresses that are not its own.
fn foreign(chance: &mut Random) -> u64 {
    let instance = 1 + chance.below(64) as u32;
    let inside = chance.below(1 << 17) & !7;
    match chance.below(8) {
        0 => NUCLEUS + inside,
        1 => chance.next(),
        _ => {
            region(RegionId(instance as u16))
                + IMAGE_OFFSET
                + image_spread(RegionId(instance as u16))
                + inside
        }
    }
}

/// Calls a component of the test `hostile` for all of its attacks, those that take all of something too.
pub fn attacker(whom: &str, chance: &mut Random) {
    /// One more than the last of the attacks, and of their first arguments that are small numbers.
    const ATTACKS: u64 = 29;
    const SMALL: u64 = 24;
    /// Calls of portals by chance in a round.
    const CALLS: u64 = 200;
    let attacker = open::<dyn Attacker>(whom);
    let notes = environment::section("notes");
    again(PACE, |_| {
        if let Some(section) = &notes {
            section.store(notes::CALLS_WANTED, Section::load(section, notes::CALLS) + CALLS);
        }
        let attack = chance.below(ATTACKS);
        let first = match chance.below(2) {
            0 => chance.below(SMALL),
            _ => foreign(chance),
        };
        attacker.attack(attack, first, foreign(chance))
    });
}

/// Goes to who keeps its thread.
pub fn captor(whom: &str, _: &mut Random) {
    let captor = open::<dyn Captor>(whom);
    again(PACE, |_| captor.keep());
}

/// Asks for all that a client can ask of the components that all share, as often as it can.
pub fn crowd(_: &str, _: &mut Random) {
    let servers = Servers {
        memory: open::<dyn Memory>("memory.memory"),
        portals: PORTALS,
        threads: THREADS,
        clock: open::<dyn Clock>("clock.clock"),
        console: open::<dyn Console>("console.output"),
        supervisor: open::<dyn Supervisor>("supervisor.supervisor"),
    };
    again(PACE, |number| (OPERATIONS[number as usize % OPERATIONS.len()].1)(&servers));
}

/// Has the component in C attack.
pub fn echo(whom: &str, chance: &mut Random) {
    const ATTACKS: u64 = 11;
    let echo = open::<dyn Echo>(whom);
    again(PACE, |number| {
        // The first of them calls twenty thousand portals.
        let attack = if number.is_multiple_of(16) { 0 } else { 1 + chance.below(ATTACKS - 1) };
        let _ = echo.add(attack, foreign(chance));
        let _ = echo.say(["short", LONG][chance.below(2) as usize]);
        echo.fill(&mut [0; 100])
    });
}

const LONG: &str = "long enough to be passed in a window, which who serves it may read and nothing else, not even to try";

/// Writes as much as it can: lines without an end, half a line, what looks like a prompt and like the supervisor.
pub fn flood(_: &str, chance: &mut Random) {
    const TEXTS: [&str; 6] = [
        "half a line ",
        "supervisor: all is well",
        "\n> ",
        "5\n",
        "error: ",
        "a line that is as long as the console takes it without a break, and longer, so that it goes on behind whatever \
         others write: a line that is as long as the console takes it without a break, and longer, so that it goes on \
         behind whatever others write, and without an end ",
    ];
    let console = open::<dyn Console>("console.output");
    again(20 * PACE, |_| console.write(TEXTS[chance.index(TEXTS.len())].as_bytes()));
}

/// Calls who holds a lock meanwhile.
pub fn holder(whom: &str, chance: &mut Random) {
    let holder = open::<dyn Holder>(whom);
    again(PACE, |_| holder.hold(chance.below(3_000)));
}

/// Has links of a chain of calls die, with its thread in those before.
pub fn hop(whom: &str, chance: &mut Random) {
    let first = open::<dyn Hop>(whom);
    again(PACE, |_| first.go(chance.below(3)));
}

/// Waits for ever where others wait too, until somebody ends that.
pub fn keeper(whom: &str, chance: &mut Random) {
    let keeper = open::<dyn Keeper>(whom);
    again(PACE, |_| match chance.below(4) {
        0 => keeper.keep(),
        1 => keeper.hold(LONG.as_bytes()),
        2 => keeper.sum(LONG.as_bytes()),
        _ => keeper.ended(),
    });
}

/// Kills and crashes by chance, starts again.
pub fn kill(whom: &str, chance: &mut Random) {
    let supervisor = open::<dyn Supervisor>("supervisor.supervisor");
    let count = whom.split(' ').count();
    again(40 * PACE, |_| {
        let victim = whom.split(' ').nth(chance.index(count)).unwrap_or("");
        let _ = match chance.below(4) {
            0 => supervisor.crash(victim),
            1 => supervisor.kill(victim),
            _ => Ok(()),
        };
        supervisor.restart(victim)
    });
}

/// A client of a server whose objects are not what it asked for.
pub fn liar(whom: &str, chance: &mut Random) {
    /// One more than the last of `how`.
    const HOWS: u64 = 6;
    let bank = open::<dyn Bank>(whom);
    let mut numbers: Option<Object<dyn Numbers>> = None;
    again(PACE, |_| {
        if let Some(numbers) = numbers.take() {
            let _ = numbers.proxy().pair(foreign(chance), 8);
            let _ = PORTALS.close(numbers.first_portal().into());
        }
        numbers = bank.open(PORTALS, chance.below(HOWS)).ok();
        match chance.below(6) {
            0 => bank.fill(own_domain().into(), chance.below(1 << 20), true),
            1 => bank.fill(1 + chance.below(64), chance.below(1 << 20), false),
            2 => bank.end().map(drop),
            3 => bank.reserve(chance.below(8)).map(drop),
            4 => bank.flood(own_domain().into(), 1).map(drop),
            _ => bank.work(),
        }
    });
}

/// Takes all memory of its quota, and gives it back.
pub fn quota(_: &str, _: &mut Random) {
    let memory = open::<dyn Memory>("memory.memory");
    let mut pages = [0; 64];
    again(PACE, |_| {
        let mut taken = 0;
        while let Some(page) = pages.get_mut(taken)
            && let Ok(address) = memory.allocate(1)
        {
            (*page, taken) = (address, taken + 1);
        }
        pages[..taken].iter().for_each(|page| _ = memory.free(*page, 1));
    });
}

/// Has a client of the clock open and end timers at every instant.
pub fn racer(whom: &str, chance: &mut Random) {
    let racer = open::<dyn Racer>(whom);
    again(PACE, |_| racer.open(chance.below(400), 8 * chance.below(4)));
}

/// Signals as often as it can.
pub fn signals(_: &str, _: &mut Random) {
    const SIGNALS: u64 = 100;
    let Ok(made) = PORTALS.semaphore(0) else { return };
    let semaphore = SemaphoreProxy::at(made.first_portal());
    again(PACE / 10, |_| {
        for _ in 0..SIGNALS {
            semaphore.v()?;
            semaphore.p()?;
            semaphore.p_until(0).or(THREADS.yield_now())?;
        }
        Ok::<(), Error>(())
    });
}

/// Calls who faults, or never returns.
pub fn spinner(whom: &str, _: &mut Random) {
    let spinner = open::<dyn Spinner>(whom);
    again(PACE, |_| spinner.spin());
}

/// Has accomplices take all that they can get.
pub fn taker(whom: &str, chance: &mut Random) {
    /// Timers' periods that begin anew in a round.
    const OWED: u64 = 200;
    let mut takers = whom.split(' ').map(open::<dyn Taker>);
    let (Some(first), Some(second)) = (takers.next(), takers.next()) else { return };
    again(PACE, |_| {
        let deed = 1 + chance.below(deed::PAGES);
        match deed {
            deed::OWE | deed::TIMERS | deed::TERMINALS => first.take(deed, OWED),
            deed::OFFER => {
                let section = first.take(deed, second.take(deed::DOMAIN, 0)?)?;
                second.take(deed::ACCEPT, section)
            }
            deed => second.take(deed, foreign(chance)),
        }
    });
}
