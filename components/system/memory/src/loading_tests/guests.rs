//! An instance that moves into the page table of another: what leads to its pages goes there, and nothing else.

use super::successor::{begin, end, first_word};
use super::*;
use crate::instant;
use crate::tests::{behind, data, stack_top};
use cairn_abi::page_table::{index, table_entry};
use cairn_abi::startup::{Mapping, Startup};
use core::sync::atomic::AtomicI64;
use std::mem::offset_of;
use zerocopy::IntoBytes;

/// In whose page table it goes on.
const HOST: InstanceId = THREE;

fn rows(world: &World) -> [Instance; 3] {
    [ONE, TWO, HOST].map(|number| world.manager().place(number).unwrap().read())
}

/// What a page table has of a region: its own, and that of the other.
fn seen(world: &World) -> [bool; 4] {
    [(ONE, ONE), (ONE, HOST), (HOST, ONE), (HOST, HOST)].map(|(of, region)| {
        [data(region), stack_top(region) - PAGE_SIZE, region_of(region) + STARTUP_OFFSET]
            .map(|address| world.page(of, address).is_some())
            .iter()
            .all(|is_there| *is_there)
    })
}

fn moves(world: &World) {
    let manager = world.manager();
    manager.prepare_place(ONE).unwrap();
    end(world, ONE);
    manager.exchange(ONE, TWO).unwrap();
}

const HERE: [bool; 4] = [true, false, false, true];
const THERE: [bool; 4] = [false, false, true, true];
const NOWHERE: [bool; 4] = [false, false, false, true];

#[test]
fn it_goes_there_and_back_and_each_time_all_of_it() {
    let world = World::hosting();
    let manager = world.manager();
    let (before, state) = (rows(&world), (world.free(), world.used(ONE), world.used(HOST)));
    let words: Vec<i64> = world.tables.iter().map(|word| word.load(Relaxed)).collect();
    assert_eq!(manager.exchange(ONE, TWO), Err(Error::Busy), "it lives");
    assert_eq!(seen(&world), HERE);
    for _ in 0..3 {
        let address = manager.allocate(ONE, 2).unwrap();
        world.word(world.page(ONE, data(ONE)).unwrap().0).store(-1, Relaxed);
        moves(&world);
        assert_eq!(seen(&world), NOWHERE, "before it lives nobody reaches it there");
        let [ours, theirs, host] = rows(&world);
        assert_eq!((ours.domain, ours.is_away, ours.table), (before[1].domain, 1, 0x7000));
        assert_eq!(ours.space.root(), host.space.root());
        assert_eq!((theirs.domain, theirs.is_away), (before[0].domain, 0));
        assert_eq!(host.as_bytes(), before[2].as_bytes());
        assert_eq!(world.page(HOST, address), None, "what it had got is gone");
        begin(&world, ONE);
        assert_eq!(seen(&world), THERE);
        assert_ne!(first_word(&world, HOST, data(ONE)), Some(-1), "it begins as at the start");
        // It gets more there, from its own quota, and passes on nothing of the host's.
        assert_eq!(manager.allocate(ONE, 2), Ok(behind(ONE)));
        assert!(world.page(HOST, behind(ONE)).is_some());
        assert_eq!(world.used(ONE), state.1 + 2);
        manager.allocate(HOST, 1).unwrap();
        let mut word = [[0; 8]];
        manager.peek(ONE, data(ONE), &mut word).unwrap();
        assert_eq!(manager.peek(ONE, data(HOST), &mut word), Err(Error::BadArgument));
        assert_eq!(manager.peek(HOST, data(ONE), &mut word), Err(Error::BadArgument));
        // And back.
        end(&world, HOST);
        begin(&world, HOST);
        moves(&world);
        assert_eq!(seen(&world), NOWHERE);
        begin(&world, ONE);
        assert_eq!(seen(&world), HERE);
        assert_eq!(
            rows(&world).each_ref().map(IntoBytes::as_bytes),
            before.each_ref().map(IntoBytes::as_bytes)
        );
        assert_eq!((world.free(), world.used(ONE), world.used(HOST)), state);
        let now: Vec<i64> = world.tables.iter().map(|word| word.load(Relaxed)).collect();
        assert!(now == words, "all page tables are as they were");
    }
}

