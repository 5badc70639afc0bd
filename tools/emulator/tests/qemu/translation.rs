//! Sv39: random page-table entries, random accesses from both modes; the faults, the data, and the
//! accessed and dirty bits.

use crate::harness::{DATA, LOG_POINTER, PROGRAM, Program, RESUME};
use cairn_emulator::encode::*;
use cairn_emulator::mmu::{ACCESSED, DIRTY, EXECUTE, GLOBAL, READ, USER, VALID, WRITE};
use cairn_emulator::{AddressSpace, Cause, Machine, Memory, Options, PAGE_SIZE, Tables};
use fastrand::Rng;

const CASES: usize = 4000;
/// Physical memory of the page tables.
const TABLES: u64 = DATA + 0xa0_0000;
const TABLE_PAGES: u64 = 64;
/// Physical pages that the tested addresses lead to, full of jumps to [`RESUME`].
const TARGET: u64 = DATA + 0x20_0000;
/// Physical addresses at which the QEMU machine has nothing.
const NOTHING: u64 = 0x50_0000;
/// Pages with a random entry.
const PAGES: u64 = 0x4000_0000;
const PAGE_COUNT: u64 = 128;
/// Entries of the level above.
const LARGE: u64 = 0x6000_0000;
const LARGE_COUNT: u64 = 24;
const LARGE_SIZE: u64 = 0x20_0000;
/// Where user-mode code lies, virtual and physical.
const USER_CODE: u64 = 0x7000_0000;
const USER_CODE_PHYSICAL: u64 = DATA + 0x1000;

const SSTATUS: u16 = 0x100;
const SEPC: u16 = 0x141;
const SATP: u16 = 0x180;
const SUPERVISOR_BEFORE: u64 = 1 << 8;
const USER_MEMORY_AND_EXECUTABLE: u64 = 3 << 18;

const ADDRESS: u8 = 6;
const VALUE: u8 = 7;
const WRITTEN: u8 = 8;
const TEMPORARY: u8 = 9;

fn entry(physical: u64, flags: u64) -> u64 {
    physical >> 12 << 10 | flags
}

/// Mostly sensible flags, one of them wrong, or any.
fn flags(random: &mut Rng) -> u64 {
    let good = VALID | READ | WRITE | EXECUTE | ACCESSED | DIRTY;
    let user = if random.bool() { USER } else { 0 };
    match random.u8(0..6) {
        0 => good | user,
        1 | 2 => (good | user) & !(1 << random.u32(0..8)),
        3 => (good | user) & !random.u64(0..256) | VALID,
        4 => good | user | 1 << random.u32(54..64),
        _ => random.u64(0..1024),
    }
}

/// The page tables, in a memory of their own.
fn build(random: &mut Rng) -> (Memory, AddressSpace) {
    let mut memory = Memory::new();
    let mut tables = Tables::new(&mut memory, TABLES, TABLE_PAGES);
    let space = AddressSpace::new(&mut tables, 5);
    let all = READ | WRITE | EXECUTE | ACCESSED | DIRTY;
    let pages = 0x300_0000 / PAGE_SIZE;
    let start = PROGRAM & !0xfff_ffff;
    space.map(&mut memory, &mut tables, start, start, pages, all | GLOBAL);
    let user = READ | EXECUTE | USER | ACCESSED;
    space.map(&mut memory, &mut tables, USER_CODE, USER_CODE_PHYSICAL, 1, user);
    space.map(&mut memory, &mut tables, PAGES, TARGET, PAGE_COUNT, all);
    for page in 0..PAGE_COUNT {
        let location = space.entry(&memory, PAGES + page * PAGE_SIZE).unwrap();
        let nothing = page % 4 == 0 && random.u8(0..4) == 0;
        let physical = if nothing { NOTHING } else { TARGET + page * PAGE_SIZE };
        memory.write_u64(location, entry(physical, flags(random))).unwrap();
    }
    let root_entry = memory.read_u64(space.root + (LARGE >> 30) * 8).unwrap();
    assert_ne!(root_entry, 0, "the same gigabyte as the pages");
    let table = root_entry >> 10 << 12;
    // A leaf table behind the pointers among the entries.
    let leaf_table = TABLES + (TABLE_PAGES - 1) * PAGE_SIZE;
    for page in 0..512 {
        memory.write_u64(leaf_table + page * 8, entry(TARGET, all | VALID)).unwrap();
    }
    for number in 0..LARGE_COUNT {
        let new = match random.u8(0..4) {
            0 => entry(leaf_table, VALID | random.u64(0..256) & (GLOBAL | USER | ACCESSED | DIRTY)),
            1 => entry(leaf_table, VALID),
            2 => entry(TARGET + PAGE_SIZE, flags(random)),
            _ => entry(TARGET, flags(random)),
        };
        let index = (LARGE + number * LARGE_SIZE) >> 21 & 511;
        memory.write_u64(table + index * 8, new).unwrap();
    }
    (memory, space)
}

