//! Clients that have fewer methods of the held.

use super::*;

/// What leads nowhere is the same for all, and no portal to anybody.
#[test]
fn who_serves_less_to_some_is_held_as_well() {
    let mut world = world();
    let no_portal = world.machine.layout().header.no_portal;
    let words = |world: &World| world.machine.words(no_portal - LITERALS_SIZE as u64, 40);
    let before = words(&world);
    let first = world.opened(CLIENT) as u64;
    let give = |world: &mut World, to: InstanceId, methods: u32| {
        let World { machine, manager } = world;
        let rights = Rights { methods, ..ALL };
        let receiver = Peer::Instance(to);
        let word = manager.grant(machine, client(CLIENT), first, receiver, rights).unwrap();
        manager.accept(machine, client(to), Peer::Instance(CLIENT), word, ANY).unwrap() as usize
    };
    let weak = give(&mut world, SECOND, 0b01);
    for is_wrapped in [false, true] {
        if is_wrapped {
            world.put_between();
        }
        world.hold(SERVER).unwrap();
        let meanwhile = give(&mut world, OTHER, 0b10);
        world.relink(SERVER).unwrap();
        world.check(SERVER, true);
        world.release(SERVER).unwrap();
        world.check(SERVER, false);
        assert_eq!(words(&world), before);
        let leads = |of, index| world.machine.meaning(of, index).is_some();
        assert_eq!((leads(SECOND, weak), leads(SECOND, weak + 1)), (true, false));
        assert_eq!((leads(OTHER, meanwhile), leads(OTHER, meanwhile + 1)), (false, true));
    }
}