/// Each dies and lives for itself.
#[test]
fn a_death_of_the_one_is_none_of_the_other() {
    let world = World::hosting();
    let manager = world.manager();
    moves(&world);
    begin(&world, ONE);
    for _ in 0..2 {
        manager.kill(HOST).unwrap();
        assert_eq!(seen(&world), [false, false, true, false]);
        manager.bring_back(HOST).unwrap();
        end(&world, HOST);
        assert_eq!(seen(&world), [false, false, true, false]);
        begin(&world, HOST);
        assert_eq!(seen(&world), THERE);
        end(&world, ONE);
        assert_eq!(seen(&world), NOWHERE);
        begin(&world, ONE);
        assert_eq!(seen(&world), THERE);
    }
    // It comes home while the host is dead.
    end(&world, HOST);
    moves(&world);
    begin(&world, ONE);
    assert_eq!(seen(&world), [true, false, false, false]);
    begin(&world, HOST);
    assert_eq!(seen(&world), HERE);
}

/// It comes before it has served there, and goes again.
#[test]
fn a_way_back_at_once_is_the_same_exchange() {
    let world = World::hosting();
    let manager = world.manager();
    moves(&world);
    manager.exchange(ONE, TWO).unwrap();
    begin(&world, ONE);
    assert_eq!(seen(&world), HERE);
}

#[test]
fn who_has_guests_does_not_go_and_who_is_one_gets_no_other_content() {
    let world = World::hosting();
    let manager = world.manager();
    assert_eq!(manager.retire(HOST), Err(Error::NotSupported));
    end(&world, HOST);
    assert_eq!(manager.retire(HOST), Err(Error::NotSupported));
    begin(&world, HOST);
    moves(&world);
    begin(&world, ONE);
    let head = head();
    let head = Head::read(&head).unwrap();
    assert_eq!(manager.make_successor(ONE, ONE, &head, None), Err(SuccessorError::Away));
    end(&world, ONE);
    for number in [ONE, HOST] {
        assert_eq!(manager.retire(number), Err(Error::NotSupported));
    }
    manager.exchange(ONE, TWO).unwrap();
    begin(&world, ONE);
    assert_eq!(seen(&world), HERE);
}

/// A section made at run time ends with the life, also there.
#[test]
fn sections_at_run_time_stay_behind() {
    let world = World::hosting();
    let manager = world.manager();
    let (free, shared) = (world.free(), manager.make_section(HOST, 1).unwrap());
    moves(&world);
    begin(&world, ONE);
    manager.share(HOST, shared, ONE, true).unwrap();
    assert_eq!(manager.accept(ONE, shared), Err(Error::BadArgument), "its page table has it");
    let own = manager.make_section(ONE, 2).unwrap();
    assert!(world.page(HOST, own).is_some() && world.page(ONE, own).is_none());
    moves(&world);
    begin(&world, ONE);
    assert!(world.page(HOST, own).is_none() && world.page(HOST, shared).is_some());
    manager.drop_section(HOST, shared).unwrap();
    assert_eq!(world.free(), free);
}

/// Its host, which lives, maps the section at the instant at which a dead guest does not reach it any more.
#[test]
fn a_death_takes_nothing_that_the_host_maps_meanwhile() {
    let world: &World = Box::leak(Box::new(World::hosting()));
    let manager = world.manager();
    moves(world);
    begin(world, ONE);
    let (free, section) = (world.free(), manager.make_section(ONE, 2).unwrap());
    manager.share(ONE, section, HOST, true).unwrap();
    // Both have one page table.
    let page = world.page(HOST, section);
    instant::next(move || {
        world.manager().accept(HOST, section).unwrap();
    });
    end(world, ONE);
    assert_eq!(world.page(HOST, section), page, "it is the host's alone now");
    manager.drop_section(HOST, section).unwrap();
    assert_eq!(world.free(), free);
    begin(world, ONE);
    let other = manager.make_section(ONE, 1).unwrap();
    assert_eq!(world.page(HOST, other + PAGE_SIZE), None, "its table was empty");
}

