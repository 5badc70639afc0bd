//! Client of some, server of others, by chance whatever can be done with portals. What each thread does follows from the
//! instance and how often it was started.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::InstanceId;
use cairn::object::{ObjectTable, Places};
use cairn::thread::Stack;
use cairn::time::{now, own_thread, ticks};
use cairn::window::WriteWindow;
use cairn::{Error, Object, Place, environment};
use cairn_interfaces::{LockProxy, Portals, SemaphoreProxy, Threads, spawn};
use cairn_random::Random;
use cairn_test_hostile_contract::rounds;
use cairn_test_hostile_machine as machine;
use cairn_test_hostile_mutual_bank::{Bank, BankProxy, Thing, ThingProxy, Writer};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Server;
static SERVER: Server = Server;
struct One;
static THINGS: ObjectTable<One, 8> = ObjectTable::new();
static WRITERS: ObjectTable<One, 8> = ObjectTable::new();
/// Places that were never filled, and whose they are.
static PLACES: [(AtomicU64, AtomicU64); 8] = [const { (AtomicU64::new(0), AtomicU64::new(0)) }; 8];

cairn::component! {
    name: "hostile-mutual",
    imports: { portals: Portals, threads: Threads },
    exports: { bank: Bank = SERVER },
    objects: { thing: Thing = THINGS, writer: Writer = WRITERS },
    main: main,
}

use imports::PORTALS;

static STACKS: [Stack<16384>; 2] = [const { Stack::new() }; 2];
static CALLS: AtomicU64 = AtomicU64::new(0);

fn chance(number: u64) -> Random {
    let startup = environment::startup();
    Random::of_seed(u64::from(startup.instance) << 40 | startup.generation << 20 | number)
}

fn main() {
    for (number, stack) in STACKS.iter().enumerate() {
        let _ = spawn(
            imports::THREADS,
            stack,
            work,
            number as u64 + 1,
            rounds::priority(30 + number as u8),
        );
    }
    work(0);
}

/// What a thread has.
#[derive(Default)]
struct Things {
    banks: [u32; 2],
    things: [u32; 4],
    gates: [u32; 3],
    words: [u64; 2],
}

fn work(number: u64) {
    let mut chance = chance(number);
    let mut things = Things::default();
    loop {
        // Errors are what hostile components get.
        let _ = step(&mut chance, &mut things);
        rounds::pass(imports::THREADS);
    }
}

fn one<'a, T>(chance: &mut Random, places: &'a mut [T]) -> &'a mut T {
    let index = chance.below(places.len() as u64) as usize;
    &mut places[index]
}

fn own_name(buffer: &mut [u8; 32], rest: &str) -> usize {
    named(buffer, environment::name(), rest)
}

fn named(buffer: &mut [u8; 32], instance: &str, rest: &str) -> usize {
    let length = instance.len() + rest.len();
    buffer[..instance.len()].copy_from_slice(instance.as_bytes());
    buffer[instance.len()..length].copy_from_slice(rest.as_bytes());
    length
}

/// A name of one of the servers behind this one.
fn with_server<R>(
    chance: &mut Random,
    rest: &str,
    body: impl FnOnce(&str) -> Result<R, Error>,
) -> Result<R, Error> {
    let servers = environment::argument();
    let count = servers.split_ascii_whitespace().count() as u64;
    if count == 0 {
        return Err(Error::NotFound);
    }
    let server = servers.split_ascii_whitespace().nth(chance.below(count) as usize);
    let mut buffer = [0; 32];
    let length = named(&mut buffer, server.unwrap_or(""), rest);
    body(core::str::from_utf8(&buffer[..length]).unwrap_or(""))
}

fn with_own<R>(rest: &str, body: impl FnOnce(&str) -> Result<R, Error>) -> Result<R, Error> {
    let mut buffer = [0; 32];
    let length = own_name(&mut buffer, rest);
    body(core::str::from_utf8(&buffer[..length]).unwrap_or(""))
}

