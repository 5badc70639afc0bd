//! Has a guest and its host reach for each other's memory, before the one moves to the other, there, and when it is back; and end each of them there.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod astray;
mod takers;

use cairn::abi::RegionId;
use cairn::abi::address::{STARTUP_OFFSET, region};
use cairn::{Error, environment};
use cairn_interfaces::{self as interfaces, Location};
use cairn_test_hostile_contract::{judge, say};
use cairn_test_trouble::{Trouble, TroubleProxy};
use core::fmt::Debug;

cairn::component! {
    name: "hostile-moves-with-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        replacement: interfaces::Replacement,
        loader: interfaces::Loader,
        memory: interfaces::Memory,
        usage: interfaces::MemoryStatistics,
        guest: Trouble,
        host: Trouble,
        left: cairn_test_taker::Taker,
        right: cairn_test_taker::Taker,
    },
    arguments: { rounds: u64 },
    main: main,
}

use imports::{CONSOLE, GUEST, HOST, LOADER, REPLACEMENT, SUPERVISOR, THREADS};

const LIMIT_MILLISECONDS: u64 = 200;
/// Deeds, by their positions.
const PANIC: u64 = 0;
const READ: u64 = 1;

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

/// What the supervisor says of an instance: its number, its domain, and the last words.
fn described(name: &str) -> (u64, u16, bool) {
    let mut number = 0;
    loop {
        let mut text = [0; 160];
        let (length, found) = SUPERVISOR.describe(number, &mut text).expect("it is there");
        let line = core::str::from_utf8(&text[..length]).expect("a line");
        let mut words = line.split(' ');
        if words.next() == Some(name) {
            let domain = words.next().and_then(|word| word.parse().ok());
            return (found, domain.unwrap_or(0), line.ends_with(" with host"));
        }
        number = found + 1;
    }
}

fn place(name: &str) -> (u16, bool) {
    let (_, domain, is_there) = described(name);
    (domain, is_there)
}

fn moves(away: bool) {
    move_one("guest", away);
    // It has no state that goes over, and nothing else of its last life.
    expect("it begins anew", GUEST.count(), Ok(1));
}

fn move_one(name: &str, away: bool) {
    let moved = match away {
        true => REPLACEMENT.move_with(name, "host", LIMIT_MILLISECONDS),
        false => REPLACEMENT.move_to(name, Location::Domain, LIMIT_MILLISECONDS),
    };
    if moved.is_err() {
        let mut text = [0; 192];
        let length = LOADER.explain(&mut text).unwrap_or(0);
        say!("hostile-moves-with: {}", core::str::from_utf8(&text[..length]).unwrap_or("?"));
    }
    expect(if away { "it moves" } else { "it comes back" }, moved.map(drop), Ok(()));
    expect("it is there", place(name).1, away);
}

fn lives(of: TroubleProxy, name: &str) {
    serves(name, || of.count().is_ok());
}

fn serves(name: &str, answers: impl Fn() -> bool) {
    // Faults in a row are punished with waiting, which nobody has time for here.
    let _ = SUPERVISOR.restart(name);
    let serves = judge::wait_until(THREADS, answers);
    expect("it lives again", (name, serves), (name, true));
}

/// Where nobody shares anything each is stopped.
fn apart(addresses: [u64; 3]) {
    let [guests, hosts, section] = addresses;
    let deeds = [
        ("the host reads the guest", HOST, "host", guests),
        ("the guest reads the host", GUEST, "guest", hosts),
        ("the host reads the guest's section", HOST, "host", section),
    ];
    for (what, of, name, address) in deeds {
        expect(what, of.commit(READ, address), Err(Error::Dead));
        lives(of, name);
    }
    expect("the guest reads its section", GUEST.commit(READ, section), Ok(7));
}

/// There each is for the other to read, and nothing is lost but that.
fn together([guests, hosts, section]: [u64; 3]) {
    let of_startup = Ok(cairn::abi::startup::MAGIC);
    expect("the host reads the guest there", HOST.commit(READ, guests), of_startup);
    expect("the guest reads the host there", GUEST.commit(READ, hosts), of_startup);
    for of in [GUEST, HOST] {
        expect("the guest's section is there", of.commit(READ, section), Ok(7));
    }
}

/// One of the two dies; the other has a life of its own.
fn dies((of, name): (TroubleProxy, &str), other: TroubleProxy) {
    let calls = other.count().unwrap_or(0);
    expect("it dies there", (name, of.commit(PANIC, 0)), (name, Err(Error::Dead)));
    expect("the other goes on", (name, other.count()), (name, Ok(calls + 1)));
    lives(of, name);
    expect("the other went on", (name, other.count()), (name, Ok(calls + 2)));
    expect("where it was", place("guest").1, true);
}

fn main() {
    let section = environment::section("table").expect("the description has a section `table`");
    section.store(0, 7);
    let domains = ["guest", "host"].map(|name| place(name).0);
    let [guests, hosts] = domains.map(|domain| region(RegionId(domain)) + STARTUP_OFFSET);
    let addresses = [guests, hosts, section.address() as u64];
    apart(addresses);
    for round in 0..arguments::rounds() {
        moves(true);
        together(addresses);
        dies((GUEST, "guest"), HOST);
        dies((HOST, "host"), GUEST);
        together(addresses);
        if round == 0 {
            astray::attack(domains);
        }
        expect("the host stays", SUPERVISOR.retire("host"), Err(Error::NotSupported));
        if round == 1 {
            for _ in 0..2 {
                let calls = GUEST.count().unwrap_or(0);
                let replaced = REPLACEMENT.replace("host", "other", LIMIT_MILLISECONDS);
                expect("the host is replaced", replaced.map(drop), Ok(()));
                expect("the guest goes on", GUEST.count(), Ok(calls + 1));
                together(addresses);
            }
        }
        moves(false);
        apart(addresses);
        takers::attack();
        say!("hostile-moves-with: round {round}");
    }
    // It comes home while its host is dead, and goes there when that is.
    moves(true);
    expect("the host is killed", SUPERVISOR.kill("host"), Ok(()));
    moves(false);
    moves(true);
    expect("the guest lives without it", GUEST.count().is_ok(), true);
    lives(HOST, "host");
    moves(false);
    apart(addresses);
    say!("hostile-moves-with: done");
    let _ = SUPERVISOR.halt(0);
}
