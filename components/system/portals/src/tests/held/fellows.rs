//! Those that share a domain end together: they are held together, and one of them is led into other content.

use super::*;
use crate::crossing::write;
use cairn_abi::record::Instance;
use cairn_portal::generate::place;

/// Of `OTHER`.
const ITS_SERVICE: usize = SERVICE + 3;

/// `OTHER` is in the domain of `SERVER`, and calls to it take its stacks.
fn together() -> World {
    world_on(machine())
}

/// A machine in which they are.
pub fn machine() -> Fake {
    let mut machine = Fake::new();
    let instances = machine.layout.instances.iter().map(|one| match one.number {
        OTHER => Instance { domain: domain_of(SERVER), leader: SERVER, essential: 0, ..*one },
        _ => *one,
    });
    machine.layout.instances = leak(instances.collect());
    let shared = machine.layout.portals.iter().filter(|one| one.client == CLIENT);
    for code in shared.filter(|one| one.queue == u64::MAX).map(|one| one.code) {
        let back = machine.load(code.wrapping_add_signed(LITERAL_RETURN)).unwrap();
        for code in [code, back] {
            let literals = machine.code(code - LITERALS_SIZE as u64, LITERALS_SIZE as usize);
            write(&literals[place(LITERAL_QUEUE)..], &[stack_queue(990)]);
        }
    }
    machine
}

fn inside() -> Client {
    Client { domain: domain_of(SERVER), ..client(OTHER) }
}

impl World {
    fn waits(&self, of: InstanceId, index: usize) -> bool {
        self.literal(of, index, LITERAL_QUEUE) == stack_queue(HELD_QUEUE)
    }
}

#[test]
fn all_of_a_domain_are_held_and_one_is_led_into_other_content() {
    for named in [SERVER, OTHER] {
        let mut world = together();
        let server = world.opened(CLIENT);
        let other = world.opened_by(client(CLIENT), ITS_SERVICE);
        // In the domain's table, which `SERVER` has had to itself.
        let within = world.opened_by(inside(), SERVICE);
        world.hold(named).unwrap();
        let laid_out = [1, 2].map(|place| FIRST as usize + place);
        let waits = |world: &World| {
            [server, other, laid_out[0], laid_out[1]].map(|index| world.waits(CLIENT, index))
        };
        assert_eq!(waits(&world), [true; 4]);
        assert!(!world.waits(SERVER, within), "inside of it");
        let later = world.opened_by(client(CLIENT), ITS_SERVICE);
        assert!(world.waits(CLIENT, later), "what is made meanwhile");
        assert_eq!(world.hold(if named == SERVER { OTHER } else { SERVER }), Err(Error::Busy));

        let entries =
            |world: &World| [server, other].map(|at| world.literal(CLIENT, at, LITERAL_ENTRY));
        let before = entries(&world);
        world.move_entries(SERVER, 64);
        world.move_entries(OTHER, 64);
        world.relink(named).unwrap();
        let led = if named == SERVER { [64, 0] } else { [0, 64] };
        let led = [before[0] + led[0], before[1] + led[1]];
        assert_eq!(entries(&world), led);
        world.release(named).unwrap();
        assert_eq!(entries(&world), led);
        assert_eq!(waits(&world), [false; 4]);
        assert!(!world.waits(CLIENT, later));
        assert_eq!(world.machine.released.get(), 1);
    }
}

#[test]
fn who_ends_with_an_interposer_or_in_place_or_holds_itself_is_not_held() {
    let mut world = together();
    assert_eq!(world.hold_by(SERVER, Purpose::InPlace), Err(Error::NotSupported));
    let World { machine, manager } = &mut world;
    let by = manager.begin_hold(machine, inside(), SERVER, Purpose::Successor);
    assert_eq!(by, Err(Error::BadArgument), "it ends with it");
    world.hold(SERVER).unwrap();
    world.release(SERVER).unwrap();
    let mut methods = [0; 32];
    methods[8..17].copy_from_slice(b"ciiiiiii4");
    methods[24..].copy_from_slice(&entry(OTHER, 99).to_le_bytes());
    let World { machine, manager } = &mut world;
    manager.register(machine, inside(), "other.interposer", "", &methods).unwrap();
    manager.add_rule(machine, Rule::between(CLIENT, MANAGER, OTHER)).unwrap();
    assert_eq!(world.hold(SERVER), Err(Error::NotSupported));
}

#[test]
fn calls_of_those_that_end_with_it_do_not_keep_it() {
    let mut world = together();
    let (within, first) = (world.opened_by(inside(), SERVICE), world.opened(CLIENT));
    world.hold(SERVER).unwrap();
    let quiet = |world: &World| world.manager.is_quiet(&world.machine, SERVER, HOLDER);
    // It ends with both.
    let _own = world.machine.enter(SERVER, within);
    assert_eq!(quiet(&world), Ok(true));
    let others = world.machine.enter(CLIENT, first);
    assert_eq!((quiet(&world), world.relink(SERVER)), (Ok(false), Err(Error::Busy)));
    world.machine.leave(others);
    assert_eq!((quiet(&world), world.relink(SERVER)), (Ok(true), Ok(())));
}

/// They are being held by one of them, so many steps far; what a client has of each, and whether all of it waits.
fn held_by(named: InstanceId, steps: usize) -> (World, [usize; 2], bool) {
    let mut world = together();
    let opened = [SERVICE, ITS_SERVICE].map(|one| world.opened_by(client(CLIENT), one));
    let World { machine, manager } = &mut world;
    manager.begin_hold(machine, client(HOLDER), named, Purpose::Successor).unwrap();
    let mut is_on = false;
    for _ in 0..steps {
        is_on = manager.hold_step(machine, HOLDER, named).unwrap();
    }
    (world, opened, is_on)
}

#[test]
fn the_death_of_the_holder_releases_all_of_a_domain() {
    for named in [SERVER, OTHER] {
        for steps in 0.. {
            let (mut world, opened, is_on) = held_by(named, steps);
            assert!(!is_on || opened.iter().all(|index| world.waits(CLIENT, *index)));
            world.machine.set_alive(HOLDER, false);
            world.die(HOLDER);
            assert!(opened.iter().all(|index| !world.waits(CLIENT, *index)), "{steps}");
            assert_eq!(world.machine.released.get(), 1);
            if is_on {
                break;
            }
        }
    }
}

#[test]
fn what_retires_while_it_is_held_is_held_no_more() {
    for steps in 0.. {
        let (mut world, opened, is_on) = held_by(SERVER, steps);
        let World { machine, manager } = &mut world;
        machine.set_alive(SERVER, false);
        for gone in [OTHER, SERVER] {
            while manager.instance_died(machine, gone).unwrap() != 0 {}
            let mut at = 0;
            let in_steps = (0..1000).find(|_| {
                at = manager.retire_domain(machine, gone, at).unwrap();
                at == 0
            });
            assert!(in_steps.is_some(), "{gone:?} after {steps}");
        }
        // Nobody waits for what never comes, and the holder holds nothing.
        assert!(opened.iter().all(|index| machine.meaning(CLIENT, *index).is_none()));
        assert!(!world.manager.maker().is_held(SERVER) && !world.manager.maker().is_held(OTHER));
        world.hold(CLIENT).unwrap();
        world.release(CLIENT).unwrap();
        if is_on {
            break;
        }
    }
}
