//! Who stands before a pager is held: page faults that go through it wait, and enter its next content where that has registered.

use super::super::faults::paged_with;
use super::super::wrapped::{ALL, BETWEEN, ENTRANCE, RULE};
use super::*;

const NAMED: (InstanceId, &str) = (BETWEEN, "other.interposer");
const AFTER: u64 = 0x700;
/// Ranges of the client whose faults go through it.
const RANGES: [usize; 2] = [0, 1];

/// The client calls the interposer on no shared stack here: that cannot be held.
fn paged() -> World {
    paged_with(|machine| {
        let mut portals = machine.layout.portals.to_vec();
        let serves = |export: u32| machine.layout.exports[export as usize].instance == BETWEEN;
        let shared = portals.iter_mut().find(|one| one.client == CLIENT && serves(one.export));
        shared.unwrap().code = machine.layout.header.no_portal;
        machine.layout.portals = leak(portals);
    })
}

impl World {
    /// Whether faults of these ranges wait for who stands before their pager.
    fn faults_wait_before(&self, waits: bool) {
        for number in RANGES {
            let code = self.of_range(number);
            let queue = self.literal_of(code, LITERAL_QUEUE);
            let own = self.literal_of(self.literal_of(code, LITERAL_RETURN), LITERAL_QUEUE);
            assert_ne!(own, stack_queue(HELD_QUEUE));
            assert_eq!(queue, if waits { stack_queue(HELD_QUEUE) } else { own }, "{number}");
        }
    }
}

#[test]
fn faults_enter_the_next_content_of_who_stands_before_their_pager() {
    let mut world = paged();
    world.wrap(RULE, false).unwrap();
    let first = world.of_range(0);
    let World { machine, manager } = &mut world;
    let all = manager.add_rule(machine, Rule::between(ALL.0, ALL.1, ALL.2)).unwrap();
    world.hold(BETWEEN).unwrap();
    world.faults_wait_before(true);
    world.exchange(BETWEEN);
    // What comes by such a rule meanwhile waits as well.
    let World { machine, manager } = &mut world;
    assert!(manager.wrap_client(machine, &all, CLIENT).unwrap() >= 2);
    assert_ne!(world.of_range(0), first);
    world.faults_wait_before(true);
    assert_eq!(world.manager.enter_between(BETWEEN), Err(Error::NotReady), "it has not registered");
    world.register_entrance(NAMED, AFTER);
    assert_eq!(world.manager.enter_between(BETWEEN), Ok(()));
    world.release(BETWEEN).unwrap();
    world.faults_wait_before(false);
    RANGES.into_iter().for_each(|number| world.assert_behind_at(number, 2, AFTER));
    world.unwrap(ALL).unwrap();
    assert_eq!(world.of_range(0), first, "the chain is as it was");
    RANGES.into_iter().for_each(|number| world.assert_behind_at(number, 1, AFTER));
}

/// What comes to stand around it later, or is left of several, leads to where its content is entered now.
#[test]
fn what_is_made_later_leads_to_the_next_content() {
    let mut world = paged();
    let everything = (CLIENT, NO_INSTANCE, BETWEEN);
    world.wrap(RULE, false).unwrap();
    world.hold(BETWEEN).unwrap();
    world.exchange(BETWEEN);
    world.register_entrance(NAMED, AFTER);
    world.manager.enter_between(BETWEEN).unwrap();
    world.release(BETWEEN).unwrap();
    world.wrap(ALL, false).unwrap();
    world.wrap(everything, false).unwrap();
    world.assert_behind_at(0, 3, AFTER);
    let import = import_of(SERVER) as usize;
    for depth in [3, 2] {
        let mut meaning = world.machine.meaning(CLIENT, import).unwrap();
        for _ in 0..depth {
            assert_eq!((meaning.server, meaning.entry), (BETWEEN, entry(BETWEEN, AFTER)));
            let inner = (meaning.constant & 0xffff) as usize;
            meaning = world.machine.meaning(BETWEEN, inner).unwrap();
        }
        assert_eq!(meaning.server, SERVER);
        // The one in the middle goes.
        assert_eq!(world.unwrap(ALL).is_ok(), depth == 3);
        world.assert_behind_at(0, 2, AFTER);
    }
}

/// Whoever dies, no fault enters the next content where the one before had its entrance.
#[test]
fn faults_wait_for_the_entrance_when_nobody_holds_any_more() {
    let mut world = paged();
    world.wrap(RULE, false).unwrap();
    world.hold(BETWEEN).unwrap();
    world.exchange(BETWEEN);
    world.machine.set_alive(HOLDER, false);
    world.die(HOLDER);
    world.faults_wait_before(true);
    world.assert_behind_at(0, 1, ENTRANCE);
    world.register_entrance(NAMED, AFTER);
    let World { machine, manager } = &mut world;
    while manager.go_on_step(machine, BETWEEN).unwrap() {}
    world.faults_wait_before(false);
    world.assert_behind_at(0, 1, AFTER);
    // With `falls_back` its clients have the pager again.
    let mut world = paged();
    let pager = world.of_range(0);
    world.wrap(RULE, true).unwrap();
    world.hold(BETWEEN).unwrap();
    world.machine.set_alive(BETWEEN, false);
    world.die(BETWEEN);
    assert_eq!(world.of_range(0), pager);
    world.faults_wait_before(false);
}

#[test]
fn who_replaces_one_before_its_own_faults_does_not_hold_it() {
    let mut world = paged();
    // It misses no pages of the interposer's.
    let mut ranges = world.machine.layout.ranges.to_vec();
    ranges[2].pager = SERVER;
    world.machine.layout.ranges = leak(ranges);
    world.wrap(RULE, false).unwrap();
    let World { machine, manager } = &mut world;
    let begins = manager.begin_hold(machine, client(CLIENT), BETWEEN, Purpose::Successor);
    assert_eq!(begins, Err(Error::NotSupported));
    // Nor comes it to stand there meanwhile.
    world.unwrap(RULE).unwrap();
    let World { machine, manager } = &mut world;
    manager.begin_hold(machine, client(CLIENT), BETWEEN, Purpose::Successor).unwrap();
    assert_eq!(world.wrap(RULE, false), Err(Error::Busy));
}
