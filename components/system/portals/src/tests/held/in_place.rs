//! Instances whose content is exchanged while they live.

use super::*;
use crate::blocks::NO_INSTANCE;
use crate::make::Purpose;
use cairn_abi::domain::{HELD_QUEUE, stack_queue};
use cairn_abi::record::Instance;
use cairn_portal::literal::*;

const HOLDER: InstanceId = SECOND;
/// A successor of the server.
const NEXT: InstanceId = InstanceId(7);
const NEXT_STUB: u64 = 0x7000;
/// How far behind the server's its methods begin.
const BEHIND: u64 = 0x500;

impl World {
    /// A world with a successor of the server, as the memory manager writes it into the record.
    fn with_successor() -> World {
        let mut world = world();
        let layout = &mut world.machine.layout;
        let mut methods = layout.methods.to_vec();
        let mut exports = layout.exports.to_vec();
        for mut export in layout.exports.iter().copied().filter(|one| one.instance == SERVER) {
            let own = layout.methods_of(&export);
            (export.instance, export.first_method) = (NEXT, methods.len() as u32);
            methods.extend(own.iter().map(|one| {
                let mut method = *one;
                method.entry += BEHIND;
                method
            }));
            exports.push(export);
        }
        (layout.methods, layout.exports) = (leak(methods), leak(exports));
        let mut instances = layout.instances.to_vec();
        let server = instances[SERVER.index() - 1];
        instances.push(Instance { number: NEXT, successor_of: SERVER, stub: NEXT_STUB, ..server });
        layout.instances = leak(instances);
        world
    }

    /// What the record says when the state is the successor's.
    fn keep_state(&mut self) {
        let layout = &mut self.machine.layout;
        let mut methods = layout.methods.to_vec();
        for export in layout.exports.iter().filter(|export| export.instance == SERVER) {
            let from = export.first_method as usize;
            let own = &mut methods[from..from + export.method_count as usize];
            own.iter_mut().for_each(|method| method.entry += BEHIND);
        }
        layout.methods = leak(methods);
    }

    fn hold_in_place(&mut self, held: InstanceId) -> Result<(), Error> {
        let World { machine, manager } = self;
        manager.begin_hold(machine, client(HOLDER), held, Purpose::InPlace)?;
        while !manager.hold_step(machine, HOLDER, held)? {}
        Ok(())
    }

    fn literal_at(&self, of: InstanceId, index: usize, literal: i64) -> u64 {
        let code = self.machine.entry(domain_of(of), index);
        cairn_portal::invocation::Words::load(&self.machine, code.wrapping_add_signed(literal))
            .unwrap()
    }

    fn lead(&self, first: usize, to: InstanceId) -> Result<(), Error> {
        self.manager.lead(&self.machine, HOLDER, first as u64, to)
    }
}

#[test]
fn who_ends_the_system_does_not_wait() {
    let mut world = world();
    let [first, essential] = [CLIENT, ESSENTIAL].map(|of| world.opened(of));
    let queue = |world: &World, of, index| world.literal_at(of, index, LITERAL_QUEUE);
    world.hold_in_place(SERVER).unwrap();
    assert_eq!(queue(&world, CLIENT, first), stack_queue(HELD_QUEUE));
    assert_ne!(queue(&world, ESSENTIAL, essential), stack_queue(HELD_QUEUE));
    let later = world.opened(ESSENTIAL);
    assert_ne!(
        queue(&world, ESSENTIAL, later),
        stack_queue(HELD_QUEUE),
        "nor by what it opens then"
    );
    // One of them is inside: it leaves when it has done what it came for.
    let _inside = world.machine.enter(ESSENTIAL, essential);
    assert_eq!(world.manager.relink(&world.machine, SERVER, 0).map(|_| ()), Ok(()));
    assert_eq!(world.manager.is_quiet(&world.machine, SERVER, HOLDER), Ok(false));
}

#[test]
fn the_manager_itself_can_be_held() {
    let mut world = world();
    let World { machine, manager } = &mut world;
    let not = Err(Error::NotSupported);
    for (purpose, result) in [(Purpose::Successor, not), (Purpose::InPlace, Ok(()))] {
        assert_eq!(manager.begin_hold(machine, client(HOLDER), MANAGER, purpose), result);
    }
    let runs = manager.begin_hold(machine, client(HOLDER), SCHEDULER, Purpose::InPlace);
    assert_eq!(runs, Err(Error::NotSupported), "it runs to completion");
}

