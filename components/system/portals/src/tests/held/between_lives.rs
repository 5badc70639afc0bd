//! Between the life of who is held and the next one, clients get what they would get in either of them.

use super::super::wrapped::inner_of;
use super::*;

impl World {
    fn begin_next_life(&mut self) {
        self.relink(SERVER).unwrap();
        self.machine.set_alive(SERVER, true);
        self.manager.instance_starts(SERVER).unwrap();
        self.release(SERVER).unwrap();
        self.check(SERVER, false);
    }
}

#[test]
fn what_is_opened_between_two_lives_waits_for_the_next() {
    for leaves_first in [false, true] {
        let mut world = world();
        let first = world.opened(CLIENT);
        let object = world.numbers(CLIENT, 7);
        world.hold(SERVER).unwrap();
        let before = world.check(SERVER, true);
        world.machine.set_alive(SERVER, false);
        if leaves_first {
            world.leave(SERVER).unwrap();
        }
        let opened = world.opened(CLIENT);
        let reserved = world.reserve(CLIENT, SERVER, b"Numbers", b"cii ").unwrap();
        // A service and an object are passed on.
        for index in [first, object] {
            let World { machine, manager } = &mut world;
            let to = Peer::Instance(OTHER);
            let word = manager.grant(machine, client(CLIENT), index as u64, to, ALL).unwrap();
            let from = Peer::Instance(CLIENT);
            manager.accept(machine, client(OTHER), from, word, ANY).unwrap();
        }
        assert!(world.check(SERVER, true) > before);
        if !leaves_first {
            world.leave(SERVER).unwrap();
        }
        world.begin_next_life();
        assert!(world.machine.meaning(CLIENT, opened).is_some());
        world.fill(SERVER, (CLIENT, reserved), b"Numbers", 8).unwrap();
        assert_eq!(world.machine.meaning(CLIENT, reserved as u16 as usize).unwrap().server, SERVER);
    }
}

/// Who would not wait finds nobody.
#[test]
fn who_does_not_wait_gets_nothing_between_two_lives() {
    let mut world = world();
    world.opened(CLIENT);
    world.hold(SERVER).unwrap();
    world.machine.set_alive(SERVER, false);
    let World { machine, manager } = &mut world;
    assert_eq!(manager.open_export(machine, client(HOLDER), SERVICE, ANY), Err(Error::Dead));
}

/// What a life registered ends with it, and nobody opens it for the next one.
#[test]
fn what_a_life_registered_is_not_opened_behind_it() {
    let mut world = world();
    world.opened_late();
    world.hold(SERVER).unwrap();
    world.machine.set_alive(SERVER, false);
    let World { machine, manager } = &mut world;
    let late = manager.open_registration(machine, client(CLIENT), REGISTERED, ANY);
    assert_eq!(late, Err(Error::Dead));
    world.leave(SERVER).unwrap();
    world.begin_next_life();
}

/// One that is held and dies of something else leaves nothing, and nothing is reserved for its next life while it ends.
#[test]
fn a_life_that_was_to_be_replaced_and_died_leaves_nothing() {
    let mut world = world();
    world.opened(CLIENT);
    for control in 0..20 {
        world.numbers(CLIENT, control);
    }
    world.hold(SERVER).unwrap();
    world.machine.set_alive(SERVER, false);
    let before = world.reserve(CLIENT, SERVER, b"Numbers", b"cii ").unwrap();
    let World { machine, manager } = &mut world;
    assert_ne!(manager.instance_died(machine, SERVER).unwrap(), 0, "more than one step");
    assert_eq!(world.reserve(CLIENT, SERVER, b"Numbers", b"cii "), Err(Error::Dead));
    world.die(SERVER);
    assert_eq!(world.reserve(CLIENT, SERVER, b"Numbers", b"cii "), Err(Error::Dead));
    world.machine.set_alive(SERVER, true);
    let filled = world.fill(SERVER, (CLIENT, before), b"Numbers", 8);
    assert_eq!(filled, Err(Error::NotFound), "it was of the former life");
    world.release(SERVER).unwrap();
    world.check(SERVER, false);
}

/// A call that is on its way through an interposer gets to the server's next life, though the wrap ends between the two.
#[test]
fn a_wrap_that_ends_between_two_lives_keeps_what_is_on_its_way() {
    for dies in [false, true] {
        let mut world = world();
        world.put_between();
        let import = import_of(SERVER) as usize;
        let inner = inner_of(&world, CLIENT, import);
        world.machine.enter(CLIENT, import);
        world.hold(SERVER).unwrap();
        world.machine.set_alive(SERVER, false);
        if dies {
            let World { machine, manager } = &mut world;
            manager.instance_died(machine, SERVER).unwrap();
        } else {
            world.leave(SERVER).unwrap();
        }
        let World { machine, manager } = &mut world;
        while manager.unwrap_step(machine, &RULE).unwrap() != 0 {}
        let leads = world.machine.meaning(BETWEEN, inner).map(|meaning| meaning.server);
        assert_eq!(leads, (!dies).then_some(SERVER));
        if !dies {
            world.begin_next_life();
        }
    }
}

/// The other content could not take its place: what was opened while the record said that it had leads into the content that has it.
#[test]
fn what_was_opened_for_content_that_goes_again_leads_to_what_stays() {
    for after_refusal in [false, true] {
        let mut world = world();
        let first = world.opened(CLIENT);
        let holders = world.opened(HOLDER);
        world.hold(SERVER).unwrap();
        world.machine.set_alive(SERVER, false);
        world.leave(SERVER).unwrap();
        world.machine.enter(HOLDER, holders);
        world.move_entries(SERVER, 0x40);
        let before = (!after_refusal).then(|| world.opened(CLIENT));
        assert_eq!(world.relink(SERVER), Err(Error::Busy));
        let opened = before.unwrap_or_else(|| world.opened(CLIENT));
        world.move_entries(SERVER, 0x40u64.wrapping_neg());
        world.machine.set_alive(SERVER, true);
        world.manager.instance_starts(SERVER).unwrap();
        world.release(SERVER).unwrap();
        for index in [first, opened] {
            let led = world.literal(CLIENT, index, LITERAL_ENTRY);
            assert_eq!(led, world.machine.meaning(CLIENT, first).unwrap().entry, "{index}");
            assert_eq!(led, entry(SERVER, 4));
        }
    }
}