/// Gives page tables the section at a place, in a leaf table of their own.
fn share(world: &mut World, place: u64, of: &[InstanceId]) -> u64 {
    let address = SECTIONS + place * SECTION_STRIDE + section_spread(PAGE_SIZE);
    let page = world.free_memory() + (8 + place) * PAGE_SIZE;
    for number in [ONE, HOST] {
        let root = world.manager().tables.root(world.instances[number.index() - 1].space).unwrap();
        let base = world.manager().tables.physical;
        let table = |world: &mut World| {
            let at = world.tables.len() / 512;
            world.tables.extend((0..512).map(|_| AtomicI64::new(0)));
            (at, table_entry(base + at as u64 * PAGE_SIZE) as i64)
        };
        let in_root = root.0 * 512 + index(address, 2);
        if world.tables[in_root].load(Relaxed) == 0 {
            let (_, entry) = table(world);
            world.tables[in_root].store(entry, Relaxed);
        }
        let directory = (world.tables[in_root].load(Relaxed) as u64 >> 10 << 12) - base;
        if of.contains(&number) {
            let (leaf, entry) = table(world);
            let at = directory as usize / 8 + index(address, 1);
            world.tables[at].store(entry, Relaxed);
            // The host writes what its guest reads.
            let rights = USER | READ | if number == HOST { WRITE } else { 0 };
            tables::map_over(&world.tables[leaf * 512 + index(address, 0)], page, rights);
        }
    }
    address
}

#[test]
fn its_sections_go_with_it_and_those_of_the_host_stay() {
    let mut world = World::hosting();
    let own = share(&mut world, 1, &[ONE]);
    let both = share(&mut world, 2, &[ONE, HOST]);
    let hosts = share(&mut world, 3, &[HOST]);
    let (startup, _) = world.page(ONE, region_of(ONE) + STARTUP_OFFSET).unwrap();
    let put = |at: usize, word: u64| {
        world.word(startup + at as u64 / 8 * 8).store(word as i64, Relaxed);
    };
    put(offset_of!(Startup, section_count), 2 << 32);
    for (place, address) in [own, both].into_iter().enumerate() {
        let at = offset_of!(Startup, sections) + place * size_of::<Mapping>();
        put(at + offset_of!(Mapping, address), address);
        put(at + offset_of!(Mapping, size), PAGE_SIZE);
    }
    let maps = |of: InstanceId| [own, both, hosts].map(|at| world.page(of, at).is_some());
    let before = (maps(ONE), maps(HOST));
    assert_eq!(before, ([true, true, false], [false, true, true]));
    for _ in 0..3 {
        moves(&world);
        begin(&world, ONE);
        assert_eq!(maps(HOST), [true; 3]);
        let is_written = |at: u64| world.page(HOST, at).unwrap().1 & WRITE != 0;
        assert_eq!(
            [own, both, hosts].map(is_written),
            [false, true, true],
            "each as its own has it"
        );
        assert_eq!(maps(ONE), [false, true, false]);
        moves(&world);
        begin(&world, ONE);
        assert_eq!((maps(ONE), maps(HOST)), before);
    }
    // Where a table is missing nothing is changed.
    put(
        offset_of!(Startup, sections) + offset_of!(Mapping, address),
        SECTIONS + 1024 * SECTION_STRIDE,
    );
    end(&world, ONE);
    let rows_before = rows(&world);
    assert_eq!(world.manager().exchange(ONE, TWO), Err(Error::NotFound));
    assert_eq!(
        rows(&world).each_ref().map(IntoBytes::as_bytes),
        rows_before.each_ref().map(IntoBytes::as_bytes)
    );
    begin(&world, ONE);
    assert_eq!(seen(&world), HERE);
}

/// It knows in which domain it is.
#[test]
fn its_startup_page_names_its_domain() {
    let world = World::hosting();
    let domain = || {
        let row = world.manager().place(ONE).unwrap();
        let words = world.manager().startup(row).unwrap();
        let at = offset_of!(Startup, domain);
        words[at / 8].load(Relaxed) as u64 >> (at % 8 * 8) & 0xffff
    };
    for _ in 0..2 {
        for place in [1, 0] {
            moves(&world);
            begin(&world, ONE);
            let there = u64::from(rows(&world)[0].domain);
            assert_eq!((rows(&world)[0].is_away, domain()), (place, there));
        }
    }
}
