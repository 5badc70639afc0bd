//! Copies of instances: what they get leads to their parents first, and ends with what those have.

use super::wrapped::inner_of;
use super::*;
use crate::blocks::NO_INSTANCE;
use crate::wraps::Rule;
use cairn_abi::domain::{HELD_QUEUE, stack_queue};
use cairn_portal::literal::LITERAL_QUEUE;

const PARENT: InstanceId = OTHER;
const COPY: InstanceId = CLIENT;
const INTERCEPT: u64 = 77;

/// A world in which there is a copy that has nothing yet.
fn world_of_copies() -> World {
    let mut world = world_on(Fake::with_copy(COPY, PARENT));
    world.manager.make_domain(&world.machine, COPY).unwrap();
    world
}

fn fork(world: &mut World) -> Result<(), Error> {
    let mut from = 0;
    loop {
        let World { machine, manager } = world;
        from = manager.fork(machine, COPY, entry(PARENT, INTERCEPT), from)?;
        if from == 0 {
            return Ok(());
        }
    }
}

fn open(world: &mut World, who: InstanceId) -> usize {
    let World { machine, manager } = world;
    manager.open_export(machine, client(who), SERVICE, ANY).unwrap() as usize
}

/// What the copy's index leads to, behind its parent.
fn behind(world: &World, index: usize) -> Option<Meaning> {
    let first = world.machine.meaning(COPY, index)?;
    assert_eq!((first.server, first.entry), (PARENT, entry(PARENT, INTERCEPT)), "{index}");
    assert_eq!(first.constant >> 16, index as u64, "its own index");
    world.machine.meaning(PARENT, (first.constant & 0xffff) as usize)
}

#[test]
fn a_copy_has_what_its_parent_has_through_it() {
    let mut world = world_of_copies();
    let opened = open(&mut world, PARENT);
    let World { machine, manager } = &mut world;
    let semaphore = manager.make(machine, client(PARENT), Some(1)).unwrap() as usize;
    let foreign = manager.fork(machine, COPY, entry(SERVER, 4), 0);
    assert_eq!(foreign, Err(Error::BadArgument), "no address of the parent's");
    fork(&mut world).unwrap();
    let meaning = |world: &World, index| world.machine.meaning(PARENT, index);
    for index in [FIRST as usize, opened, opened + 1, semaphore, semaphore + 1] {
        assert_eq!(behind(&world, index), meaning(&world, index), "{index}");
        assert!(behind(&world, index).is_some());
    }
    assert_eq!(world.machine.meaning(COPY, semaphore + 8), None, "the parent has nothing there");
    // Once it lives, what it gets is wrapped, and it is no more to be made.
    world.machine.set_alive(COPY, true);
    assert_eq!(fork(&mut world), Err(Error::Busy));
    let own = open(&mut world, COPY);
    assert_eq!(behind(&world, own).map(|one| one.server), Some(SERVER));
    // Nobody takes its parent away.
    let rule = Rule::between(COPY, NO_INSTANCE, PARENT);
    let World { machine, manager } = &mut world;
    assert_eq!(manager.unwrap_step(machine, &rule), Err(Error::NotAllowed));
    assert!(!manager.ends(&rule));
}

#[test]
fn a_copy_that_comes_between_two_lives_of_a_server_waits_for_the_next() {
    let mut world = world_of_copies();
    let opened = open(&mut world, PARENT);
    world.hold(SERVER).unwrap();
    world.machine.set_alive(SERVER, false);
    fork(&mut world).unwrap();
    assert_eq!(behind(&world, opened), world.machine.meaning(PARENT, opened));
    let inner = inner_of(&world, COPY, opened);
    assert_eq!(world.literal(PARENT, inner, LITERAL_QUEUE), stack_queue(HELD_QUEUE));
}

#[test]
fn what_the_parent_gives_up_the_copy_loses() {
    let mut world = world_of_copies();
    let (kept, closed) = (open(&mut world, PARENT), open(&mut world, PARENT));
    fork(&mut world).unwrap();
    world.machine.set_alive(COPY, true);
    let inner = (world.machine.meaning(COPY, closed).unwrap().constant & 0xffff) as usize;
    let World { machine, manager } = &mut world;
    manager.close(machine, client(PARENT), closed as u64).unwrap();
    assert_eq!(machine.meaning(COPY, closed), None);
    assert_eq!(machine.meaning(PARENT, inner), None, "with the index in a register, neither");
    assert!(behind(&world, kept).is_some());
    // Its server takes all back that there is of it.
    let World { machine, manager } = &mut world;
    assert_eq!(manager.revoke(machine, client(SERVER), "service", PARENT), Ok(1));
    assert_eq!(machine.meaning(COPY, kept), None);
    assert_eq!(manager.close(machine, client(COPY), kept as u64), Ok(()), "the index is its own");
}

#[test]
fn copies_come_and_go_without_a_trace() {
    let mut world = world_of_copies();
    let opened = open(&mut world, PARENT);
    let free = world.free();
    for _ in 0..50 {
        fork(&mut world).unwrap();
        world.machine.set_alive(COPY, true);
        assert!(behind(&world, opened).is_some());
        world.machine.set_alive(COPY, false);
        while world.manager.instance_died(&world.machine, COPY).unwrap() != 0 {}
        let mut at = 0;
        loop {
            at = world.manager.retire_domain(&world.machine, COPY, at).unwrap();
            if at == 0 {
                break;
            }
        }
        assert!(world.manager.rules().is_empty());
        world.manager.make_domain(&world.machine, COPY).unwrap();
    }
    assert_eq!(world.free(), free);
}
