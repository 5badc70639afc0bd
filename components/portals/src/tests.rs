//! The manager against a machine of words: whatever clients and servers do, in any order, an index means to
//! its holder what it meant, or nothing (invariant 10).

mod fake;

use crate::known::Known;
use crate::make::Client;
use crate::manager::Manager;
use crate::reclaim::Running;
use cairn_abi::Error;
use cairn_abi::domain::PORTALS_MAXIMUM;
use fake::*;
use std::collections::BTreeMap;

const ANY: Known<'static> = Known { version: 0, signature: b"" };

struct World {
    machine: Fake,
    manager: Box<Manager>,
}

fn world() -> World {
    let machine = Fake::new();
    let mut manager = Box::new(Manager::EMPTY);
    manager.begin(&machine, MANAGER, FIRST, machine.synchronisation(), 0).unwrap();
    World { machine, manager }
}

fn client(domain: u8) -> Client {
    let running = Some(Running { thread: 0, top: TOP });
    Client { domain, generation: 0, running }
}

impl World {
    fn reserve(
        &mut self,
        domain: u8,
        server: u8,
        interface: &[u8],
        letters: &[u8],
    ) -> Result<u64, Error> {
        let known = Known { version: VERSION, signature: letters };
        self.manager.reserve(&self.machine, client(domain), import_of(server), interface, known)
    }

    fn fill(
        &mut self,
        server: u8,
        to: (u8, u64),
        interface: &[u8],
        control: u64,
    ) -> Result<(), Error> {
        self.manager.make_object(
            &self.machine,
            server,
            to,
            interface,
            control,
            client(to.0).running,
        )
    }

    fn die(&mut self, domain: u8) {
        while self.manager.domain_died(&self.machine, domain).unwrap() != 0 {}
        self.manager.domain_starts(&self.machine, domain).unwrap();
    }

    fn free(&mut self) -> u64 {
        self.manager.usage(&self.machine, Running { thread: 0, top: TOP }) >> 32
    }
}

#[test]
fn a_place_is_filled_by_its_server_with_its_interface_once() {
    let mut world = world();
    let word = world.reserve(CLIENT, SERVER, b"Numbers", b"cii ").unwrap();
    let index = word as u16 as usize;
    assert_eq!(world.machine.meaning(CLIENT, index), None);
    let refused = [
        (SERVER, CLIENT, word, "Reader", Error::NotAllowed),
        (OTHER, CLIENT, word, "Numbers", Error::NotAllowed),
        (OTHER, CLIENT, word, "Reader", Error::NotAllowed),
        (SECOND, CLIENT, word, "Numbers", Error::NotFound),
        (SERVER, SECOND, word, "Numbers", Error::NotFound),
        (SERVER, CLIENT, word & 0xffff, "Numbers", Error::NotFound),
        (SERVER, CLIENT, word + (1 << 16), "Numbers", Error::NotFound),
        (SERVER, CLIENT, FIRST.into(), "Numbers", Error::NotFound),
        (SERVER, CLIENT, word, "service", Error::NotFound),
    ];
    for (server, domain, word, interface, error) in refused {
        let made = world.fill(server, (domain, word), interface.as_bytes(), 7);
        assert_eq!(made, Err(error), "{server} {domain} {word:#x} {interface}");
    }
    world.fill(SERVER, (CLIENT, word), b"Numbers", 7).unwrap();
    let numbers = Some(Meaning { server: SERVER, entry: entry(SERVER, NUMBERS), constant: 7 });
    assert_eq!(world.machine.meaning(CLIENT, index), numbers);
    assert_eq!(world.fill(SERVER, (CLIENT, word), b"Numbers", 8), Err(Error::NotFound));
    assert_eq!(world.manager.end_object(&world.machine, SERVER, b"Numbers", 7), Ok(1));
    assert_eq!(world.machine.meaning(CLIENT, index), None);
    assert_eq!(world.fill(SERVER, (CLIENT, word), b"Numbers", 7), Err(Error::NotFound));
}

