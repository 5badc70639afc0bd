//! The manager against a machine of words: whatever clients and servers do, in any order, an index means to
//! its holder what it meant, or nothing (invariant 10).

mod fake;
mod faults;
mod forked;
mod grants;
mod held;
mod loaded;
mod retired;
mod world;
mod wrapped;

use crate::known::{Client, Known};
use crate::machine::Machine;
use crate::manager::Manager;
use cairn_abi::domain::PORTALS_DESCRIBED;
use cairn_abi::{Error, InstanceId};
use cairn_portal::literal::LITERALS_SIZE;
use cairn_portal::{Crossing, Float, Parameters, Place, Specification, generate};
use cairn_random::Random;
use fake::*;
use std::collections::BTreeMap;
use std::num::NonZero;
use world::*;

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
    for (server, holder, word, interface, error) in refused {
        let made = world.fill(server, (holder, word), interface.as_bytes(), 7);
        assert_eq!(made, Err(error), "{server} {holder} {word:#x} {interface}");
    }
    world.fill(SERVER, (CLIENT, word), b"Numbers", 7).unwrap();
    let numbers = Some(Meaning { server: SERVER, entry: entry(SERVER, NUMBERS), constant: 7 });
    assert_eq!(world.machine.meaning(CLIENT, index), numbers);
    assert_eq!(world.fill(SERVER, (CLIENT, word), b"Numbers", 8), Err(Error::NotFound));
    assert_eq!(world.manager.end_object(&world.machine, client(SERVER), b"Numbers", 7), Ok(1));
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
    let made = world.manager.make(&world.machine, client(OTHER), Some(0)).unwrap();
    world.manager.publish(&world.machine, client(OTHER), made, "other.gate", "*").unwrap();
    let open = |world: &mut World| {
        world.manager.open_registration(&world.machine, client(CLIENT), REGISTERED, ANY)
    };
    let mut held: Vec<u64> = (0..20).map(|_| open(&mut world).unwrap()).collect();
    world.machine.set_alive(OTHER, false);
    let mut steps = 0;
    while world.manager.instance_died(&world.machine, OTHER).unwrap() != 0 {
        steps += 1;
        assert!(steps < 10, "the dead instance never comes to its end");
        held.retain_mut(|first| {
            if world.machine.meaning(CLIENT, *first as usize).is_some() {
                return true;
            }
            world.manager.close(&world.machine, client(CLIENT), *first).unwrap();
            open(&mut world).map(|next| *first = next).is_ok()
        });
    }
    assert_eq!(open(&mut world), Err(Error::NotFound));
}

#[test]
fn a_return_portal_stays_while_somebody_is_inside() {
    let mut world = world();
    let before = world.free();
    let open = |world: &mut World| {
        world.manager.open_export(&world.machine, client(CLIENT), SERVICE, ANY).unwrap()
    };
    let trim = |world: &mut World| {
        let World { machine, manager } = world;
        manager.maker().pools_mut().trim_client(machine, CLIENT);
        manager.maker().pools_mut().kept()
    };
    // Of the lock around the manager.
    let own = trim(&mut world);
    let first = open(&mut world);
    let back = world.machine.back(CLIENT, first as usize);
    assert_eq!(world.machine.back(CLIENT, first as usize + 1), back, "two ways back are the same");
    assert_ne!(trim(&mut world), own, "its portals are open");
    let inside = world.machine.enter(CLIENT, first as usize);
    world.manager.close(&world.machine, client(CLIENT), first).unwrap();
    assert_eq!(world.free(), before, "nobody is in a call portal");
    assert_ne!(trim(&mut world), own, "somebody is inside");
    // The next opening finds it.
    assert_eq!((open(&mut world), world.machine.back(CLIENT, first as usize)), (first, back));
    world.manager.close(&world.machine, client(CLIENT), first).unwrap();
    assert_ne!(trim(&mut world), own, "still");
    world.machine.leave(inside);
    assert_eq!(trim(&mut world), own, "nobody is inside");
    assert_eq!(open(&mut world), first);
}

