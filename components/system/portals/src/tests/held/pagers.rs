//! Pagers are held: whoever misses a page of theirs waits, with interposers before them and without.

use super::super::faults::paged;
use super::super::wrapped::{BETWEEN, RULE};
use super::*;
use cairn_abi::record::PagedRange;

/// Ranges of the client that the server provides.
const RANGES: [usize; 2] = [0, 1];

impl World {
    /// The last portal before the pager of a range: the client's own, or that of who stands before it.
    fn before_pager(&self, number: usize, is_wrapped: bool) -> u64 {
        let code = self.of_range(number);
        match is_wrapped {
            false => code,
            true => self.machine.entry(domain_of(BETWEEN), self.inner_of(code)),
        }
    }

    /// Where faults go on that an interposer passes on.
    fn inner_of(&self, code: u64) -> usize {
        self.literal_of(code, LITERAL_INNER) as usize
    }

    /// Whether those who miss pages of the server's wait, all or nobody, and whether they enter it so much behind.
    fn faults_wait(&self, waits: bool, by: u64, is_wrapped: bool) {
        for number in RANGES {
            let code = self.before_pager(number, is_wrapped);
            let queue = self.literal_of(code, LITERAL_QUEUE);
            assert_eq!(queue == stack_queue(HELD_QUEUE), waits, "{number}");
            let back = self.literal_of(code, LITERAL_RETURN);
            assert_ne!(self.literal_of(back, LITERAL_QUEUE), stack_queue(HELD_QUEUE));
            if !waits {
                assert_eq!(queue, self.literal_of(back, LITERAL_QUEUE));
            }
            assert_eq!(self.literal_of(code, LITERAL_ENTRY), entry(SERVER, 8) + by, "{number}");
        }
        let others = self.of_range(2);
        assert_ne!(self.literal_of(others, LITERAL_QUEUE), stack_queue(HELD_QUEUE));
    }
}

#[test]
fn who_misses_a_page_waits_until_its_pager_has_its_next_content() {
    for is_wrapped in [false, true] {
        let mut world = paged();
        if is_wrapped {
            world.wrap(RULE, false).unwrap();
        }
        let chain = RANGES.map(|number| world.of_range(number));
        world.faults_wait(false, 0, is_wrapped);
        world.hold(SERVER).unwrap();
        world.faults_wait(true, 0, is_wrapped);
        world.move_entries(SERVER, 0x40);
        world.relink(SERVER).unwrap();
        world.faults_wait(true, 0x40, is_wrapped);
        world.release(SERVER).unwrap();
        world.faults_wait(false, 0x40, is_wrapped);
        assert_eq!(RANGES.map(|number| world.of_range(number)), chain, "the chain is as it was");
        // Its holder dies.
        world.hold(SERVER).unwrap();
        world.machine.set_alive(HOLDER, false);
        world.die(HOLDER);
        world.faults_wait(false, 0x40, is_wrapped);
    }
}

/// Whoever comes to stand before it, or goes, meanwhile.
#[test]
fn who_stands_before_a_pager_meanwhile_waits_in_its_place() {
    let mut world = paged();
    world.hold(SERVER).unwrap();
    world.wrap(RULE, false).unwrap();
    world.faults_wait(true, 0, true);
    world.release(SERVER).unwrap();
    world.faults_wait(false, 0, true);
    world.hold(SERVER).unwrap();
    world.unwrap(RULE).unwrap();
    world.faults_wait(true, 0, false);
    world.release(SERVER).unwrap();
    world.faults_wait(false, 0, false);
}

#[test]
fn who_must_not_wait_for_a_page_keeps_its_pager() {
    let mut world = paged();
    let begin = |world: &mut World, holder, purpose| {
        let World { machine, manager } = world;
        manager.begin_hold(machine, client(holder), SERVER, purpose)
    };
    assert_eq!(
        begin(&mut world, CLIENT, Purpose::Successor),
        Err(Error::NotSupported),
        "its own faults"
    );
    assert_eq!(
        begin(&mut world, HOLDER, Purpose::InPlace),
        Err(Error::NotSupported),
        "no life ends"
    );
    let ranges = world.machine.layout.ranges.to_vec();
    let essential = PagedRange { client: ESSENTIAL, ..ranges[0] };
    world.machine.layout.ranges = leak([ranges, vec![essential]].concat());
    assert_eq!(
        begin(&mut world, HOLDER, Purpose::Successor),
        Err(Error::NotSupported),
        "the system's"
    );
}
