//! Page faults that go to interposers: the chain of a domain's ranges, and what is left of it.

use super::wrapped::*;
use super::*;
use crate::blocks::NO_INSTANCE;
use crate::machine::Layout;
use cairn_abi::arch::trap::PAGE_FAULTS;
use cairn_abi::descriptor::name;
use cairn_abi::domain::{QUEUE_SIZE, stack_queue, upcall_entry};
use cairn_abi::record::{Export, FLOAT_FIRST_USE, Method, PagedRange};
use cairn_portal::invocation::Words;
use cairn_portal::literal::*;
use cairn_portal::{Source, Trust, plan};
use std::sync::atomic::Ordering::Relaxed;

/// Where a range's pages have their entries, and what the chain ends with.
const ENTRIES: u64 = 0xffff_ffd0_0000_0000;
const UPCALL: u64 = 0x77;
/// Places of the layout's portals of ranges.
const PORTALS: u64 = cairn_abi::address::PORTAL_CODE + 0x5000;

/// A world in which the client has two ranges, whose pager is the server, and one of another pager.
pub(super) fn paged() -> World {
    paged_with(|_| {})
}

pub(super) fn paged_with(change: impl FnOnce(&mut Fake)) -> World {
    let mut machine = Fake::new();
    change(&mut machine);
    let Layout { exports, methods, .. } = machine.layout;
    let method = Method {
        name: name("page_fault"),
        letters: letters("c=tiiii"),
        entry: entry(SERVER, 8),
        ..methods[0]
    };
    let export = |instance| Export {
        name: name("pager"),
        interface: name("Pager"),
        instance,
        is_object: 0,
        first_method: methods.len() as u32,
        method_count: 1,
        ..exports[0]
    };
    machine.layout.methods = leak([methods, &[method]].concat());
    machine.layout.exports = leak([exports, &[export(SERVER), export(ESSENTIAL)]].concat());
    let range = |number: u64, pager| PagedRange {
        client: CLIENT,
        pager,
        section: number as u16,
        writable: 1,
        address: 0x4000_0000 + number * 0x10000,
        size: 0x4000,
        entries: ENTRIES + number * 0x100,
    };
    let ranges = leak(vec![range(0, SERVER), range(1, SERVER), range(2, ESSENTIAL)]);
    machine.layout.ranges = ranges;
    let mut before = UPCALL;
    for (number, range) in ranges.iter().enumerate() {
        let record = |of| machine.layout.instance(of).unwrap();
        let mut crossing = plan(record(CLIENT), record(range.pager), Trust::default()).crossing;
        crossing.source = Source::Memory { first: 0, size: 0 };
        crossing.entry = entry(range.pager, 8);
        crossing.asids = true;
        crossing.take_from(800 + number);
        let of = generate::PagedRange {
            first: range.address,
            size: range.size,
            entries: range.entries,
            is_writable: true,
            elsewhere: before,
        };
        let (mut words, at) = ([0; 1024], PORTALS + number as u64 * 0x800);
        let made = generate::fault(&of, &crossing, &mut words, at).unwrap();
        assert!(made.size <= 0x800);
        for (word, pair) in machine.code(at, made.size).iter().zip(words.chunks_exact(2)) {
            word.store((u64::from(pair[1]) << 32 | u64::from(pair[0])) as i64, Relaxed);
        }
        before = made.call;
    }
    for cause in PAGE_FAULTS {
        machine.set_domain_word(domain_of(CLIENT), upcall_entry(cause), before);
    }
    interposer_on(machine)
}

impl World {
    pub(super) fn literal_of(&self, code: u64, literal: i64) -> u64 {
        self.machine.load(code.wrapping_add_signed(literal)).unwrap()
    }

    /// The portals of the client's ranges, in order.
    fn chain(&self) -> Vec<u64> {
        let entry = |cause| self.machine.domain_word(domain_of(CLIENT), upcall_entry(cause));
        assert!(PAGE_FAULTS.iter().all(|cause| entry(*cause) == entry(13)), "all lead there");
        let is_one = |code: &u64| *code != UPCALL;
        let next = |code: &u64| Some(self.literal_of(*code, LITERAL_ELSE)).filter(is_one);
        let chain: Vec<u64> = std::iter::successors(Some(entry(13)), next).collect();
        assert!(chain.iter().all(|code| self.machine.load_mark(*code)));
        chain
    }

    /// The first portal that takes faults of a range.
    pub(super) fn of_range(&self, number: usize) -> u64 {
        let range = self.machine.layout.ranges[number].address;
        let is_its = |code: &u64| self.literal_of(*code, LITERAL_RANGE) == range;
        self.chain().into_iter().find(is_its).expect("there is one")
    }

    /// Whether faults of a range go through the interposer so often, and then to the pager.
    fn assert_behind(&self, number: usize, depth: usize) {
        self.assert_behind_at(number, depth, ENTRANCE);
    }

