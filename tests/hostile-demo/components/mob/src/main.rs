//! A hostile client that has no judge: it attacks again and again, in the way that the first word of its argument says, whom
//! the other words name. It opens the exports of its accomplices and victims by name, as often as they die.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod deeds;

use cairn::component::Interface;
use cairn::environment;
use cairn::time::{now, ticks};
use cairn_interfaces as interfaces;
use cairn_random::Random;
use cairn_test_hostile_contract::rounds;

cairn::component! {
    name: "hostile-mob",
    imports: { portals: interfaces::Portals, threads: interfaces::Threads },
    main: main,
}

/// Microseconds between two rounds: whoever is as urgent has its turn.
const PACE: u64 = 500;

/// A round by chance, against whom the rest of the argument names.
type Deed = fn(&str, &mut Random);

const DEEDS: [(&str, Deed); 15] = [
    ("attacker", deeds::attacker),
    ("captor", deeds::captor),
    ("crowd", deeds::crowd),
    ("echo", deeds::echo),
    ("flood", deeds::flood),
    ("holder", deeds::holder),
    ("hop", deeds::hop),
    ("keeper", deeds::keeper),
    ("kill", deeds::kill),
    ("liar", deeds::liar),
    ("quota", deeds::quota),
    ("racer", deeds::racer),
    ("signals", deeds::signals),
    ("spinner", deeds::spinner),
    ("taker", deeds::taker),
];

fn pause(microseconds: u64) {
    let _ = imports::THREADS.sleep_until(now() + ticks(microseconds));
}

/// Opens an export by name, once whoever serves it is there.
fn open<I: ?Sized + Interface>(name: &str) -> I::Proxy {
    loop {
        match imports::PORTALS.open_proxy::<I>(name) {
            Ok(proxy) => return proxy,
            Err(_) => pause(PACE),
        }
    }
}

fn main() {
    let argument = environment::argument();
    let (deed, whom) = argument.split_once(' ').unwrap_or((argument, ""));
    let (_, deed) = DEEDS.iter().find(|(name, _)| *name == deed).expect("a deed that there is");
    let startup = environment::startup();
    let mut chance = Random::of_seed(u64::from(startup.instance) << 32 | startup.generation);
    deed(whom, &mut chance);
}

/// Attacks for ever, and counts. Errors are what hostile components get.
fn again<R>(pace: u64, mut round: impl FnMut(u64) -> R) {
    for number in 0.. {
        round(number);
        rounds::count();
        pause(pace);
    }
}