#[test]
fn the_dead_fill_nothing_and_are_filled_nothing() {
    let mut world = world();
    let word = world.reserve(CLIENT, SERVER, b"Numbers", b"cii ").unwrap();
    world.machine.set_alive(SERVER, false);
    assert_eq!(world.fill(SERVER, (CLIENT, word), b"Numbers", 1), Err(Error::Dead));
    assert_eq!(world.reserve(CLIENT, SERVER, b"Numbers", b"cii "), Err(Error::Dead));
    world.die(SERVER);
    world.machine.set_alive(SERVER, true);
    assert_eq!(world.fill(SERVER, (CLIENT, word), b"Numbers", 1), Err(Error::NotFound));
    let word = world.reserve(CLIENT, SERVER, b"Numbers", b"cii ").unwrap();
    world.machine.set_alive(CLIENT, false);
    assert_eq!(world.fill(SERVER, (CLIENT, word), b"Numbers", 1), Err(Error::Dead));
    world.die(CLIENT);
    world.machine.set_alive(CLIENT, true);
    assert_eq!(world.fill(SERVER, (CLIENT, word), b"Numbers", 1), Err(Error::NotFound));
    // A thread of a former life reserves nothing for the successor.
    let former = Client { generation: 1, ..client(CLIENT) };
    let reserved =
        world.manager.reserve(&world.machine, former, import_of(SERVER), b"Numbers", ANY);
    assert_eq!(reserved, Err(Error::Dead));
}

/// A client that is more urgent than the steps of a death opens again what they end.
#[test]
fn nobody_opens_what_the_dead_published() {
    let mut world = world();
    let made = world.manager.make_semaphore(&world.machine, client(OTHER), 0).unwrap();
    world.manager.publish(&world.machine, OTHER, made, "other.gate", "*").unwrap();
    let open = |world: &mut World| {
        world.manager.open_registration(&world.machine, client(CLIENT), REGISTERED, ANY)
    };
    let mut held: Vec<u64> = (0..20).map(|_| open(&mut world).unwrap()).collect();
    world.machine.set_alive(OTHER, false);
    let mut steps = 0;
    while world.manager.domain_died(&world.machine, OTHER).unwrap() != 0 {
        steps += 1;
        assert!(steps < 10, "the dead domain never comes to its end");
        held.retain_mut(|first| {
            if world.machine.meaning(CLIENT, *first as usize).is_some() {
                return true;
            }
            world.manager.close(&world.machine, CLIENT, *first).unwrap();
            open(&mut world).map(|next| *first = next).is_ok()
        });
    }
    assert_eq!(open(&mut world), Err(Error::NotFound));
}

#[test]
fn code_that_a_stack_names_is_kept() {
    let mut world = world();
    let before = world.free();
    let first = world.manager.open_export(&world.machine, client(CLIENT), SERVICE, ANY).unwrap();
    let frame = world.machine.push_call(CLIENT, first as usize);
    world.manager.close(&world.machine, CLIENT, first).unwrap();
    assert!(world.free() < before);
    // The indexes are free all the same.
    assert_eq!(world.manager.open_export(&world.machine, client(CLIENT), SERVICE, ANY), Ok(first));
    world.manager.close(&world.machine, CLIENT, first).unwrap();
    world.machine.pop(frame);
    assert_eq!(world.free(), before);
}

/// What the holder of an index knows of it.
#[derive(Clone, Copy, Debug)]
enum Told {
    /// Reserved for an object of this server, of this entry point.
    Reserved(u8, u64),
    /// It led here.
    Open(Meaning),
    /// It led nowhere again.
    Ended,
}

/// What each client was given, by first index: how many, what it knows, the word that names it.
type Held = BTreeMap<(u8, usize), (usize, Told, u64)>;

fn look(world: &World, held: &mut Held, step: usize) {
    for domain in [CLIENT, SECOND, SERVER, OTHER] {
        let mut index = FIRST as usize + IMPORTS;
        while index < PORTALS_MAXIMUM {
            let Some((count, known, _)) = held.get_mut(&(domain, index)) else {
                assert_eq!(world.machine.meaning(domain, index), None, "{step}: {domain} {index}");
                index += 1;
                continue;
            };
            let found = world.machine.meaning(domain, index);
            *known = match (*known, found) {
                (Told::Reserved(server, entry), Some(found)) => {
                    assert_eq!((found.server, found.entry), (server, entry), "{step}");
                    Told::Open(found)
                }
                (Told::Open(meant), Some(found)) => {
                    assert_eq!(found, meant, "{step}: {domain} {index}");
                    Told::Open(meant)
                }
                (Told::Open(_), None) => Told::Ended,
                (Told::Ended, Some(found)) => panic!("{step}: {domain} {index} {found:?}"),
                (known, None) => known,
            };
            index += *count;
        }
    }
}

