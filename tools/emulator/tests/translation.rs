//! Translation as far as comparing with another emulator cannot show it: fences that are missing,
//! address spaces, software-managed accessed and dirty bits, the journal of user memory.

use cairn_emulator::csr::{SATP, STATUS_SUM};
use cairn_emulator::encode::*;
use cairn_emulator::mmu::*;
use cairn_emulator::register::*;
use cairn_emulator::{
    AddressSpace, Caching, Cause, Machine, Options, Privilege, Step, Tables, Trap,
};

const CODE: u64 = 0x8000_0000;
const TABLES: u64 = 0x8010_0000;
const FRAMES: u64 = 0x8020_0000;
const PAGE: u64 = 0x40_0000;
const LIVE: u64 = ACCESSED | DIRTY;

const LOAD: u64 = CODE;
const STORE: u64 = CODE + 4;
const FENCE_ALL: u64 = CODE + 8;
const FENCE_ADDRESS: u64 = CODE + 12;
const FENCE_SPACE: u64 = CODE + 16;
const JUMP: u64 = CODE + 20;

struct World {
    machine: Machine,
    tables: Tables,
    first: AddressSpace,
    second: AddressSpace,
}

/// Two address spaces that share the code and nothing else.
fn world(options: Options) -> World {
    let mut machine = Machine::with(options);
    machine.memory.add(CODE, 0x1000);
    machine.memory.add(FRAMES, 0x4000);
    for frame in 0..4 {
        machine.memory.write_u64(FRAMES + frame * 0x1000, frame).unwrap();
    }
    let program = [
        ld(A1, A0, 0),
        sd(A1, A0, 8),
        sfence_vma(0, 0),
        sfence_vma(A0, 0),
        sfence_vma(0, A2),
        jalr(0, A0, 0),
    ];
    machine.memory.write(CODE, &bytes(&program)).unwrap();
    let mut tables = Tables::new(&mut machine.memory, TABLES, 32);
    let first = AddressSpace::new(&mut tables, 1);
    let second = AddressSpace::new(&mut tables, 2);
    for space in [first, second] {
        let flags = READ | EXECUTE | GLOBAL | ACCESSED;
        space.map(&mut machine.memory, &mut tables, CODE, CODE, 1, flags);
    }
    machine.csr.satp = first.satp();
    machine.set(A0, PAGE);
    World { machine, tables, first, second }
}

impl World {
    fn map(&mut self, space: AddressSpace, frame: u64, flags: u64) {
        let physical = FRAMES + frame * 0x1000;
        space.map(&mut self.machine.memory, &mut self.tables, PAGE, physical, 1, flags);
    }

    fn execute(&mut self, address: u64) -> Result<(), Trap> {
        self.machine.program_counter = address;
        match self.machine.step() {
            Step::Completed => Ok(()),
            Step::Trapped(trap) => Err(trap),
            other => panic!("{other:?}"),
        }
    }

    /// The number of the frame that the page leads to.
    fn load(&mut self) -> Result<u64, Trap> {
        self.execute(LOAD).map(|()| self.machine.get(A1))
    }
}

fn with_caching(caching: Caching) -> World {
    world(Options { caching, ..Options::default() })
}

#[test]
fn a_changed_entry_is_seen_after_the_fence_only() {
    let mut world = with_caching(Caching::Valid);
    world.map(world.first, 0, READ | LIVE);
    assert_eq!(world.load(), Ok(0));
    world.map(world.first, 1, READ | LIVE);
    assert_eq!(world.load(), Ok(0), "no fence yet");
    world.execute(FENCE_ADDRESS).unwrap();
    assert_eq!(world.load(), Ok(1));

    let location = world.first.entry(&world.machine.memory, PAGE).unwrap();
    world.machine.memory.write_u64(location, 0).unwrap();
    assert_eq!(world.load(), Ok(1), "an unmapped page stays open without a fence");
    world.execute(FENCE_ALL).unwrap();
    assert!(world.load().is_err_and(|trap| trap.is(Cause::LoadPageFault)));
}

#[test]
fn without_a_buffer_a_changed_entry_is_seen_at_once() {
    let mut world = with_caching(Caching::Off);
    world.map(world.first, 0, READ | LIVE);
    assert_eq!(world.load(), Ok(0));
    world.map(world.first, 1, READ | LIVE);
    assert_eq!(world.load(), Ok(1));
}

#[test]
fn invalid_entries_are_kept_in_the_strictest_mode() {
    for (caching, seen) in [(Caching::Valid, true), (Caching::ValidAndInvalid, false)] {
        let mut world = with_caching(caching);
        assert!(world.load().is_err());
        world.map(world.first, 2, READ | LIVE);
        assert_eq!(world.load().is_ok(), seen, "{caching:?}");
        world.execute(FENCE_ADDRESS).unwrap();
        assert_eq!(world.load(), Ok(2));
    }
}

#[test]
fn more_rights_need_a_fence_too() {
    let mut world = with_caching(Caching::Valid);
    world.map(world.first, 0, READ | LIVE);
    world.load().unwrap();
    world.map(world.first, 0, READ | WRITE | LIVE);
    let trap = world.execute(STORE).unwrap_err();
    assert!(trap.is(Cause::StorePageFault) && trap.value == PAGE + 8);
    world.machine.fence_translations();
    world.execute(STORE).unwrap();
}

