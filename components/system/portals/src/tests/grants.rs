//! What is passed on: whoever tries what, a grant leads one receiver to what its granter holds, with no more rights than the
//! granter has, and ends with that.

mod kinds;
mod model;

use super::*;
use crate::grants::Grants;
use cairn_abi::grant::{GRANTS_OF_CLIENT, Peer, Rights, UNLIMITED, limits};
use std::collections::BTreeSet;

const ALL: Rights = Rights { methods: u32::MAX, passes: 0, uses: 0, until: 0 };

fn passed_on(passes: u16) -> Rights {
    Rights { passes, ..ALL }
}

impl World {
    /// A client's block of an object of the server.
    fn object(&mut self, holder: InstanceId, control: u64) -> u64 {
        let word = self.reserve(holder, SERVER, b"Numbers", b"cii ").unwrap();
        self.fill(SERVER, (holder, word), b"Numbers", control).unwrap();
        word & 0xffff
    }

    /// A client's block of the server's export of two methods.
    fn service(&mut self, holder: InstanceId) -> u64 {
        self.manager.open_export(&self.machine, client(holder), SERVICE, ANY).unwrap()
    }

    fn offer(
        &mut self,
        (from, first): (InstanceId, u64),
        to: InstanceId,
        rights: Rights,
    ) -> Result<u64, Error> {
        let to = Peer::Instance(to);
        self.manager.grant(&self.machine, client(from), first, to, rights)
    }

    fn take(&mut self, from: InstanceId, word: u64, to: InstanceId) -> Result<u64, Error> {
        let from = Peer::Instance(from);
        self.manager.accept(&self.machine, client(to), from, word, ANY)
    }

    /// Offers and accepts: the word, and the receiver's first index.
    fn pass(&mut self, from: (InstanceId, u64), to: InstanceId, rights: Rights) -> (u64, u64) {
        let word = self.offer(from, to, rights).unwrap();
        (word, self.take(from.0, word, to).unwrap())
    }

    fn revoke(&mut self, granter: InstanceId, word: u64) -> Result<(), Error> {
        self.manager.revoke_grant(&self.machine, client(granter), word)
    }

    fn give_up(&mut self, holder: InstanceId, first: u64) {
        self.manager.close(&self.machine, client(holder), first).unwrap();
    }

    fn leads(&self, holder: InstanceId, first: u64) -> Option<u64> {
        Some(self.machine.meaning(holder, first as usize)?.constant)
    }

    fn grants(&mut self) -> &Grants {
        self.manager.maker().grants()
    }

    fn borne(&mut self) -> [usize; 3] {
        [CLIENT, SECOND, OTHER].map(|client| self.grants().borne(client))
    }

    fn words(&self, word: u64) -> [u64; 2] {
        let words = self.machine.limits((word & 0xffff) as usize).unwrap();
        words.each_ref().map(|word| word.load(std::sync::atomic::Ordering::Relaxed) as u64)
    }