fn step(chance: &mut Random, things: &mut Things) -> Result<(), Error> {
    match chance.below(20) {
        0..=2 => banks(chance, &mut things.banks),
        3..=7 => {
            let bank = *one(chance, &mut things.banks);
            things_of(chance, bank, &mut things.things)
        }
        8..=9 => gates(chance, &mut things.gates),
        10..=11 => names(chance),
        12 => reservations(chance, things),
        13 => {
            let rest = ["bank", "name", "gate"][chance.below(3) as usize];
            PORTALS.revoke(rest, InstanceId(chance.below(12) as u16)).map(drop)
        }
        14 => end(chance),
        15 => PORTALS.close(16 + chance.below(40)).map(drop),
        16 => {
            let word = |chance: &mut Random| chance.below(1 << 20);
            let (index, first) = (chance.below(64), word(chance));
            machine::call(index, [0, first, word(chance), word(chance), word(chance), 0, 0, 0]);
            Ok(())
        }
        _ => imports::THREADS.sleep_until(now() + ticks(chance.below(300))),
    }
}

fn banks(chance: &mut Random, banks: &mut [u32]) -> Result<(), Error> {
    let bank = one(chance, banks);
    if *bank != 0 {
        return PORTALS.close(core::mem::take(bank).into());
    }
    let rest = [".bank", ".name"][chance.below(2) as usize];
    *bank = with_server(chance, rest, |name| PORTALS.open_object::<dyn Bank>(name))?.first_portal();
    Ok(())
}

fn things_of(chance: &mut Random, bank: u32, things: &mut [u32]) -> Result<(), Error> {
    let thing = one(chance, things);
    match (*thing, chance.below(4)) {
        (0, 0) if bank != 0 => {
            BankProxy::at(bank).poke(chance.below(8), chance.below(1 << 20)).map(drop)
        }
        (0, _) if bank != 0 => {
            *thing = BankProxy::at(bank).give(PORTALS, chance.below(16))?.first_portal();
            Ok(())
        }
        (0, _) => Ok(()),
        (_, 0) => PORTALS.close(core::mem::take(thing).into()),
        (_, 1) => ThingProxy::at(*thing).rest(ticks(chance.below(200))),
        _ => ThingProxy::at(*thing).pair(1, 2).map(drop),
    }
}

/// Semaphores and locks of one's own, published; those of others.
fn gates(chance: &mut Random, gates: &mut [u32]) -> Result<(), Error> {
    let gate = one(chance, gates);
    if *gate == 0 {
        *gate = match chance.below(4) {
            0 => PORTALS.semaphore(chance.below(3))?.first_portal(),
            1 => PORTALS.lock()?.first_portal(),
            _ => with_server(chance, ".gate", |name| PORTALS.open(name, 0, &[]))? as u32,
        };
        return Ok(());
    }
    match chance.below(8) {
        0 => with_own(".gate", |name| PORTALS.publish((*gate).into(), name, "*")),
        1 => SemaphoreProxy::at(*gate).p_until(now() + ticks(chance.below(200))),
        2..=3 => SemaphoreProxy::at(*gate).v(),
        4 => LockProxy::at(*gate).lock().map_err(|_| Error::Busy),
        5 => LockProxy::at(*gate).unlock(),
        _ => {
            PORTALS.close((*gate).into())?;
            *gate = 0;
            Ok(())
        }
    }
}

extern "C" fn nothing() {}

fn names(chance: &mut Random) -> Result<(), Error> {
    match chance.below(4) {
        0 => with_own(".gate", |name| PORTALS.unregister(name)),
        1 => with_own(".name", |name| PORTALS.unregister(name)),
        2 => with_own(".name", |name| {
            PORTALS.admit(name, InstanceId(chance.below(14) as u16), chance.below(2) == 0)
        }),
        _ => {
            let version = <dyn Bank as cairn::component::Interface>::DESCRIPTOR.version;
            let mut methods = [0; 56];
            methods[..8].copy_from_slice(&version.to_le_bytes());
            for method in methods[8..].chunks_exact_mut(24) {
                let letters: &[u8] =
                    [&b"cii"[..], b"caii", b"crw", b"cww"][chance.below(4) as usize];
                method[..letters.len()].copy_from_slice(letters);
                method[16..].copy_from_slice(&(nothing as *const () as u64).to_le_bytes());
            }
            let policy = ["*", "player-1 player-2 player-4", "ask"][chance.below(3) as usize];
            with_own(".name", |name| PORTALS.register(name, policy, &methods))
        }
    }
}

