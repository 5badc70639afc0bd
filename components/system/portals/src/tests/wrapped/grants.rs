//! Interposers before what was passed on.

use super::*;
use cairn_abi::grant::{Peer, Rights};

const ALL_RIGHTS: Rights = Rights { methods: u32::MAX, passes: 0, uses: 0, until: 0 };

impl World {
    /// Passes on what the client holds, to the second one: the word, and the first index there.
    fn give(&mut self, first: usize, rights: Rights) -> (u64, Result<usize, Error>) {
        let World { machine, manager } = self;
        let receiver = Peer::Instance(SECOND);
        let word = manager.grant(machine, client(CLIENT), first as u64, receiver, rights).unwrap();
        (word, self.accept(word))
    }

    fn accept(&mut self, word: u64) -> Result<usize, Error> {
        let World { machine, manager } = self;
        let taken = manager.accept(machine, client(SECOND), Peer::Instance(CLIENT), word, ANY);
        taken.map(|first| first as usize)
    }

    /// A client's block of an object of the server.
    fn number(&mut self, control: u64) -> usize {
        let word = self.reserve(CLIENT, SERVER, b"Numbers", b"cii ").unwrap();
        self.fill(SERVER, (CLIENT, word), b"Numbers", control).unwrap();
        word as u16 as usize
    }
}

#[test]
fn a_limited_grant_stays_one() {
    let mut world = with_interposer();
    let first = world.open() as u64;
    world.wrap(ALL, false).unwrap();
    let World { machine, manager } = &mut world;
    let rights = Rights { methods: 1, passes: 0, uses: 3, until: 0 };
    let receiver = Peer::Instance(SECOND);
    let word = manager.grant(machine, client(CLIENT), first, receiver, rights).unwrap();
    let granter = Peer::Instance(CLIENT);
    let index = manager.accept(machine, client(SECOND), granter, word, ANY).unwrap() as usize;
    assert_eq!(machine.meaning(SECOND, index + 1), None, "no right to it");
    let limits = manager.maker().limits_of(SECOND, index);
    assert_ne!(limits, 0);
    assert_eq!(world.behind(SECOND, index, 1), service(4));
    let inner = inner_of(&world, SECOND, index);
    assert_eq!(world.machine.meaning(BETWEEN, inner + 1), None, "nor has the interposer");
    let code = world.machine.entry(domain_of(BETWEEN), inner);
    let words = world.machine.words(code.wrapping_add_signed(LITERAL_LIMITS), 2);
    assert_eq!(u64::from(words[0]) | u64::from(words[1]) << 32, limits, "it takes from the calls");
    world.unwrap(ALL).unwrap();
    assert_eq!(world.machine.meaning(SECOND, index), Some(service(4)));
    assert_eq!(world.machine.meaning(SECOND, index + 1), None);
}

/// Of a semaphore and of a lock, too: whoever stands before them takes from the calls.
#[test]
fn a_limited_semaphore_stays_one() {
    for initial in [Some(1), None] {
        let mut world = with_interposer();
        world.wrap((SECOND, NO_INSTANCE, BETWEEN), false).unwrap();
        let World { machine, manager } = &mut world;
        let first = manager.make(machine, client(CLIENT), initial).unwrap();
        let (_, plain) = world.give(first as usize, ALL_RIGHTS);
        let (_, held) = world.give(first as usize, Rights { uses: 3, ..ALL_RIGHTS });
        let (plain, held) = (plain.unwrap(), held.unwrap());
        let limits = world.manager.maker().limits_of(SECOND, held);
        let [plain, held] = [plain, held].map(|first| inner_of(&world, SECOND, first));
        for (method, is_limited) in [(0, true), (1, initial.is_some())] {
            let code = |first| world.machine.entry(domain_of(BETWEEN), first + method);
            let [plain, held] = [plain, held].map(|first| world.machine.words(code(first), 16));
            assert_eq!(plain != held, is_limited, "method {method}");
        }
        let literal = world.machine.entry(domain_of(BETWEEN), held);
        let words = literal.wrapping_add_signed(LITERAL_LIMITS_TO_COMPLETION);
        let words = world.machine.words(words, 2);
        assert_eq!(u64::from(words[0]) | u64::from(words[1]) << 32, limits);
    }
}

/// A thread that is in the interposer when that goes has no more from then on than its client has.
#[test]
fn what_ends_behind_a_wrap_that_is_over_ends_for_who_is_on_the_way() {
    type End = fn(&mut World, (u64, usize, usize));
    let ends: [(&str, End); 5] = [
        ("taken back", |world, (word, ..)| {
            world.manager.revoke_grant(&world.machine, client(CLIENT), word).unwrap();
        }),
        ("closed by its granter", |world, (_, first, _)| {
            world.manager.close(&world.machine, client(CLIENT), first as u64).unwrap();
        }),
        ("closed by its receiver", |world, (_, _, held)| {
            world.manager.close(&world.machine, client(SECOND), held as u64).unwrap();
        }),
        ("ended by its server", |world, _| {
            world.manager.end_object(&world.machine, client(SERVER), b"Numbers", 7).unwrap();
        }),
        ("its server died", |world, _| world.die(SERVER)),
    ];
    for (what, end) in ends {
        for depth in [1, 2] {
            let mut world = with_interposer();
            let first = world.number(7);
            let (word, held) = world.give(first, Rights { uses: 3, ..ALL_RIGHTS });
            let held = held.unwrap();
            let rules = [(SECOND, SERVER, BETWEEN), ALL];
            for rule in &rules[..depth] {
                world.wrap(*rule, false).unwrap();
            }
            let inner = inner_of(&world, SECOND, held);
            let inside = world.machine.enter(SECOND, held);
            for rule in &rules[..depth] {
                world.unwrap(*rule).unwrap();
            }
            assert!(world.machine.meaning(BETWEEN, inner).is_some(), "on its way");
            end(&mut world, (word, first, held));
            assert_eq!(world.machine.meaning(BETWEEN, inner), None, "{what}");
            // What comes at the same place is another's.
            let (_, next) = (world.number(8), world.open());
            assert_eq!(world.machine.meaning(BETWEEN, inner), None, "{what}");
            assert!(world.machine.meaning(CLIENT, next).is_some());
            world.machine.leave(inside);
        }
    }
}

/// What cannot be wrapped is not accepted, and takes no place in its receiver's table.
#[test]
fn what_an_interposer_has_no_room_for_is_not_accepted() {
    let mut world = with_interposer();
    let (number, opened) = (world.number(7), world.open());
    world.wrap((SECOND, SERVER, BETWEEN), false).unwrap();
    for first in [number, opened] {
        let mut held = vec![];
        let offered = loop {
            match world.give(first, ALL_RIGHTS) {
                (word, Err(error)) => {
                    assert_eq!(error, Error::Exhausted);
                    break word;
                }
                (_, Ok(index)) => held.push(index),
            }
        };
        let maker = world.manager.maker();
        let blocks = maker.blocks().held(SECOND);
        for _ in 0..10 {
            assert_eq!(world.accept(offered), Err(Error::Exhausted));
        }
        assert_eq!(world.manager.maker().blocks().held(SECOND), blocks);
        // It is offered still.
        let World { machine, manager } = &mut world;
        for index in held {
            manager.close(machine, client(SECOND), index as u64).unwrap();
        }
        let index = world.accept(offered).unwrap();
        let World { machine, manager } = &mut world;
        manager.close(machine, client(SECOND), index as u64).unwrap();
    }
}