#[test]
fn one_client_alone_is_led_to_a_successor_and_back() {
    let mut world = World::with_successor();
    let [first, holders] = [CLIENT, HOLDER].map(|of| world.opened(of));
    let meant = |world: &World, of, index| {
        let entry = world.literal_at(of, index, LITERAL_ENTRY);
        (entry, world.literal_at(of, index, LITERAL_STUB))
    };
    let before = (meant(&world, CLIENT, first), meant(&world, HOLDER, holders));
    for (index, to, error) in [
        (holders, OTHER, Error::BadArgument),
        (holders, NO_INSTANCE, Error::BadArgument),
        (holders, InstanceId(200), Error::BadArgument),
        (first + 100, NEXT, Error::NotFound),
    ] {
        assert_eq!(world.lead(index, to), Err(error), "{index} {to}");
    }
    world.lead(holders, NEXT).unwrap();
    let next = (before.1.0 + BEHIND, NEXT_STUB);
    assert_eq!(meant(&world, HOLDER, holders), next);
    assert_eq!(meant(&world, CLIENT, first), before.0);
    world.lead(holders, SERVER).unwrap();
    assert_eq!(meant(&world, HOLDER, holders), before.1);
    // Whoever held it and is led there, too, enters what the record says when it is released.
    world.lead(holders, NEXT).unwrap();
    world.hold_in_place(SERVER).unwrap();
    let World { machine, manager } = &mut world;
    while !manager.release_step(machine, HOLDER, SERVER).unwrap() {}
    assert_eq!(meant(&world, HOLDER, holders), before.1);
}

#[test]
fn the_former_content_stays_until_who_did_not_wait_has_left_it() {
    // Before and behind the step in which portals are led to the other.
    for relinked in [None, Some(1), Some(100)] {
        let mut world = World::with_successor();
        let [first, essential] = [CLIENT, ESSENTIAL].map(|of| world.opened(of));
        let before = world.literal_at(ESSENTIAL, essential, LITERAL_ENTRY);
        world.hold_in_place(SERVER).unwrap();
        let inside = world.machine.enter(ESSENTIAL, essential);
        world.keep_state();
        let mut next = Some(0);
        for _ in 0..relinked.unwrap_or(0) {
            let World { machine, manager } = &mut world;
            next = next.and_then(|place| manager.relink(machine, SERVER, place).unwrap());
        }
        world.machine.set_alive(HOLDER, false);
        world.die(HOLDER);
        assert_eq!(world.literal_at(ESSENTIAL, essential, LITERAL_ENTRY), before + BEHIND);
        let queue = |world: &World| world.literal_at(CLIENT, first, LITERAL_QUEUE);
        assert_eq!(queue(&world), stack_queue(HELD_QUEUE), "they wait: {relinked:?}");
        let retire = |world: &mut World| {
            let World { machine, manager } = world;
            manager.retire_domain(machine, NEXT, 0)
        };
        assert_eq!(retire(&mut world), Err(Error::Busy));
        let World { machine, manager } = &mut world;
        let held = manager.begin_hold(machine, client(CLIENT), SERVER, Purpose::InPlace);
        assert_eq!(held, Err(Error::Busy), "by another");
        world.machine.leave(inside);
        assert_eq!(retire(&mut world), Ok(1));
        while retire(&mut world) == Ok(1) {}
        assert_ne!(queue(&world), stack_queue(HELD_QUEUE));
        assert_eq!(world.machine.released.get(), 1, "who waited goes on");
    }
}

#[test]
fn where_nothing_has_changed_nobody_waits_for_who_is_inside() {
    let mut world = World::with_successor();
    let [first, essential, holders] = [CLIENT, ESSENTIAL, HOLDER].map(|of| world.opened(of));
    world.hold_in_place(SERVER).unwrap();
    world.lead(holders, NEXT).unwrap();
    let _inside = world.machine.enter(ESSENTIAL, essential);
    world.machine.set_alive(HOLDER, false);
    world.die(HOLDER);
    assert_ne!(world.literal_at(CLIENT, first, LITERAL_QUEUE), stack_queue(HELD_QUEUE));
    assert_eq!(world.machine.released.get(), 1);
}

#[test]
fn the_holders_death_leads_all_where_the_record_says() {
    let mut world = World::with_successor();
    let [first, holders] = [CLIENT, HOLDER].map(|of| world.opened(of));
    let before = world.literal_at(CLIENT, first, LITERAL_ENTRY);
    world.hold_in_place(SERVER).unwrap();
    world.lead(holders, NEXT).unwrap();
    world.keep_state();
    world.machine.set_alive(HOLDER, false);
    world.die(HOLDER);
    assert_eq!(world.literal_at(CLIENT, first, LITERAL_ENTRY), before + BEHIND);
    assert_ne!(world.literal_at(CLIENT, first, LITERAL_QUEUE), stack_queue(HELD_QUEUE));
    assert_eq!(world.machine.released.get(), 1);
}