/// Places that nobody asks a server to fill.
fn reservations(chance: &mut Random, things: &mut Things) -> Result<(), Error> {
    let bank = *one(chance, &mut things.banks);
    let word = one(chance, &mut things.words);
    if *word != 0 {
        return PORTALS.give_back(Place::index(core::mem::take(word)));
    }
    *word = PORTALS.reserve_for::<dyn Thing>(bank)?;
    Ok(())
}

/// Ends an object of its own, for all or for its clients.
fn end(chance: &mut Random) -> Result<(), Error> {
    let (table, name) = [(&THINGS, "Thing"), (&WRITERS, "Writer")][chance.below(2) as usize];
    let wanted = chance.below(8);
    let mut found = None;
    table.for_each(|control, _| found = found.or((control & 7 == wanted).then_some(control)));
    let control = found.ok_or(Error::NotFound)?;
    if chance.below(2) == 0 {
        table.remove(control)?;
    }
    PORTALS.end_object(name, control).map(drop)
}

fn control(table: &ObjectTable<One, 8>, chance: &mut Random) -> Result<u64, Error> {
    let wanted = chance.below(8);
    let mut found = None;
    table.for_each(|control, _| {
        if control & 7 <= wanted {
            found = Some(control);
        }
    });
    match found {
        Some(control) if chance.below(2) == 0 => Ok(control),
        _ => table.insert(One),
    }
}

impl Bank for Server {
    fn give(&self, place: Place, how: u64) -> Result<Object<dyn Thing>, Error> {
        let mut chance = chance(CALLS.fetch_add(1, Relaxed) << 8 | own_thread());
        let remembered = &PLACES[chance.below(8) as usize];
        match how {
            0 => {
                remembered.0.store(place.client().0.into(), Relaxed);
                remembered.1.store(place.word(), Relaxed);
                return Ok(Object::from_first_portal(0));
            }
            1 => PORTALS.revoke("bank", place.client().0).map(drop)?,
            2 => imports::THREADS.sleep_until(now() + ticks(chance.below(300)))?,
            3 => {
                let writer = control(&WRITERS, &mut chance)?;
                return PORTALS
                    .grant::<dyn Writer>(place, writer)
                    .map(|_| Object::from_first_portal(0));
            }
            4 => {
                let _ = PORTALS.unregister("bank");
                let _ = end(&mut chance);
            }
            _ => {}
        }
        let made = PORTALS.grant(place, control(&THINGS, &mut chance)?);
        if how == 5 {
            let _ = end(&mut chance);
            return Err(Error::Busy);
        }
        made
    }

    fn poke(&self, how: u64, word: u64) -> Result<u64, Error> {
        let mut chance = chance(CALLS.fetch_add(1, Relaxed) << 8 | own_thread());
        let (client, place) = &PLACES[chance.below(8) as usize];
        let name = ["Thing", "Writer"][(how & 1) as usize];
        let (client, place) = match how {
            0..=3 => (client.load(Relaxed), place.load(Relaxed)),
            _ => (8 + chance.below(6), word),
        };
        let table = if how & 1 == 0 { &THINGS } else { &WRITERS };
        PORTALS.make_object(
            InstanceId(client as u16),
            place,
            name,
            control(table, &mut chance)?,
        )?;
        Ok(1)
    }
}

impl Thing for One {
    fn pair(&self, left: u64, right: u64) -> Result<u64, Error> {
        Ok(left.wrapping_add(right))
    }

    fn rest(&self, ticks: u64) -> Result<(), Error> {
        imports::THREADS.sleep_until(now() + ticks.min(3000))
    }
}

impl Writer for One {
    fn pair(&self, bytes: WriteWindow<'_>) -> Result<u64, Error> {
        bytes.write(0, b"OVERWRITTEN").map(|_| 0)
    }

    fn rest(&self, ticks: u64) -> Result<(), Error> {
        imports::THREADS.sleep_until(now() + ticks.min(3000))
    }
}
