//! A client of hostile servers, in safe code and two threads: whatever they do, its words stay words.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::{Error, environment};
use cairn_interfaces::{Console, Portals, Threads, spawn};
use cairn_random::Random;
use cairn_test_hostile_contract::rounds;
use cairn_test_hostile_mutual_bank::Bank;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "hostile-honest",
    imports: { console: Console, portals: Portals, threads: Threads },
    main: main,
}

static STACK: Stack<16384> = Stack::new();
const OWN: u64 = 0x1122_3344_5566_7788;
/// What nobody else may change. Its address is a word that servers get.
static CANARY: [AtomicU64; 8] = [const { AtomicU64::new(OWN) }; 8];

fn main() {
    let _ = spawn(imports::THREADS, &STACK, work, 1, rounds::priority(39));
    work(0);
}

fn work(number: u64) {
    let startup = environment::startup();
    let mut chance = Random::of_seed(startup.generation << 20 | number << 10);
    let names = [
        ["player-1.bank", "player-2.bank", "player-3.bank"],
        ["player-1.name", "player-2.name", "player-3.name"],
    ];
    loop {
        let name = names[usize::from(chance.below(8) == 0)][chance.below(3) as usize];
        let _ = visit(name, &mut chance);
        rounds::pass(imports::THREADS);
    }
}

fn visit(name: &str, chance: &mut Random) -> Result<(), Error> {
    let bank = imports::PORTALS.open_object::<dyn Bank>(name)?;
    let mut things = [None; 3];
    for thing in &mut things {
        *thing = bank.proxy().give(imports::PORTALS, chance.below(8)).ok();
    }
    let address = CANARY.as_ptr().expose_provenance() as u64;
    for thing in things.iter().flatten().cycle().take(9) {
        let _ = bank.proxy().poke(chance.below(8), thing.first_portal().into());
        match thing.proxy().pair(address, 64) {
            Ok(sum) if sum != address + 64 => failed("a thing answered what it is not"),
            _ => {}
        }
        let _ = thing.proxy().rest(chance.below(100));
        if CANARY.iter().any(|word| word.load(Relaxed) != OWN) {
            failed("memory was changed");
        }
    }
    for thing in things.into_iter().flatten() {
        if let Err(error) = imports::PORTALS.close(thing.first_portal().into())
            && error != Error::Cancelled
        {
            failed(error.text());
        }
    }
    imports::PORTALS.close(bank.first_portal().into())
}

fn failed(what: &str) {
    let _ = imports::CONSOLE.write(b"FAILED ");
    let _ = imports::CONSOLE.write(what.as_bytes());
    let _ = imports::CONSOLE.write(b"\n");
}
