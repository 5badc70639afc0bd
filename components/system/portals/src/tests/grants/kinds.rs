//! Semaphores, imports of the description, and what a server puts where its client wants an object.

use super::*;
use cairn_portal::invocation::Words;
use cairn_portal::literal::LITERAL_LIMITS_TO_COMPLETION;

#[test]
fn a_semaphore_is_passed_on_and_ends_with_its_makers() {
    let mut world = world();
    for initial in [Some(3), None] {
        let made = world.manager.make(&world.machine, client(CLIENT), initial).unwrap();
        let meaning = world.machine.meaning(CLIENT, made as usize);
        let (word, first) = world.pass((CLIENT, made), SECOND, passed_on(2));
        assert_eq!(world.machine.meaning(SECOND, first as usize), meaning);
        let (_, last) = world.pass((SECOND, first), OTHER, ALL);
        assert_eq!(world.machine.meaning(OTHER, last as usize), meaning);
        // Who made it has it for good; who has it cannot end it.
        assert_eq!(world.offer((SECOND, first), CLIENT, ALL), Err(Error::NotAllowed));
        world.give_up(OTHER, last);
        assert_eq!(world.machine.meaning(CLIENT, made as usize), meaning);
        let again = world.offer((SECOND, first), OTHER, ALL).unwrap();
        assert_eq!(world.revoke(CLIENT, word), Ok(()));
        assert_eq!(world.machine.meaning(SECOND, first as usize), None);
        assert_eq!(world.take(SECOND, again, OTHER), Err(Error::NotFound));
        // What was not taken back goes with it.
        let few = Rights { methods: 1, ..ALL };
        let (_, second) = world.pass((CLIENT, made), SECOND, few);
        assert_eq!(world.machine.meaning(SECOND, second as usize), meaning);
        assert_eq!(world.machine.meaning(SECOND, second as usize + 1), None);
        let offered = world.offer((CLIENT, made), OTHER, ALL).unwrap();
        world.give_up(CLIENT, made);
        assert_eq!(world.machine.meaning(SECOND, second as usize), None);
        assert_eq!(world.take(CLIENT, offered, OTHER), Err(Error::NotFound));
        world.give_up(SECOND, first);
        world.give_up(SECOND, second);
        assert_eq!(world.borne(), [0; 3]);
    }
}

/// The code of a holder's two portals from an index on, as far as limits change it.
fn codes(world: &World, holder: InstanceId, first: u64) -> [Vec<u32>; 2] {
    let code = |index| world.machine.entry(domain_of(holder), index as usize);
    [first, first + 1].map(|index| world.machine.words(code(index), 12))
}

/// Each portal of a limited semaphore or lock looks at the words, but what gives a lock back: in and out of the kernel domain.
#[test]
fn what_counts_of_a_semaphore_and_of_a_lock() {
    let mut world = world();
    let rights = Rights { uses: 3, until: 500, ..ALL };
    for (initial, limited) in [(Some(3), [true, true]), (None, [true, false])] {
        for holder in [SECOND, OTHER] {
            let made = world.manager.make(&world.machine, client(CLIENT), initial).unwrap();
            let (_, free) = world.pass((CLIENT, made), holder, ALL);
            let plain = codes(&world, holder, free);
            // Made anew, and of what is known by then.
            let both = [(); 2].map(|()| world.pass((CLIENT, made), holder, rights));
            for (word, first) in both {
                assert_eq!(world.words(word), [3, 500]);
                let words = limits((word & 0xffff) as usize);
                for (method, code) in codes(&world, holder, first).iter().enumerate() {
                    assert_eq!(*code != plain[method], limited[method], "method {method}");
                    let at = world.machine.entry(domain_of(holder), first as usize + method);
                    let literal = at.wrapping_add_signed(LITERAL_LIMITS_TO_COMPLETION);
                    assert_eq!(world.machine.load(literal), Some(words));
                    let meaning = world.machine.meaning(CLIENT, made as usize + method);
                    assert_eq!(world.machine.meaning(holder, first as usize + method), meaning);
                }
                world.give_up(holder, first);
            }
            assert_eq!(codes(&world, holder, free), plain);
            world.give_up(holder, free);
            world.give_up(CLIENT, made);
        }
    }
}

impl World {
    fn code_at(&self, index: u64) -> u64 {
        self.machine.entry(domain_of(CLIENT), index as usize)
    }
}