    /// The same, by an entrance.
    pub(super) fn assert_behind_at(&self, number: usize, depth: usize, at: u64) {
        let range = self.machine.layout.ranges[number];
        let mut code = self.of_range(number);
        for _ in 0..depth {
            assert_eq!(self.literal_of(code, LITERAL_ENTRY), entry(BETWEEN, at));
            let is_first = self.literal_of(code, LITERAL_RANGE_ENTRIES) == range.entries;
            let word =
                self.literal_of(code, if is_first { LITERAL_INNER } else { LITERAL_CONSTANT });
            let back = self.literal_of(code, LITERAL_RETURN);
            assert_eq!(self.literal_of(back, LITERAL_FAULT), range.entries);
            code = self.machine.entry(domain_of(BETWEEN), word as usize);
            assert_eq!(
                self.literal_of(code, LITERAL_BEHALF),
                range.entries,
                "in such a fault alone"
            );
            assert_eq!(self.literal_of(code, LITERAL_RANGE), range.address);
            assert_eq!(self.literal_of(code, LITERAL_RANGE_NUMBER), number as u64);
        }
        assert_eq!(self.literal_of(code, LITERAL_ENTRY), entry(range.pager, 8));
    }

    /// A thread of the client is in the interposer by a fault: what it took.
    fn fault(&self, number: usize) -> (u16, u32) {
        let queue = self.literal_of(self.of_range(number), LITERAL_QUEUE);
        let queue = ((queue - stack_queue(0)) / QUEUE_SIZE) as u16;
        (queue, self.machine.queues.borrow_mut().get_mut(&queue).unwrap().remove(0))
    }
}

#[test]
fn unwrapped_the_chain_is_as_it_was() {
    let mut world = paged();
    let before = world.chain();
    assert_eq!(before.len(), 3);
    let mut free = None;
    for _ in 0..300 {
        // Two methods of an import, and two ranges.
        assert_eq!(world.wrap(RULE, false), Ok(2 + 2));
        assert_eq!(world.chain().len(), 5);
        world.assert_behind(0, 1);
        world.assert_behind(1, 1);
        // Another pager's is not.
        assert_eq!(world.of_range(2), before[0]);
        assert_eq!(world.wrap(RULE, false), Err(Error::Busy));
        assert_eq!(world.unwrap(RULE), Ok(4));
        assert_eq!(world.chain(), before);
        let left = world.free();
        assert_eq!(*free.get_or_insert(left), left, "nothing is left of it");
    }
}

#[test]
fn they_come_apart_in_any_order() {
    let everything = (CLIENT, NO_INSTANCE, BETWEEN);
    let rules = [RULE, ALL, everything];
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let mut world = paged();
    let (before, mut free) = (world.chain(), None);
    for order in orders {
        rules.iter().for_each(|rule| assert!(world.wrap(*rule, false).is_ok()));
        for (left, number) in [3, 2, 1].into_iter().zip(order) {
            world.assert_behind(0, left);
            world.assert_behind(1, left);
            world.unwrap(rules[number]).unwrap();
        }
        assert_eq!(world.chain(), before);
        let left = world.free();
        assert_eq!(*free.get_or_insert(left), left, "nothing is left of it");
    }
}

#[test]
fn code_stays_while_a_thread_can_come_back_by_it() {
    let mut world = paged();
    world.wrap(RULE, false).unwrap();
    let (first, inner) = (world.of_range(0), world.literal_of(world.of_range(0), LITERAL_INNER));
    let behalf = world.machine.entry(domain_of(BETWEEN), inner as usize);
    let inside = world.fault(0);
    world.unwrap(RULE).unwrap();
    // It can still pass its fault on, and come back.
    for _ in 0..3 {
        world.wrap(ALL, false).unwrap();
        for (code, entered) in [(first, entry(BETWEEN, ENTRANCE)), (behalf, entry(SERVER, 8))] {
            assert!(world.machine.load_mark(code));
            assert_eq!(world.literal_of(code, LITERAL_ENTRY), entered);
        }
        assert_eq!(world.machine.entry(domain_of(BETWEEN), inner as usize), behalf);
        world.unwrap(ALL).unwrap();
    }
    world.machine.leave(inside);
    world.wrap(ALL, false).unwrap();
    world.unwrap(ALL).unwrap();
    let none = world.machine.layout().header.no_portal;
    assert_eq!(world.machine.entry(domain_of(BETWEEN), inner as usize), none);
}

#[test]
fn whoever_dies_the_chain_is_whole() {
    for dead in [SERVER, BETWEEN, CLIENT] {
        let mut world = paged();
        let before = world.chain();
        world.wrap(RULE, true).unwrap();
        world.machine.set_alive(dead, false);
        world.die(dead);
        if dead == BETWEEN {
            assert_eq!(world.chain(), before, "without it the pager is asked");
            continue;
        }
        world.machine.set_alive(dead, true);
        world.assert_behind(0, 1);
        // The pager, or the client, is gone for good; the interposer has a thread of the client's still.
        let first = world.of_range(0);
        let inside = (dead == SERVER).then(|| world.fault(0));
        world.machine.set_alive(dead, false);
        world.die(dead);
        let World { machine, manager } = &mut world;
        let mut from = 0;
        loop {
            from = manager.retire_domain(machine, dead, from).unwrap();
            if from == 0 {
                break;
            }
        }
        assert!(!manager.rules().iter().any(|rule| rule.names(dead)));
        if let Some(inside) = inside {
            assert_eq!(world.chain(), before);
            assert!(world.machine.load_mark(first), "it comes back by this");
            world.machine.leave(inside);
        }
    }
}

#[test]
fn one_that_uses_floating_point_stands_before_no_faults() {
    let mut instances = Fake::new().layout.instances.to_vec();
    instances[BETWEEN.index() - 1].float = FLOAT_FIRST_USE;
    let mut world = paged_with(|machine| machine.layout.instances = leak(instances));
    let before = world.chain();
    assert_eq!(world.wrap(RULE, false), Err(Error::NotSupported));
    assert_eq!(world.chain(), before);
}