#[test]
fn what_others_keep_for_their_next_opening_can_be_had() {
    let mut world = world();
    let server = world.manager.instances().get(SERVER).unwrap();
    // As many clients as the server has stacks for, less one that is the first thread's.
    let queues: Vec<u16> = (100..130)
        .map_while(|number| {
            let pools = world.manager.maker().pools_mut();
            pools.queue(&world.machine, InstanceId(number), server).ok()
        })
        .collect();
    assert_eq!(queues.len(), 19);
    let World { machine, manager } = &mut world;
    assert_eq!(manager.open_export(machine, client(CLIENT), SERVICE, ANY), Err(Error::Exhausted));
    manager.maker().pools_mut().left(queues[7]);
    assert!(manager.open_export(machine, client(CLIENT), SERVICE, ANY).is_ok());
    assert_eq!(manager.open_export(machine, client(SECOND), SERVICE, ANY), Err(Error::Exhausted));
}

/// Whatever templates are overwritten meanwhile, each portal has the code of its own letters.
#[test]
fn every_portal_has_the_code_of_its_letters() {
    let mut world = world();
    let World { machine, manager } = &mut world;
    let mut random = Random::new(1);
    let mut number = |below: u64| random.below(below);
    for _ in 0..300 {
        let methods: Vec<String> = (0..=number(16).min(15))
            .map(|_| {
                let letters = ["i", "i", "r", "w", "=", "a", "t", "h"];
                let more = number(4);
                (0..more).fold("c".to_string(), |text, _| {
                    let longer = text.clone() + letters[number(8) as usize];
                    if longer.matches(['r', 'w']).count() > 3 { text } else { longer }
                })
            })
            .collect();
        let mut bytes = vec![0; 8];
        for letters in &methods {
            let mut method = [0; 24];
            method[..letters.len()].copy_from_slice(letters.as_bytes());
            method[16..].copy_from_slice(&entry(OTHER, 3).to_le_bytes());
            bytes.extend(method);
        }
        manager.register(machine, client(OTHER), "other.late", "*", &bytes).unwrap();
        let holder = [CLIENT, SECOND][number(2) as usize];
        let opened = manager.open_registration(machine, client(holder), REGISTERED, ANY).unwrap();
        check_code(machine, holder, opened, &methods);
        manager.close(machine, client(holder), opened).unwrap();
        manager.unregister(machine, client(OTHER), "other.late").unwrap();
        // Of the description, by both clients in turn, while templates come and go.
        let exports = machine.layout().exports;
        let export = number(exports.len() as u64) as usize;
        if exports[export].instance == SCHEDULER {
            continue;
        }
        let methods = machine.layout().methods_of(&exports[export]).iter().map(|method| {
            String::from_utf8(method.letters.to_vec()).unwrap().trim_end_matches('\0').to_string()
        });
        let methods = methods.collect::<Vec<_>>();
        let opened = [CLIENT, SECOND, CLIENT]
            .map(|holder| (holder, manager.open_export(machine, client(holder), export, ANY)));
        for (holder, opened) in opened {
            if let Ok(opened) = opened {
                check_code(machine, holder, opened, &methods);
                manager.close(machine, client(holder), opened).unwrap();
            }
        }
    }
}

/// A thread that outlived its domain in the manager does nothing for the successor.
#[test]
fn a_former_life_can_do_nothing() {
    let mut world = world();
    let mut methods = [0; 32];
    methods[8..11].copy_from_slice(b"cii");
    methods[24..].copy_from_slice(&entry(OTHER, 3).to_le_bytes());
    let former = client;
    let letters = letters("c");
    let semaphore = world.manager.make(&world.machine, client(OTHER), Some(0)).unwrap();
    let word = world.reserve(CLIENT, OTHER, b"Numbers", b"cii ").unwrap();
    world.machine.set_generation(1);
    let World { machine, manager } = &mut world;
    let results = [
        manager.open_export(machine, former(CLIENT), SERVICE, ANY),
        manager.open_registration(machine, former(CLIENT), REGISTERED, ANY),
        manager.close(machine, former(OTHER), semaphore).map(|()| 0),
        manager.revoke(machine, former(OTHER), "late", InstanceId(0)),
        manager.reserve(machine, former(CLIENT), import_of(OTHER), b"Numbers", ANY),
        manager.make_object(machine, former(OTHER), (CLIENT, word), b"Numbers", 7).map(|()| 0),
        manager.end_object(machine, former(OTHER), b"Numbers", 7),
        manager.register(machine, former(OTHER), "other.late", "*", &methods).map(|()| 0),
        manager.publish(machine, former(OTHER), semaphore, "other.gate", "*").map(|()| 0),
        manager.unregister(machine, former(OTHER), "other.late").map(|()| 0),
        manager.make(machine, former(CLIENT), Some(0)),
        manager.make(machine, former(CLIENT), None),
        manager.make_once(machine, former(CLIENT), NonZero::<u32>::MIN, None),
        manager.make_measured(machine, former(CLIENT), cairn_portal::Trust::default(), letters),
        former(OTHER).admit(machine, "other.late", CLIENT, true).map(|()| 0),
    ];
    assert_eq!(results, [Err(Error::Dead); 15]);
}