#[test]
fn an_index_means_what_it_meant_or_nothing() {
    let mut world = world();
    let before = world.free();
    let mut held = Held::new();
    let mut random = 1u64;
    let mut number = |below: u64| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) % below
    };
    let (mut filled, mut refused) = (0, 0);
    for step in 0..30_000 {
        let domain = [CLIENT, SECOND][number(2) as usize];
        let server = [SERVER, OTHER][number(2) as usize];
        let (interface, letters, method) = match number(2) {
            0 => ("Numbers", &b"cii "[..], NUMBERS),
            _ => ("Reader", &b"cr "[..], READER),
        };
        let mut opened = |world: &World, made: Result<u64, Error>, count: usize| {
            if let Ok(first) = made {
                let meaning = world.machine.meaning(domain, first as usize).unwrap();
                let before = held.insert((domain, first as usize), (count, Told::Open(meaning), 0));
                assert!(before.is_none(), "{step}: {domain} {first}");
            }
        };
        match number(12) {
            0 => {
                let made = world.manager.open_export(&world.machine, client(domain), SERVICE, ANY);
                opened(&world, made, 2);
            }
            1 => {
                let made = world.manager.make_semaphore(&world.machine, client(domain), 0);
                opened(&world, made, SEMAPHORE_METHODS);
            }
            2 => {
                let made = world.manager.open_registration(
                    &world.machine,
                    client(domain),
                    REGISTERED,
                    ANY,
                );
                opened(&world, made, 1);
            }
            3 | 4 => {
                if let Ok(word) = world.reserve(domain, server, interface.as_bytes(), letters) {
                    let known = Told::Reserved(server, entry(server, method));
                    let before = held.insert((domain, word as u16 as usize), (1, known, word));
                    assert!(before.is_none(), "{step}");
                }
            }
            5 | 6 => {
                // A name that somebody knows, or nearly.
                let (mut to, mut word) = (domain, number(1 << 20));
                if let Some(((of, _), (_, _, known))) =
                    held.iter().nth(number(held.len() as u64 + 1) as usize)
                {
                    (to, word) = (*of, *known);
                }
                match world.fill(server, (to, word), interface.as_bytes(), number(4)) {
                    Ok(()) => filled += 1,
                    Err(_) => refused += 1,
                }
            }
            7 => {
                let _ = world.manager.end_object(
                    &world.machine,
                    server,
                    interface.as_bytes(),
                    number(4),
                );
            }
            8 | 9 => {
                let first = match held.keys().nth(number(held.len() as u64 + 1) as usize) {
                    Some((of, first)) if *of == domain => *first as u64,
                    _ => number(600),
                };
                let closed = world.manager.close(&world.machine, domain, first);
                let known = held.remove(&(domain, first as usize));
                assert_eq!(closed.is_ok(), known.is_some(), "{step}: {domain} {first}");
            }
            10 => match number(8) {
                0 => {
                    world.die(domain);
                    held.retain(|(of, _), _| *of != domain);
                }
                1 => world.die(server),
                2 => {
                    let _ = world.manager.revoke(&world.machine, SERVER, "service", 0);
                }
                _ => {
                    let _ = world.manager.revoke(&world.machine, OTHER, "late", domain.into());
                }
            },
            _ => {
                let mut methods = [0; 32];
                methods[8..11].copy_from_slice(b"cii");
                methods[24..].copy_from_slice(&entry(OTHER, 3).to_le_bytes());
                let _ = world.manager.register(&world.machine, OTHER, "other.late", "*", &methods);
            }
        }
        look(&world, &mut held, step);
    }
    assert!(filled > 300 && refused > 1000, "{filled} {refused}");
    for domain in [SERVER, OTHER, CLIENT, SECOND] {
        world.die(domain);
    }
    assert_eq!(world.free(), before);
}
