//! Who stands between others is held: a client's portals to it wait, also those that are made meanwhile, and enter its next content where that
//! has registered.

use super::*;

const GUARD: InstanceId = CLIENT;
const NAMED: (InstanceId, &str) = (GUARD, "client.interposer");
const CALLER: InstanceId = SECOND;
const LOADER: InstanceId = OTHER;
const BEFORE: u64 = 99;
const AFTER: u64 = 0x700;

impl World {
    /// One has registered, and stands between a client and the server; an index of that client's.
    fn guarded(&mut self) -> usize {
        let first = self.opened(CALLER);
        self.register_entrance(NAMED, BEFORE);
        let World { machine, manager } = self;
        let rule = manager.add_rule(machine, Rule::between(CALLER, SERVER, GUARD)).unwrap();
        assert!(manager.wrap_client(machine, &rule, CALLER).unwrap() > 0);
        first
    }

    fn hold_guard(&mut self) -> Result<(), Error> {
        let World { machine, manager } = self;
        manager.begin_hold(machine, client(LOADER), GUARD, Purpose::Successor)?;
        while !manager.hold_step(machine, LOADER, GUARD)? {}
        Ok(())
    }

    fn exchange_guard(&mut self) {
        self.exchange(GUARD);
    }

    fn release_guard(&mut self) -> Result<(), Error> {
        let World { machine, manager } = self;
        while !manager.release_step(machine, LOADER, GUARD)? {}
        Ok(())
    }

    fn go_on(&mut self) {
        let World { machine, manager } = self;
        while manager.go_on_step(machine, GUARD).unwrap() {}
    }

    /// Where calls by these indexes enter the guard, and whether they wait.
    fn enters(&self, indexes: &[usize], at: u64, waits: bool) {
        for index in indexes {
            let queue = self.literal(CALLER, *index, LITERAL_QUEUE);
            assert_eq!(queue == stack_queue(HELD_QUEUE), waits);
            assert_eq!(self.literal(CALLER, *index, LITERAL_ENTRY), entry(GUARD, at));
            let stub = self.manager.instances().get(GUARD).unwrap().stub;
            assert_eq!(self.literal(CALLER, *index, LITERAL_STUB), stub);
        }
    }
}

#[test]
fn an_interposer_is_entered_where_its_next_content_says() {
    let mut world = world();
    let first = world.guarded();
    let World { machine, manager } = &mut world;
    let begins = manager.begin_hold(machine, client(CALLER), GUARD, Purpose::Successor);
    assert_eq!(begins, Err(Error::NotSupported), "the holder calls through it");
    world.hold_guard().unwrap();
    let both = [first, world.opened(CALLER)];
    world.enters(&both, BEFORE, true);
    world.exchange_guard();
    assert_eq!(world.manager.enter_between(GUARD), Err(Error::NotReady), "it has not registered");
    world.enters(&both, BEFORE, true);
    world.register_entrance(NAMED, AFTER);
    assert_eq!(world.manager.enter_between(GUARD), Ok(()));
    let all = [both[0], both[1], world.opened(CALLER)];
    world.release_guard().unwrap();
    world.enters(&all, AFTER, false);
    assert_eq!(world.manager.rules()[0].entry, entry(GUARD, AFTER));
    assert_eq!(world.manager.enter_between(SERVER), Ok(()), "it stands between nobody");
}

#[test]
fn the_former_content_is_entered_where_it_was() {
    let mut world = world();
    let first = world.guarded();
    world.hold_guard().unwrap();
    world.exchange_guard();
    world.register_entrance(NAMED, AFTER);
    world.manager.enter_between(GUARD).unwrap();
    // Something else went wrong.
    world.exchange_guard();
    assert_eq!(world.manager.enter_between(GUARD), Err(Error::NotReady));
    world.register_entrance(NAMED, BEFORE);
    world.manager.enter_between(GUARD).unwrap();
    world.release_guard().unwrap();
    world.enters(&[first], BEFORE, false);
    // Where nothing was exchanged, nothing has to be registered.
    world.hold_guard().unwrap();
    world.release_guard().unwrap();
    world.enters(&[first], BEFORE, false);
}

/// No call enters the next content where the one before had its entrance, whoever dies when.
#[test]
fn calls_wait_for_the_entrance_when_nobody_holds_any_more() {
    for registers_before in [false, true] {
        let mut world = world();
        let first = world.guarded();
        world.hold_guard().unwrap();
        world.exchange_guard();
        if registers_before {
            world.register_entrance(NAMED, AFTER);
        }
        world.machine.set_alive(LOADER, false);
        world.die(LOADER);
        world.machine.set_alive(LOADER, true);
        if !registers_before {
            world.enters(&[first], BEFORE, true);
            assert_eq!(world.machine.released.get(), 0);
            assert_eq!(world.release_guard(), Err(Error::NotFound));
            assert_eq!(world.hold(SERVER), Err(Error::Busy), "one at a time");
            world.register_entrance(NAMED, AFTER);
        }
        world.go_on();
        world.enters(&[first], AFTER, false);
        assert_eq!((world.machine.released.get(), world.manager.maker().held()), (1, None));
    }
}

#[test]
fn who_never_says_where_is_replaced_or_ends() {
    let left = || {
        let mut world = world();
        let first = world.guarded();
        world.hold_guard().unwrap();
        world.exchange_guard();
        // Nor does the content before it.
        world.exchange_guard();
        assert_eq!(world.release_guard(), Ok(()), "it is nobody's");
        world.enters(&[first], BEFORE, true);
        world.machine.waiters.set(1);
        (world, first)
    };
    let (mut world, first) = left();
    world.hold_guard().expect("who waits for it is no hindrance");
    world.exchange_guard();
    world.register_entrance(NAMED, AFTER);
    world.release_guard().unwrap();
    world.enters(&[first], AFTER, false);
    // A life like any other ends in between.
    let (mut world, first) = left();
    world.machine.set_alive(GUARD, false);
    world.die(GUARD);
    world.machine.set_alive(GUARD, true);
    world.enters(&[first], BEFORE, true);
    world.register_entrance(NAMED, AFTER);
    world.go_on();
    world.enters(&[first], AFTER, false);
    // It is taken out, and then there is nothing to be said.
    let (mut world, _) = left();
    let World { machine, manager } = &mut world;
    let rule = Rule::between(CALLER, SERVER, GUARD);
    while manager.unwrap_step(machine, &rule).unwrap() != 0 {}
    world.hold_guard().unwrap();
    world.release_guard().unwrap();
    assert_eq!(world.manager.maker().held(), None);
    // It goes for good.
    let (mut world, _) = left();
    world.machine.set_alive(GUARD, false);
    world.die(GUARD);
    let World { machine, manager } = &mut world;
    let mut next = manager.retire_domain(machine, GUARD, 0).unwrap();
    while next != 0 {
        next = manager.retire_domain(machine, GUARD, next).unwrap();
    }
    assert_eq!((machine.released.get(), manager.maker().held()), (1, None));
}