#[test]
fn what_the_description_connects_is_held_and_passed_on() {
    let mut world = world();
    let import = import_of(SERVER);
    let meaning = Some(Meaning { server: SERVER, entry: entry(SERVER, 4), constant: 0 });
    let before = world.code_at(import);
    let hold = |world: &mut World, first| world.manager.hold(&world.machine, client(CLIENT), first);
    let held = hold(&mut world, import).unwrap();
    assert_eq!(world.machine.meaning(CLIENT, held as usize), meaning);
    let (word, first) = world.pass((CLIENT, held), SECOND, ALL);
    assert_eq!(world.machine.meaning(SECOND, first as usize), meaning);
    assert_eq!(world.revoke(CLIENT, word), Ok(()));
    assert_eq!(world.machine.meaning(SECOND, first as usize), None);
    world.give_up(CLIENT, held);
    assert_eq!(world.code_at(import), before, "the import stays");
    // Only where an import begins, and of one that leads anywhere.
    let opened = world.service(CLIENT);
    for nothing in [0, opened, held + 400, u64::MAX] {
        assert_eq!(hold(&mut world, nothing), Err(Error::NotFound), "{nothing}");
    }
    let first = world.object(CLIENT, 7);
    world.manager.exchange(&world.machine, CLIENT, (SERVICE, SERVICE + 3)).unwrap();
    let exchanged = hold(&mut world, import).unwrap();
    let other = world.machine.meaning(CLIENT, exchanged as usize).unwrap();
    assert_eq!(other.server, OTHER, "where it leads now");
    // So does who is behind it: for a grant, and for a place.
    let behind = Peer::Behind(import as u32);
    let word = world.manager.grant(&world.machine, client(CLIENT), first, behind, ALL).unwrap();
    world.take(CLIENT, word, OTHER).unwrap();
    let known = Known { version: VERSION, signature: b"cii " };
    let World { machine, manager } = &mut world;
    let place = manager.reserve(machine, client(CLIENT), import, b"Numbers", known).unwrap();
    assert_eq!(world.fill(SERVER, (CLIENT, place), b"Numbers", 8), Err(Error::NotAllowed));
}

#[test]
fn a_server_fills_a_place_with_what_it_holds() {
    let mut world = world();
    let free = world.free();
    let fill = |world: &mut World, server, place, word| {
        world.manager.fill_with(&world.machine, client(server), (CLIENT, place), word)
    };
    // `OTHER` has an object of the server's, and serves the same interface.
    let first_hand = world.object(SECOND, 7);
    let (_, held) = world.pass((SECOND, first_hand), OTHER, passed_on(10));
    let place = world.reserve(CLIENT, OTHER, b"Numbers", b"cii ").unwrap();
    let first = place & 0xffff;
    let once = world.offer((OTHER, held), CLIENT, Rights { uses: 1, ..ALL }).unwrap();
    // Another's reservation, another interface, what is no object, what is another's or for another.
    let mine = world.object(SECOND, 9);
    let others = world.offer((SECOND, mine), CLIENT, ALL).unwrap();
    assert_eq!(fill(&mut world, SECOND, place, others), Err(Error::NotAllowed));
    assert_eq!(fill(&mut world, OTHER, place, others), Err(Error::NotFound));
    let reader = world.reserve(CLIENT, OTHER, b"Reader", b"cr ").unwrap();
    assert_eq!(fill(&mut world, OTHER, reader, once), Err(Error::VersionMismatch));
    let export = world.service(OTHER);
    let service = world.offer((OTHER, export), CLIENT, ALL).unwrap();
    assert_eq!(fill(&mut world, OTHER, place, service), Err(Error::NotSupported));
    let seconds = world.offer((OTHER, held), SECOND, ALL).unwrap();
    assert_eq!(fill(&mut world, OTHER, place, seconds), Err(Error::NotFound));
    assert_eq!(fill(&mut world, OTHER, place + (1 << 16), once), Err(Error::NotFound));
    assert_eq!(world.leads(CLIENT, first), None, "nothing is there yet");
    assert_eq!(fill(&mut world, OTHER, place, once), Ok(()));
    let expected = Some(Meaning { server: SERVER, entry: entry(SERVER, NUMBERS), constant: 7 });
    assert_eq!(world.machine.meaning(CLIENT, first as usize), expected);
    assert_eq!(fill(&mut world, OTHER, place, once), Err(Error::NotFound), "once");
    assert_eq!(world.offer((CLIENT, first), SECOND, ALL), Err(Error::NotAllowed));
    // It ends with the grant, and its index is the client's until it gives it up.
    assert_eq!(world.revoke(OTHER, once), Ok(()));
    assert_eq!(world.leads(CLIENT, first), None);
    world.give_up(CLIENT, first);
    // And with the server of the object, whoever filled the place.
    let place = world.reserve(CLIENT, OTHER, b"Numbers", b"cii ").unwrap();
    let first = place & 0xffff;
    let again = world.offer((OTHER, held), CLIENT, ALL).unwrap();
    assert_eq!(fill(&mut world, OTHER, place, again), Ok(()));
    world.die(SERVER);
    assert_eq!(world.leads(CLIENT, first), None);
    for (holder, first) in [(CLIENT, first), (CLIENT, reader & 0xffff), (OTHER, held)] {
        world.give_up(holder, first);
    }
    world.give_up(SECOND, mine);
    world.give_up(SECOND, first_hand);
    world.give_up(OTHER, export);
    assert_eq!((world.free(), world.borne()), (free, [0; 3]));
}