/// Threads of a client that use a static first at the same time make one semaphore, and a quota of one is enough.
#[test]
fn what_is_made_once_is_the_clients_own() {
    let mut world = world();
    let World { machine, manager } = &mut world;
    let before = machine.allocated.get();
    let label = |number| NonZero::new(number).unwrap();
    let mut once = |who, number, initial| manager.make_once(machine, who, label(number), initial);
    let first = once(client(CLIENT), 1, Some(3)).unwrap();
    assert_eq!(once(client(CLIENT), 1, Some(3)), Ok(first));
    let lock = once(client(CLIENT), 2, None).unwrap();
    assert_ne!(lock, first);
    assert_eq!(once(client(CLIENT), 2, None), Ok(lock));
    // Nobody has a semaphore by another's label.
    once(client(OTHER), 1, Some(0)).unwrap();
    assert_eq!(machine.allocated.get(), before + 3);
    manager.close(machine, client(CLIENT), first).unwrap();
    let again = manager.make_once(machine, client(CLIENT), label(1), Some(3)).unwrap();
    assert_eq!(manager.make_once(machine, client(CLIENT), label(1), Some(3)), Ok(again));
}

/// What the holder of an index knows of it.
#[derive(Clone, Copy, Debug)]
enum Told {
    /// Reserved for an object of this server, of this entry point.
    Reserved(InstanceId, u64),
    /// It led here.
    Open(Meaning),
    /// It led nowhere again.
    Ended,
}

/// What each client was given, by first index: how many, what it knows, the word that names it.
type Held = BTreeMap<(InstanceId, usize), (usize, Told, u64)>;

