//! A hart that remembers where each address led, or that it led nowhere, until it is fenced. QEMU's forgets at
//! every switch of domains, real ones sooner or later.

use crate::loading_tests;
use crate::manager::Manager;
use crate::tables::{self, READ, USER};
use crate::tests::{ONE, TWO, World, behind, data, region_of, stack_top, steps, window_slot};
use cairn_abi::address::*;
use cairn_abi::loadable::stack_alias;
use cairn_abi::{Error, InstanceId};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;

/// Instance whose domain it is, address, and where it leads: the page with its rights.
type Translation = (InstanceId, u64, Option<(u64, u64)>);

struct Hart {
    /// For ever, since a fence is a plain function.
    world: &'static World,
    addresses: Vec<(InstanceId, u64)>,
    remembered: RefCell<BTreeSet<Translation>>,
    /// Free page tables before the operation: it may remember the way through those that are not.
    tables: Cell<usize>,
}

thread_local! {
    static HART: OnceCell<Hart> = const { OnceCell::new() };
}

impl Hart {
    fn present(&self) -> BTreeSet<Translation> {
        let look = |&(instance, address)| (instance, address, self.world.page(instance, address));
        self.addresses.iter().map(look).collect()
    }

    /// It forgets all, and at once other threads make it look everywhere again.
    fn fence(&self) {
        let present = self.present();
        let mut remembered = self.remembered.borrow_mut();
        for (instance, address, page) in remembered.difference(&present) {
            let Some((physical, _)) = *page else { continue };
            let number = self.world.manager().frame_number(physical) as usize;
            assert!(
                !self.world.state.frames.is_free(number),
                "instance {instance} still reaches a free page at {address:#x}"
            );
        }
        if remembered.difference(&present).any(|(_, _, page)| page.is_some()) {
            let free = self.world.state.tables.available();
            assert!(free <= self.tables.get(), "a page table went back before the fence");
        }
        *remembered = present;
    }

    /// After an operation: it is wrong about nothing, and looks everywhere.
    fn check(&self, operation: &str) {
        let present = self.present();
        let mut remembered = self.remembered.borrow_mut();
        let stale: Vec<_> = remembered.difference(&present).collect();
        assert!(stale.is_empty(), "stale after {operation}: {stale:x?}");
        self.tables.set(self.world.state.tables.available());
        *remembered = present;
    }
}

/// The hart of this test looks at these addresses.
fn remember(world: &'static World, addresses: Vec<(InstanceId, u64)>) {
    let (remembered, tables) = (RefCell::default(), Cell::default());
    let hart = Hart { world, addresses, remembered, tables };
    HART.with(|place| place.set(hart).ok().expect("it is this test's alone"));
}

fn check(operation: &str) {
    HART.with(|hart| hart.get().unwrap().check(operation));
}

fn fence() {
    HART.with(|hart| hart.get().map_or((), Hart::fence));
}

/// A number has one instance after the other: no translation of the first leads to a page of the second, in its own domain or by the
/// kernel's aliases of its stacks.
#[test]
fn nothing_is_stale_when_a_number_is_anothers() {
    let world: &'static World = Box::leak(Box::new(World::loading(1)));
    let manager = Manager { fence, ..world.manager() };
    let number = InstanceId(3);
    let head = loading_tests::head();
    let placed = loading_tests::placement(number, &manager);
    let start = manager.place(number).unwrap().start_address();
    let own = (placed.image().start..placed.heap().end).step_by(PAGE_SIZE as usize);
    let stacks = placed.stacks().map(|stack| stack.end - PAGE_SIZE);
    let own = own.chain(stacks).chain([STARTUP_OFFSET, LOG_OFFSET, placed.end()]);
    let pages = (0..4).map(|page| (ONE, behind(ONE) + page * PAGE_SIZE));
    let aliases = (0..10).map(|activation| (ONE, stack_alias(activation)));
    let own = own.map(|offset| (number, start + offset));
    remember(world, own.chain(pages).chain(aliases).collect());
    check("the start");
    for _ in 0..2 {
        let made = loading_tests::make(&manager, ONE, "valve", &head).unwrap();
        assert_eq!(made, number);
        check("make");
        loading_tests::give_all_by(world, &manager, number, check);
        manager.finish(number).unwrap();
        check("finish");
        manager.allocate(number, 1).unwrap();
        check("allocate of what was loaded");
        manager.kill(number).unwrap();
        steps(|cursor| manager.release(number, cursor));
        check("release of what was loaded");
        manager.retire(number).unwrap();
        check("retire");
        loading_tests::make(&manager, ONE, "valve", &head).unwrap();
        manager.retire(number).unwrap();
        check("retire of what was not finished");
    }
    manager.kill(TWO).unwrap();
    manager.retire(TWO).unwrap();
    check("retire of the layout's");
}

#[test]
fn nothing_is_stale_after_any_operation() {
    let world: &'static World = Box::leak(Box::new(World::new()));
    let manager = Manager { fence, ..world.manager() };
    let section = manager.make_section(ONE, 3).unwrap();
    manager.drop_section(ONE, section).unwrap();

    let pages = |from: u64| (0..6).map(move |page| from + page * PAGE_SIZE);
    let addresses = [ONE, TWO].into_iter().flat_map(|instance| {
        let laid_out =
            [data(instance), stack_top(instance) - 8, region_of(instance) + STARTUP_OFFSET];
        let further = [behind(instance), section].into_iter().flat_map(pages);
        laid_out.into_iter().chain(further).map(move |address| (instance, address))
    });
    remember(world, addresses.collect());

    check("the start");
    let address = manager.allocate(ONE, 4).unwrap();
    check("allocate");
    manager.free(ONE, address + PAGE_SIZE, 2).unwrap();
    check("free");
    assert_eq!(manager.free(ONE, address, 2), Err(Error::NotFound));
    check("free of what is not there");
    let (physical, _) = world.page(ONE, address).unwrap();
    let slot = manager.tables.find(manager.root(TWO).unwrap(), window_slot(TWO)).unwrap();
    tables::map_over(slot, physical, USER | READ);
    assert_eq!(manager.free(ONE, address, 1), Err(Error::Busy));
    check("free of what is in a window");
    tables::unmap(slot);
    assert_eq!(manager.make_section(ONE, 3), Ok(section));
    check("make_section");
    manager.share(ONE, section, TWO, false).unwrap();
    check("share");
    manager.accept(TWO, section).unwrap();
    check("accept");
    manager.drop_section(ONE, section).unwrap();
    check("drop_section, by one of two");
    manager.drop_section(TWO, section).unwrap();
    check("drop_section, by the last");
    assert_eq!(manager.make_section(ONE, 2), Ok(section));
    check("make_section again");
    manager.kill(ONE).unwrap();
    check("kill");
    steps(|cursor| manager.release(ONE, cursor));
    check("release");
    assert_eq!(manager.make_section(TWO, 2), Ok(section));
    check("make_section of what somebody had");
    steps(|cursor| manager.renew(ONE, cursor, false));
    manager.revive(ONE).unwrap();
    check("renew");
    assert_eq!(manager.allocate(ONE, 3), Ok(address));
    check("allocate in the next life");
}
