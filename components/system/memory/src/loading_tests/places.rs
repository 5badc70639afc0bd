//! An instance that moves: what its two rows say of a place is exchanged.

use super::successor::{end, first_word};
use super::*;
use crate::tests::{data, stack_top};
use zerocopy::IntoBytes;

/// Its next life begins.
fn begin(world: &World) {
    let manager = world.manager();
    steps(|cursor| manager.renew(ONE, cursor, false));
    manager.revive(ONE).unwrap();
}

/// Both rows.
fn rows(world: &World) -> [Instance; 2] {
    [ONE, TWO].map(|number| world.manager().place(number).unwrap().read())
}

/// The code of the portals, and the entries of the methods.
fn leads(world: &World) -> (Vec<u64>, Vec<u64>) {
    let record = world.manager().record;
    let codes = record.portals.iter().map(|one| one.read().code).collect();
    (codes, [0, 1].map(|place| record.methods.get(place).unwrap().entry()).to_vec())
}

fn bytes(rows: &[Instance; 2]) -> [&[u8]; 2] {
    rows.each_ref().map(IntoBytes::as_bytes)
}

fn is_reached(world: &World, number: InstanceId) -> bool {
    let manager = world.manager();
    tables::is_reachable(manager.reach_of(manager.place(number).unwrap()).unwrap())
}

#[test]
fn an_instance_moves_there_and_back() {
    let world = World::moving();
    let manager = world.manager();
    assert_eq!(manager.usage_of(TWO), Err(Error::NotFound), "its other place is no instance");
    let (before, led) = (rows(&world), leads(&world));
    let state = (world.free(), world.used(ONE));
    assert_eq!(manager.exchange(ONE, TWO), Err(Error::Busy), "it lives");
    for _ in 0..3 {
        manager.allocate(ONE, 2).unwrap();
        manager.prepare_place(ONE).unwrap();
        assert_eq!(first_word(&world, TWO, data(TWO)), None, "nobody reaches it");
        end(&world, ONE);
        manager.exchange(ONE, TWO).unwrap();
        let [ours, theirs] = rows(&world);
        let of_place = |one: &Instance| {
            let memory = (one.start_address, one.space.root(), one.entries, one.memory_used);
            (one.domain, one.in_kernel, one.region, memory, (one.main, one.stub))
        };
        assert_eq!(of_place(&ours), of_place(&before[1]));
        assert_eq!(of_place(&theirs), of_place(&before[0]));
        for (now, before) in [ours, theirs].iter().zip(&before) {
            assert_eq!((now.number, now.leader), (before.number, before.leader));
            assert_eq!((now.memory, now.children), (before.memory, before.children));
            assert_eq!(
                (now.other_place, now.successor_of),
                (before.other_place, before.successor_of)
            );
        }
        // The import that both have leads from where it is; methods begin there.
        assert_eq!(leads(&world), (vec![0x1111, 0x1234, 0x2222], vec![led.1[1], led.1[0]]));
        // It begins as it was made, and what it dirties is as at first when it comes here again.
        manager.revive(ONE).unwrap();
        assert!(is_reached(&world, ONE) && !is_reached(&world, TWO));
        let physical = world.page(TWO, data(TWO)).unwrap().0;
        world.word(physical).store(-1, Relaxed);
        assert_eq!(manager.peek(ONE, data(ONE), &mut [[0; 8]]), Err(Error::BadArgument));
        let mut word = [[0; 8]];
        manager.peek(ONE, data(TWO), &mut word).unwrap();
        assert_eq!(word, [[0xff; 8]]);
        // A death in this place is one like others.
        end(&world, ONE);
        begin(&world);
        assert_ne!(world.word(physical).load(Relaxed), -1);
        world.word(physical).store(-1, Relaxed);
        end(&world, ONE);
        manager.exchange(ONE, TWO).unwrap();
        begin(&world);
        assert_eq!(world.word(physical).load(Relaxed), -1, "until it comes again");
        manager.prepare_place(ONE).unwrap();
        assert_ne!(world.word(physical).load(Relaxed), -1);
        assert!(is_reached(&world, ONE) && !is_reached(&world, TWO));
        assert_eq!(bytes(&rows(&world)), bytes(&before));
        assert_eq!((leads(&world), (world.free(), world.used(ONE))), (led.clone(), state));
        assert!(manager.allocate(ONE, 1).unwrap() > stack_top(ONE));
    }
}