fn look(world: &World, held: &mut Held, step: usize) {
    for holder in [CLIENT, SECOND, SERVER, OTHER] {
        let mut index = FIRST as usize + IMPORTS;
        while index < PORTALS_DESCRIBED {
            let Some((count, known, _)) = held.get_mut(&(holder, index)) else {
                assert_eq!(world.machine.meaning(holder, index), None, "{step}: {holder} {index}");
                index += 1;
                continue;
            };
            let found = world.machine.meaning(holder, index);
            *known = match (*known, found) {
                (Told::Reserved(server, entry), Some(found)) => {
                    assert_eq!((found.server, found.entry), (server, entry), "{step}");
                    Told::Open(found)
                }
                (Told::Open(meant), Some(found)) => {
                    assert_eq!(found, meant, "{step}: {holder} {index}");
                    Told::Open(meant)
                }
                (Told::Open(_), None) => Told::Ended,
                (Told::Ended, Some(found)) => panic!("{step}: {holder} {index} {found:?}"),
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
    let mut random = Random::new(1);
    let mut number = |below: u64| random.below(below);
    let (mut filled, mut refused) = (0, 0);
    for step in 0..30_000 {
        let holder = [CLIENT, SECOND][number(2) as usize];
        let server = [SERVER, OTHER][number(2) as usize];
        let (interface, letters, method) = match number(2) {
            0 => ("Numbers", &b"cii "[..], NUMBERS),
            _ => ("Reader", &b"cr "[..], READER),
        };
        let mut opened = |world: &World, made: Result<u64, Error>, count: usize| {
            if let Ok(first) = made {
                let meaning = world.machine.meaning(holder, first as usize).unwrap();
                let before = held.insert((holder, first as usize), (count, Told::Open(meaning), 0));
                assert!(before.is_none(), "{step}: {holder} {first}");
            }
        };
        match number(12) {
            0 => {
                let made = world.manager.open_export(&world.machine, client(holder), SERVICE, ANY);
                opened(&world, made, 2);
            }
            1 => {
                let made = world.manager.make(&world.machine, client(holder), Some(0));
                opened(&world, made, SEMAPHORE_METHODS);
            }
            2 => {
                let made = world.manager.open_registration(
                    &world.machine,
                    client(holder),
                    REGISTERED,
                    ANY,
                );
                opened(&world, made, 1);
            }
            3 | 4 => {
                if let Ok(word) = world.reserve(holder, server, interface.as_bytes(), letters) {
                    let known = Told::Reserved(server, entry(server, method));
                    let before = held.insert((holder, word as u16 as usize), (1, known, word));
                    assert!(before.is_none(), "{step}");
                }
            }
            5 | 6 => {
                // A name that somebody knows, or nearly.
                let (mut to, mut word) = (holder, number(1 << 20));
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
                    client(server),
                    interface.as_bytes(),
                    number(4),
                );
            }
            8 | 9 => {
                let first = match held.keys().nth(number(held.len() as u64 + 1) as usize) {
                    Some((of, first)) if *of == holder => *first as u64,
                    _ => number(600),
                };
                let closed = world.manager.close(&world.machine, client(holder), first);
                let known = held.remove(&(holder, first as usize));
                assert_eq!(closed.is_ok(), known.is_some(), "{step}: {holder} {first}");
            }
            10 => match number(8) {
                0 => {
                    world.die(holder);
                    held.retain(|(of, _), _| *of != holder);
                }
                1 => world.die(server),
                2 => {
                    let _ = world.manager.revoke(
                        &world.machine,
                        client(SERVER),
                        "service",
                        InstanceId(0),
                    );
                }
                _ => {
                    let _ = world.manager.revoke(&world.machine, client(OTHER), "late", holder);
                }
            },
            _ => {
                let mut methods = [0; 32];
                methods[8..11].copy_from_slice(b"cii");
                methods[24..].copy_from_slice(&entry(OTHER, 3).to_le_bytes());
                let _ = world.manager.register(
                    &world.machine,
                    client(OTHER),
                    "other.late",
                    "*",
                    &methods,
                );
            }
        }
        look(&world, &mut held, step);
    }
    assert!(filled > 300 && refused > 1000, "{filled} {refused}");
    for holder in [SERVER, OTHER, CLIENT, SECOND] {
        world.die(holder);
    }
    assert_eq!(world.free(), before);
}

/// That the portals of a block have the code of these letters.
fn check_code(machine: &Fake, instance: InstanceId, opened: u64, methods: &[String]) {
    for (index, letters) in (opened as usize..).zip(methods) {
        let is_in_kernel = instance == SECOND;
        let state = if is_in_kernel { 'k' } else { 'p' };
        let specification = Specification::parse(&format!("n{state}{letters}")).unwrap();
        let mut crossing = Crossing { index: index as u64, asids: true, ..Crossing::NONE };
        crossing.caller.instance = instance;
        crossing.caller.domain = domain_of(instance);
        crossing.caller.place = if is_in_kernel { Place::Kernel } else { Place::User };
        if instance == WITH_FLOAT {
            crossing.caller.float = Float::FIRST_USE;
        }
        let server = machine.meaning(instance, index).unwrap().server;
        crossing.caller.space = machine.space_of(instance);
        crossing.callee.space = machine.space_of(server);
        let all = (&specification, &Parameters::NONE);
        let mut words = [0; 1024];
        let size = generate::call(all, None, &crossing, &mut words).unwrap();
        let wanted = &words[LITERALS_SIZE as usize / 4..size / 4];
        assert_eq!(
            machine.words(machine.entry(domain_of(instance), index), wanted.len()),
            wanted,
            "{letters}"
        );
        let (size, links) = generate::back(all, &crossing, &mut words).unwrap();
        let wanted = &words[LITERALS_SIZE as usize / 4..links.dead_literals() / 4];
        assert_eq!(machine.words(machine.back(instance, index), wanted.len()), wanted, "{letters}");
        assert!(size > wanted.len());
    }
}