/// Who holds itself: a world with a successor of the server, which serves `InPlace`.
fn with_successor_of_itself() -> World {
    let mut world = World::with_successor();
    let layout = &mut world.machine.layout;
    let mut exports = layout.exports.to_vec();
    for export in exports.iter_mut().filter(|one| [SERVER, NEXT].contains(&one.instance)) {
        if export.name == layout.exports[SERVICE].name {
            export.interface = cairn_abi::descriptor::name("InPlace");
        }
    }
    layout.exports = leak(exports);
    world
}

fn hold_itself(world: &mut World) {
    let World { machine, manager } = world;
    let refused = manager.begin_hold(machine, client(SERVER), SERVER, Purpose::Successor);
    assert_eq!(refused, Err(Error::BadArgument), "its life would end");
    manager.begin_hold(machine, client(SERVER), SERVER, Purpose::InPlace).unwrap();
    while !manager.hold_step(machine, SERVER, SERVER).unwrap() {}
}

#[test]
fn nobody_opens_a_portal_to_itself_but_to_ask_another_content() {
    let mut world = World::with_successor();
    let refused = world.manager.open_export(&world.machine, client(SERVER), SERVICE, ANY);
    assert_eq!(refused, Err(Error::NotAllowed));
    let mut world = with_successor_of_itself();
    let [first, own] = [CLIENT, SERVER].map(|of| world.opened(of));
    let meant = |world: &World, of, index| world.literal_at(of, index, LITERAL_ENTRY);
    let (before, owns) = (meant(&world, CLIENT, first), meant(&world, SERVER, own));
    world.manager.lead(&world.machine, SERVER, own as u64, NEXT).unwrap();
    assert_eq!(meant(&world, SERVER, own), owns + BEHIND);
    assert_eq!(world.literal_at(SERVER, own, LITERAL_STUB), NEXT_STUB);
    assert_eq!(meant(&world, CLIENT, first), before);
    world.manager.lead(&world.machine, SERVER, own as u64, SERVER).unwrap();
    assert_eq!(meant(&world, SERVER, own), owns);
}

#[test]
fn who_holds_itself_goes_on_and_is_led_where_the_record_says() {
    let mut world = with_successor_of_itself();
    let [first, own] = [CLIENT, SERVER].map(|of| world.opened(of));
    let queue = |world: &World, of, index| world.literal_at(of, index, LITERAL_QUEUE);
    let (before, owns) =
        (world.literal_at(CLIENT, first, LITERAL_ENTRY), queue(&world, SERVER, own));
    hold_itself(&mut world);
    assert_eq!(queue(&world, CLIENT, first), stack_queue(HELD_QUEUE));
    assert_eq!(queue(&world, SERVER, own), owns, "its own calls go on");
    // It asks another content, and waits for that.
    let _inside = world.machine.enter(SERVER, own);
    assert_eq!(world.manager.is_quiet(&world.machine, SERVER, SERVER), Ok(true));
    world.keep_state();
    let World { machine, manager } = &mut world;
    assert_eq!(manager.relink(machine, SERVER, 0).map(|_| ()), Ok(()));
    while !manager.release_step(machine, SERVER, SERVER).unwrap() {}
    assert_eq!(world.literal_at(CLIENT, first, LITERAL_ENTRY), before + BEHIND);
    assert_ne!(queue(&world, CLIENT, first), stack_queue(HELD_QUEUE));
    assert_eq!(world.machine.released.get(), 1);
}

#[test]
fn the_death_of_who_holds_itself_lets_callers_go_on() {
    for is_kept in [false, true] {
        let mut world = with_successor_of_itself();
        let [first, own] = [CLIENT, SERVER].map(|of| world.opened(of));
        let before = world.literal_at(CLIENT, first, LITERAL_ENTRY);
        world.manager.lead(&world.machine, SERVER, own as u64, NEXT).unwrap();
        hold_itself(&mut world);
        if is_kept {
            world.keep_state();
        }
        world.machine.set_alive(SERVER, false);
        world.die(SERVER);
        let led = before + if is_kept { BEHIND } else { 0 };
        assert_eq!(world.literal_at(CLIENT, first, LITERAL_ENTRY), led);
        assert_ne!(world.literal_at(CLIENT, first, LITERAL_QUEUE), stack_queue(HELD_QUEUE));
        assert_eq!(world.machine.released.get(), 1);
    }
}