#[test]
fn address_spaces_do_not_see_each_other() {
    let mut world = with_caching(Caching::Valid);
    world.map(world.first, 0, READ | LIVE);
    world.map(world.second, 1, READ | LIVE);
    for _ in 0..2 {
        world.machine.csr.satp = world.first.satp();
        assert_eq!(world.load(), Ok(0));
        world.machine.csr.satp = world.second.satp();
        assert_eq!(world.load(), Ok(1));
    }
    // A fence of one leaves the stale entry of the other.
    world.map(world.first, 2, READ | LIVE);
    world.map(world.second, 3, READ | LIVE);
    world.machine.set(A2, 2);
    world.execute(FENCE_SPACE).unwrap();
    assert_eq!(world.load(), Ok(3));
    world.machine.csr.satp = world.first.satp();
    assert_eq!(world.load(), Ok(0));
}

#[test]
fn without_asids_a_switch_needs_a_fence() {
    let mut world = world(Options { asid_bits: 0, ..Options::default() });
    world.map(world.first, 0, READ | LIVE);
    world.map(world.second, 1, READ | LIVE);
    let switch = |world: &mut World, space: AddressSpace| {
        world.machine.csr.write(SATP, Privilege::Supervisor, space.satp()).unwrap();
    };
    let (first, second) = (world.first, world.second);
    switch(&mut world, first);
    assert_eq!(world.load(), Ok(0));
    switch(&mut world, second);
    assert_eq!(world.load(), Ok(0), "the other's translation");
    world.execute(FENCE_ALL).unwrap();
    assert_eq!(world.load(), Ok(1));
}

#[test]
fn accessed_and_dirty_bits_are_softwares_business_by_default() {
    let mut world = with_caching(Caching::Valid);
    world.map(world.first, 0, READ | WRITE);
    assert!(world.load().is_err_and(|trap| trap.is(Cause::LoadPageFault)));
    world.map(world.first, 0, READ | WRITE | ACCESSED);
    assert_eq!(world.load(), Ok(0));
    assert!(world.execute(STORE).is_err_and(|trap| trap.is(Cause::StorePageFault)));

    let options = Options { updates_accessed_dirty: true, ..Options::default() };
    let mut world = self::world(options);
    world.map(world.first, 0, READ | WRITE);
    world.load().unwrap();
    world.execute(STORE).unwrap();
    let location = world.first.entry(&world.machine.memory, PAGE).unwrap();
    assert_eq!(world.machine.memory.read_u64(location).unwrap() & LIVE, LIVE);
    let walks = world.machine.journal.writes.iter().filter(|write| write.virtual_address.is_none());
    assert_eq!(walks.map(|write| write.address).collect::<Vec<_>>(), [location, location]);
}

#[test]
fn user_pages_are_the_supervisors_only_when_it_says_so() {
    let mut world = with_caching(Caching::Valid);
    world.map(world.first, 2, READ | LIVE);
    world.machine.csr.sstatus |= STATUS_SUM;
    assert_eq!(world.load(), Ok(2));
    assert_eq!(world.machine.journal.user_reads, [], "not a user page");
    world.machine.csr.sstatus &= !STATUS_SUM;
    world.machine.fence_translations();
    world.map(world.first, 3, READ | WRITE | EXECUTE | USER | LIVE);
    assert!(world.load().is_err_and(|trap| trap.is(Cause::LoadPageFault)));
    assert_eq!(world.machine.journal.user_reads, []);
    world.machine.csr.sstatus |= STATUS_SUM;
    assert_eq!(world.load(), Ok(3));
    let reads = &world.machine.journal.user_reads;
    assert_eq!(reads.len(), 1);
    assert_eq!((reads[0].virtual_address, reads[0].size, reads[0].value), (PAGE, 8, 3));
    assert_eq!(reads[0].address, FRAMES + 0x3000);
    assert_eq!(world.machine.journal.user_reads_outside(&[(PAGE, 7)]).len(), 1);
    assert_eq!(world.machine.journal.user_reads_outside(&[(PAGE, 8)]), []);
    // Never to execute.
    world.execute(JUMP).unwrap();
    let Step::Trapped(trap) = world.machine.step() else { panic!("it executed a user page") };
    assert!(trap.is(Cause::InstructionPageFault) && trap.value == PAGE);
}

#[test]
fn absent_memory_behind_a_mapping_is_an_access_fault() {
    let mut world = with_caching(Caching::Valid);
    world.map(world.first, 0x1000, READ | WRITE | LIVE);
    assert!(world.load().is_err_and(|trap| trap.is(Cause::LoadAccessFault) && trap.value == PAGE));
    assert!(world.execute(STORE).is_err_and(|trap| trap.is(Cause::StoreAccessFault)));
    let root = world.first.root;
    world.machine.memory.remove(root, 1);
    world.machine.fence_translations();
    assert!(world.execute(LOAD).is_err_and(|trap| trap.is(Cause::InstructionAccessFault)));
}