fn address(random: &mut Rng) -> u64 {
    let base = match random.u8(0..8) {
        // Addresses whose upper bits do not repeat bit 38.
        0 => PAGES + (1 << 39),
        1 if random.bool() => PAGES | u64::MAX << 39,
        1 => PAGES | 1 << 38,
        2 | 3 => LARGE + random.u64(0..LARGE_COUNT) * LARGE_SIZE,
        _ => PAGES + random.u64(0..PAGE_COUNT) * PAGE_SIZE,
    };
    // The first half of a page keeps its jumps, the other is written to.
    base + 2048 + random.u64(0..256) * 8
}

/// Pushes one access; what it loads is logged, a trap by the handler.
fn push_case(program: &mut Program, random: &mut Rng) {
    let kind = random.u8(0..3);
    let (mut address, status) = (address(random), random.u64(..) & USER_MEMORY_AND_EXECUTABLE);
    match kind {
        2 => address &= !0x800,
        // Across the end of a page, with memory on both sides. Stores only: of such a load QEMU
        // reports a rounded address.
        1 if random.u8(0..8) == 0 => address = address & !0x3fff | 0x1ffc,
        _ => {}
    }
    program.extend(constant(TEMPORARY, USER_MEMORY_AND_EXECUTABLE | SUPERVISOR_BEFORE));
    program.push(csrrc(0, SSTATUS, TEMPORARY));
    program.extend(constant(TEMPORARY, status));
    program.push(csrrs(0, SSTATUS, TEMPORARY));
    program.extend(constant(ADDRESS, address));
    program.extend(constant(WRITTEN, random.u64(..)));
    program.push(addi(VALUE, 0, 0));
    if random.bool() {
        program.push_trapping(access(kind));
    } else {
        program.extend(constant(TEMPORARY, USER_CODE + 8 * u64::from(kind)));
        program.push(csrrw(0, SEPC, TEMPORARY));
        program.push_trapping(SRET);
    }
    program.extend([sd(VALUE, LOG_POINTER, 0), addi(LOG_POINTER, LOG_POINTER, 8)]);
    program.push(sfence_vma(0, 0));
}

fn access(kind: u8) -> u32 {
    match kind {
        0 => ld(VALUE, ADDRESS, 0),
        1 => sd(WRITTEN, ADDRESS, 0),
        _ => jalr(0, ADDRESS, 0),
    }
}

fn compare(seed: u64) -> Machine {
    let mut random = Rng::with_seed(seed);
    let (memory, space) = build(&mut random);
    let mut program = Program::new();
    let table_size = TABLE_PAGES * PAGE_SIZE;
    program.preload(TABLES, memory.read(TABLES, table_size as usize).unwrap());
    let jumps = vec![jalr(0, RESUME, 0); (2 * LARGE_SIZE / 4) as usize];
    program.preload(TARGET, bytes(&jumps));
    let user: Vec<u32> = (0..3).flat_map(|kind| [access(kind), ECALL]).collect();
    program.preload(USER_CODE_PHYSICAL, bytes(&user));
    program.extend(constant(TEMPORARY, space.satp()));
    program.extend([csrrw(0, SATP, TEMPORARY), sfence_vma(0, 0)]);
    for _ in 0..CASES {
        push_case(&mut program, &mut random);
    }
    program.extend([csrrw(0, SATP, 0), sfence_vma(0, 0)]);
    let options = Options { updates_accessed_dirty: true, ..Options::default() };
    let written = (TARGET, PAGE_COUNT * PAGE_SIZE);
    program.compare(&format!("translation-{seed}"), options, &[written, (TABLES, table_size)])
}

#[test]
fn random_page_tables_do_the_same_as_in_qemu() {
    let machines: Vec<Machine> = (1..4).map(compare).collect();
    // That it compared something worth comparing:
    let journals = || machines.iter().map(|machine| &machine.journal);
    for cause in [
        Cause::InstructionAccessFault,
        Cause::LoadAccessFault,
        Cause::StoreAccessFault,
        Cause::UserCall,
        Cause::InstructionPageFault,
        Cause::LoadPageFault,
        Cause::StorePageFault,
    ] {
        let count =
            journals().flat_map(|journal| &journal.traps).filter(|trap| trap.is(cause)).count();
        assert!(count > 20, "only {count} traps with {cause:?}");
    }
    let loads: usize = journals().map(|journal| journal.user_reads.len()).sum();
    assert!(loads > 20, "only {loads} loads of user memory by the supervisor");
    let writes = journals().flat_map(|journal| &journal.writes);
    let updates = writes.filter(|write| write.virtual_address.is_none()).count();
    assert!(updates > 20, "only {updates} updates of accessed and dirty bits");
}