    /// So many calls are made of a grant, as its portals do.
    fn call(&self, word: u64, calls: i64) {
        let words = self.machine.limits((word & 0xffff) as usize).unwrap();
        words[0].fetch_sub(calls, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn a_grant_is_accepted_once_by_its_receiver_as_its_granters() {
    let mut world = world();
    let first = world.object(CLIENT, 7);
    let word = world.offer((CLIENT, first), SECOND, ALL).unwrap();
    let refused = [
        // Forged, of another time, of another place.
        (CLIENT, word + 1, SECOND),
        (CLIENT, word + (1 << 16), SECOND),
        (CLIENT, word & 0xffff, SECOND),
        (CLIENT, 0, SECOND),
        (CLIENT, u64::MAX, SECOND),
        // Another receiver, the granter itself.
        (CLIENT, word, OTHER),
        (CLIENT, word, SERVER),
        (CLIENT, word, CLIENT),
        // Said to be another's.
        (OTHER, word, SECOND),
        (SERVER, word, SECOND),
    ];
    for (from, word, to) in refused {
        assert_eq!(world.take(from, word, to), Err(Error::NotFound), "{from} {word:#x} {to}");
    }
    let held = world.take(CLIENT, word, SECOND).unwrap();
    let expected = Some(Meaning { server: SERVER, entry: entry(SERVER, NUMBERS), constant: 7 });
    assert_eq!(world.machine.meaning(SECOND, held as usize), expected);
    assert_eq!(world.take(CLIENT, word, SECOND), Err(Error::NotFound), "a second time");
    for other in [SECOND, OTHER, SERVER] {
        assert_eq!(world.revoke(other, word), Err(Error::NotFound));
    }
    assert_eq!(world.revoke(CLIENT, word), Ok(()));
    assert_eq!(world.leads(SECOND, held), None);
    assert_eq!(world.take(CLIENT, word, SECOND), Err(Error::NotFound), "it was taken back");
    assert_eq!(world.revoke(CLIENT, word), Err(Error::NotFound));
    assert_eq!(world.leads(CLIENT, first), Some(7), "its granter has it still");
    // The index is the receiver's until it gives it up.
    let other = world.object(SECOND, 8);
    assert_ne!(other, held);
    world.give_up(SECOND, held);
    assert_eq!(world.object(SECOND, 9), held);
}

#[test]
fn what_cannot_be_granted() {
    let mut world = world();
    let first = world.object(CLIENT, 7);
    let reserved = world.reserve(CLIENT, SERVER, b"Numbers", b"cii ").unwrap() & 0xffff;
    let import = import_of(OTHER);
    let mut offer = |first, to, rights| world.offer((CLIENT, first), to, rights);
    for nothing in [reserved, import, 400, u64::MAX] {
        assert_eq!(offer(nothing, SECOND, ALL), Err(Error::NotFound));
    }
    // To itself, to who serves it, to nobody.
    assert_eq!(offer(first, CLIENT, ALL), Err(Error::NotAllowed));
    assert_eq!(offer(first, SERVER, ALL), Err(Error::NotAllowed));
    assert_eq!(offer(first, InstanceId(99), ALL), Err(Error::BadArgument));
    // Nothing of it.
    for methods in [0, 2, 1 << 31] {
        let rights = Rights { methods, ..ALL };
        assert_eq!(offer(first, SECOND, rights), Err(Error::BadArgument));
    }
    world.machine.set_alive(SECOND, false);
    assert_eq!(world.offer((CLIENT, first), SECOND, ALL), Err(Error::Dead));
    world.machine.set_alive(SECOND, true);
    // What ended, and what another holds.
    world.manager.end_object(&world.machine, client(SERVER), b"Numbers", 7).unwrap();
    assert_eq!(world.offer((CLIENT, first), SECOND, ALL), Err(Error::NotFound));
    assert_eq!(world.offer((SECOND, first), OTHER, ALL), Err(Error::NotFound));
    assert_eq!(world.borne(), [0; 3]);
}

#[test]
fn a_receiver_knows_the_interface() {
    let mut world = world();
    let first = world.object(CLIENT, 7);
    let word = world.offer((CLIENT, first), SECOND, ALL).unwrap();
    for (version, signature) in [(VERSION + 1, &b"cii "[..]), (VERSION, b"cr "), (0, b"ci ")] {
        let known = Known { version, signature };
        let from = Peer::Instance(CLIENT);
        let taken = world.manager.accept(&world.machine, client(SECOND), from, word, known);
        assert_eq!(taken, Err(Error::VersionMismatch));
    }
    let known = Known { version: VERSION, signature: b"cii " };
    let from = Peer::Instance(CLIENT);
    world.manager.accept(&world.machine, client(SECOND), from, word, known).unwrap();
}

#[test]
fn the_other_end_is_who_a_portal_leads_to() {
    let mut world = world();
    // The client calls OTHER, which opened nothing; OTHER hands something out that it holds.
    let word = world.reserve(OTHER, OTHER, b"Numbers", b"cii ");
    assert!(word.is_err(), "nobody calls itself");
    let first = world.object(SECOND, 5);
    let to = Peer::Behind(import_of(OTHER) as u32);
    let granted = world.manager.grant(&world.machine, client(SECOND), first, to, ALL).unwrap();
    let held = world.take(SECOND, granted, OTHER).unwrap();
    assert_eq!(world.leads(OTHER, held), Some(5));
    let nowhere = Peer::Behind(450);
    let granted = world.manager.grant(&world.machine, client(SECOND), first, nowhere, ALL);
    assert_eq!(granted, Err(Error::NoPortal));
    // Back to a client that calls it: that client says by its portal who gave it.
    let (word, _) = (world.offer((SECOND, first), CLIENT, ALL).unwrap(), ());
    let behind = Peer::Behind(import_of(OTHER) as u32);
    let taken = world.manager.accept(&world.machine, client(CLIENT), behind, word, ANY);
    assert_eq!(taken, Err(Error::NotFound), "it was not that server");
}

#[test]
fn nobody_gets_more_methods_than_were_given() {
    let mut world = world();
    let first = world.service(CLIENT);
    let one = Rights { methods: 0b01, passes: 3, ..ALL };
    let (_, held) = world.pass((CLIENT, first), SECOND, one);
    let meaning = |world: &World, holder, index: u64| world.machine.meaning(holder, index as usize);
    assert_eq!(meaning(&world, SECOND, held), meaning(&world, CLIENT, first));
    assert_eq!(meaning(&world, SECOND, held + 1), None);
    // All that there are, of what it has.
    let (_, again) = world.pass((SECOND, held), OTHER, passed_on(1));
    assert_eq!(meaning(&world, OTHER, again), meaning(&world, CLIENT, first));
    assert_eq!(meaning(&world, OTHER, again + 1), None);
    let other = Rights { methods: 0b10, ..ALL };
    assert_eq!(world.offer((OTHER, again), CLIENT, other), Err(Error::BadArgument));
    // The one that is left out is the client's index all the same, and nobody else's.
    let next = world.service(SECOND);
    assert_eq!(next, held + 2);
}

#[test]
fn what_may_not_be_passed_on_is_not() {
    let mut world = world();
    let first = world.object(CLIENT, 7);
    let (_, held) = world.pass((CLIENT, first), SECOND, ALL);
    assert_eq!(world.offer((SECOND, held), OTHER, ALL), Err(Error::NotAllowed));
    // Twice in all, whoever does.
    let (top, held) = world.pass((CLIENT, first), SECOND, passed_on(2));
    assert_eq!(world.borne(), [1 + 3, 0, 0], "who granted the first bears all");
    assert_eq!(world.offer((SECOND, held), OTHER, passed_on(2)), Err(Error::Exhausted));
    let (below, again) = world.pass((SECOND, held), OTHER, passed_on(1));
    assert_eq!(world.offer((SECOND, held), OTHER, ALL), Err(Error::NotAllowed));
    let (last, end) = world.pass((OTHER, again), CLIENT, ALL);
    assert_eq!(world.offer((CLIENT, end), SECOND, ALL), Err(Error::NotAllowed));
    assert_eq!(world.offer((OTHER, again), CLIENT, ALL), Err(Error::NotAllowed));
    // What is given back can be passed on again.
    world.give_up(CLIENT, end);
    assert_eq!(world.revoke(OTHER, last), Err(Error::NotFound));
    world.pass((OTHER, again), CLIENT, ALL);
    world.revoke(SECOND, below).unwrap();
    world.pass((SECOND, held), OTHER, ALL);
    world.pass((SECOND, held), OTHER, ALL);
    assert_eq!(world.offer((SECOND, held), OTHER, ALL), Err(Error::NotAllowed));
    world.revoke(CLIENT, top).unwrap();
    assert_eq!(world.borne(), [1, 0, 0]);
}

#[test]
fn calls_are_divided_and_times_are_the_earlier() {
    let mut world = world();
    let first = world.object(CLIENT, 7);
    let rights = Rights { uses: 10, until: 500, passes: 8, ..ALL };
    let (top, held) = world.pass((CLIENT, first), SECOND, rights);
    assert_eq!(world.words(top), [10, 500]);
    let code = world.machine.entry(domain_of(SECOND), held as usize);
    let limits_of = limits((top & 0xffff) as usize);
    let literal = |literal: i64| {
        cairn_portal::invocation::Words::load(&world.machine, code.wrapping_add_signed(literal))
    };
    assert_eq!(literal(cairn_portal::literal::LITERAL_LIMITS), Some(limits_of));
    world.call(top, 3);
    let three = Rights { uses: 3, until: 700, ..ALL };
    let (below, _) = world.pass((SECOND, held), OTHER, three);
    assert_eq!((world.words(top), world.words(below)), ([4, 500], [3, 500]));
    assert_eq!(
        world.offer((SECOND, held), OTHER, Rights { uses: 5, ..ALL }),
        Err(Error::Exhausted)
    );
    // All that are left.
    let (rest, _) = world.pass((SECOND, held), OTHER, Rights { until: 400, ..ALL });
    assert_eq!((world.words(top), world.words(rest)), ([0, 500], [4, 400]));
    for uses in [0, 1] {
        assert_eq!(
            world.offer((SECOND, held), OTHER, Rights { uses, ..ALL }),
            Err(Error::Exhausted)
        );
    }
    // What was not used comes back, and no more.
    world.call(below, 2);
    world.revoke(SECOND, below).unwrap();
    assert_eq!(world.words(top), [1, 500]);
    world.revoke(SECOND, rest).unwrap();
    assert_eq!(world.words(top), [5, 500]);
    // A time alone: any number of calls, which never come to an end.
    let (timed, _) = world.pass((CLIENT, first), SECOND, Rights { until: 9, ..ALL });
    assert_eq!(world.words(timed), [UNLIMITED, 9]);
}

/// A more urgent thread of the receiver calls in the last instant: that call is none of those that come back.
#[test]
fn a_call_while_a_grant_ends_counts() {
    type End = fn(&mut World, u64, u64);
    let ends: [End; 3] = [
        |world, below, _| world.revoke(SECOND, below).unwrap(),
        |world, _, held| world.give_up(OTHER, held),
        |world, _, _| world.die(OTHER),
    ];
    for end in ends {
        let mut world = world();
        let first = world.object(CLIENT, 7);
        let rights = Rights { uses: 10, passes: 1, ..ALL };
        let (top, held) = world.pass((CLIENT, first), SECOND, rights);
        let (below, last) = world.pass((SECOND, held), OTHER, Rights { uses: 4, ..ALL });
        world.machine.caller.set(Some((below & 0xffff) as usize));
        end(&mut world, below, last);
        assert_eq!(world.words(top)[0], 9);
    }
}

/// Its code looks at nothing, and is what any other block has.
#[test]
fn a_grant_without_limits_has_plain_portals() {
    let mut world = world();
    let first = world.object(CLIENT, 7);
    let (_, plain) = world.pass((CLIENT, first), OTHER, ALL);
    let (_, limited) = world.pass((CLIENT, first), OTHER, Rights { uses: 1, ..ALL });
    let (_, plain_again) = world.pass((CLIENT, first), OTHER, passed_on(1));
    let held = world.object(OTHER, 9);
    let words = |index: u64| {
        let code = world.machine.entry(domain_of(OTHER), index as usize);
        world.machine.words(code, 20)
    };
    assert_eq!(words(plain), words(held));
    assert_eq!(words(plain), words(plain_again));
    assert_ne!(words(limited), words(held));
}

#[test]
fn what_ends_ends_with_all_that_came_of_it() {
    type End = fn(&mut World, u64, u64);
    let ends: [(&str, End); 5] = [
        ("revoked", |world, _, top| world.revoke(CLIENT, top).unwrap()),
        ("closed by its granter", |world, first, _| world.give_up(CLIENT, first)),
        ("ended by its server", |world, _, _| {
            let ended = world.manager.end_object(&world.machine, client(SERVER), b"Numbers", 7);
            assert!(ended.unwrap() > 0);
        }),
        ("its granter died", |world, _, _| world.die(CLIENT)),
        ("its server died", |world, _, _| world.die(SERVER)),
    ];
    for (what, end) in ends {
        let mut world = world();
        let before = (world.free(), world.borne());
        let first = world.object(CLIENT, 7);
        let (top, held) = world.pass((CLIENT, first), SECOND, passed_on(20));
        let mut all = vec![(SECOND, held)];
        let mut words = vec![top];
        // Three below it, a chain below the last, offers at its end.
        let mut last = (SECOND, held);
        for depth in 0..4 {
            let to = if last.0 == SECOND { OTHER } else { SECOND };
            for _ in 0..2 {
                let (word, held) = world.pass(last, to, passed_on(0));
                all.push((to, held));
                words.push(word);
            }
            if depth < 3 {
                let left = 12 - depth * 4;
                let (word, held) = world.pass(last, to, passed_on(left));
                all.push((to, held));
                words.push(word);
                last = (to, held);
            }
        }
        let offered =
            world.offer(last, if last.0 == SECOND { OTHER } else { SECOND }, ALL).unwrap();
        assert!(all.iter().all(|(holder, index)| world.leads(*holder, *index) == Some(7)));
        end(&mut world, first, top);
        for (holder, index) in &all {
            assert_eq!(world.leads(*holder, *index), None, "{what}");
        }
        assert_eq!(world.borne(), [0; 3], "{what}");
        for (word, (holder, _)) in words.iter().zip(&all) {
            for other in [CLIENT, SECOND, OTHER] {
                assert_eq!(world.take(other, *word, *holder), Err(Error::NotFound), "{what}");
            }
        }
        for to in [SECOND, OTHER] {
            assert_eq!(world.take(last.0, offered, to), Err(Error::NotFound), "{what}");
        }
        for (holder, index) in all {
            world.give_up(holder, index);
        }
        // It is closed already in some of them.
        let _ = world.manager.close(&world.machine, client(CLIENT), first);
        assert_eq!((world.free(), world.borne()), before, "{what}");
    }
}

#[test]
fn nothing_is_left_of_a_receiver_and_its_successor_gets_nothing() {
    let mut world = world();
    let first = world.object(CLIENT, 7);
    let (_, held) = world.pass((CLIENT, first), SECOND, passed_on(4));
    let (_, below) = world.pass((SECOND, held), OTHER, ALL);
    let offers: Vec<u64> =
        (0..20).map(|_| world.offer((CLIENT, first), SECOND, ALL).unwrap()).collect();
    let to_other = world.offer((CLIENT, first), OTHER, ALL).unwrap();
    world.machine.set_alive(SECOND, false);
    assert_eq!(world.take(CLIENT, offers[3], SECOND), Err(Error::Dead));
    world.die(SECOND);
    world.machine.set_alive(SECOND, true);
    assert_eq!(world.leads(OTHER, below), None);
    for word in offers {
        assert_eq!(world.take(CLIENT, word, SECOND), Err(Error::NotFound));
    }
    assert_eq!(world.borne(), [1, 0, 0], "what is offered to another stays");
    world.take(CLIENT, to_other, OTHER).unwrap();
    assert_eq!(world.leads(CLIENT, first), Some(7));
}

/// A receiver that is more urgent than the steps of its granter's death.
#[test]
fn nobody_passes_on_what_is_being_ended() {
    let mut world = world();
    let first = world.object(CLIENT, 7);
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push((SECOND, world.pass((CLIENT, first), SECOND, passed_on(30)).1));
    }
    let offered = world.offer((CLIENT, first), OTHER, passed_on(8)).unwrap();
    for place in 0..30 {
        let from = held[place % 6];
        let to = if from.0 == SECOND { OTHER } else { SECOND };
        held.push((to, world.pass(from, to, passed_on(if place < 3 { 5 } else { 0 })).1));
    }
    world.machine.set_alive(CLIENT, false);
    assert_eq!(world.take(CLIENT, offered, OTHER), Err(Error::Dead));
    let mut steps = 0;
    while world.manager.instance_died(&world.machine, CLIENT).unwrap() != 0 {
        steps += 1;
        assert!(steps < 40, "the dead granter never comes to its end");
        for (holder, index) in held.clone() {
            let to = if holder == SECOND { OTHER } else { SECOND };
            if let Ok(word) = world.offer((holder, index), to, ALL) {
                held.push((to, world.take(holder, word, to).unwrap()));
            }
        }
    }
    assert!(held.iter().all(|(holder, index)| world.leads(*holder, *index).is_none()));
    assert_eq!(world.borne(), [0; 3]);
}

#[test]
fn who_floods_takes_nothing_from_others() {
    let mut world = world();
    let first = world.object(CLIENT, 7);
    let other = world.object(SECOND, 8);
    let part = world.manager.maker().pools().grants();
    assert!(part <= GRANTS_OF_CLIENT);
    let mut words = Vec::new();
    let error = loop {
        match world.offer((CLIENT, first), [SECOND, OTHER][words.len() % 2], ALL) {
            Ok(word) => words.push(word),
            Err(error) => break error,
        }
    };
    assert_eq!((error, words.len()), (Error::Exhausted, part));
    let refused = world.offer((CLIENT, first), SECOND, passed_on(u16::MAX));
    assert_eq!(refused, Err(Error::Exhausted));
    for to in [CLIENT, OTHER] {
        for _ in 0..part / 2 {
            world.offer((SECOND, other), to, ALL).unwrap();
        }
    }
    // The receivers took nothing of it; the words are the ones that there were.
    assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), part);
    world.give_up(CLIENT, first);
    assert_eq!(world.borne(), [0, part / 2 * 2, 0]);
}