/// How often it lived is the instance's, wherever it is: objects name a life.
#[test]
fn its_generation_goes_on() {
    let world = World::moving();
    let manager = world.manager();
    let generation = || {
        let row = manager.place(ONE).unwrap();
        let words = manager.startup(row).unwrap();
        words[core::mem::offset_of!(cairn_abi::startup::Startup, generation) / 8].load(Relaxed)
    };
    let first = generation();
    for life in 1..5 {
        end(&world, ONE);
        manager.exchange(ONE, TWO).unwrap();
        begin(&world);
        assert_eq!(generation(), first + life);
    }
}

#[test]
fn what_moves_is_not_taken_back_nor_replaced_there() {
    let world = World::moving();
    let manager = world.manager();
    assert_eq!(manager.exchange(TWO, ONE), Err(Error::NotFound), "no instance");
    assert_eq!(manager.prepare_place(TWO), Err(Error::NotFound));
    assert_eq!(manager.exchange(ONE, THREE), Err(Error::NotFound), "no successor");
    for number in [ONE, TWO] {
        assert!(manager.retire(number).is_err());
    }
    end(&world, ONE);
    assert_eq!(manager.retire(ONE), Err(Error::NotSupported));
    // What another content has is not in the other place.
    let row = manager.place(ONE).unwrap();
    row.set(core::mem::offset_of!(Instance, package), 1u64);
    assert_eq!(manager.exchange(ONE, TWO), Err(Error::NotSupported));
    assert_eq!(manager.prepare_place(ONE), Err(Error::NotSupported));
    row.set(core::mem::offset_of!(Instance, package), 0u64);
    // While a thread makes it as it was at first, nobody begins there.
    let number = manager.state.numbers.get(TWO).unwrap();
    number.take(crate::numbers::Stage::Unused).unwrap();
    assert_eq!(manager.exchange(ONE, TWO), Err(Error::Busy));
    number.set(crate::numbers::Stage::Unused);
    // Rows that do not fit together are refused before anything is changed.
    let before = rows(&world);
    let export = manager.record.exports.get(1).unwrap();
    export.set(core::mem::offset_of!(Export, version), 77u64);
    assert_eq!(manager.exchange(ONE, TWO), Err(Error::BadArgument));
    assert_eq!(bytes(&rows(&world)), bytes(&before));
    export.set(core::mem::offset_of!(Export, version), 0u64);
    assert_eq!(manager.exchange(ONE, TWO), Ok(()));
}

/// Where it would not be waited for, it is in the life with which a move ends, until it serves.
#[test]
fn the_first_life_in_a_place_says_when_it_serves() {
    let world = World::moving();
    let manager = world.manager();
    let ready = |number: InstanceId| {
        let row = manager.place(number).unwrap();
        manager.tables.find(manager.root_of(row).unwrap(), row.start_address() + READY_OFFSET)
    };
    let waits = |number: InstanceId| manager.place(number).unwrap().callers_wait();
    tables::map_over(ready(TWO).unwrap(), 0x9000_0000, USER | READ);
    for _ in 0..2 {
        end(&world, ONE);
        manager.exchange(ONE, TWO).unwrap();
        begin(&world);
        assert_eq!((waits(ONE), ready(ONE).unwrap().load(Relaxed)), (CALLERS_WAIT_ONCE, 0));
        // It dies before, and comes again.
        end(&world, ONE);
        manager.exchange(ONE, TWO).unwrap();
        begin(&world);
        assert_eq!((waits(ONE), waits(TWO)), (0, CALLERS_WAIT_ONCE));
        end(&world, ONE);
        manager.exchange(ONE, TWO).unwrap();
        begin(&world);
        assert_eq!((waits(ONE), ready(ONE).unwrap().load(Relaxed)), (CALLERS_WAIT_ONCE, 0));
        manager.serves(ONE).unwrap();
        // Its next life there is like others.
        end(&world, ONE);
        begin(&world);
        assert_eq!(waits(ONE), 0);
        assert_ne!(ready(ONE).unwrap().load(Relaxed), 0);
        end(&world, ONE);
        manager.exchange(ONE, TWO).unwrap();
        begin(&world);
    }
}
