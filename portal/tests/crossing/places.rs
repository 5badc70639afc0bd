//! What lies where in a world: domains, their memory, physical memory.

use cairn_abi::RegionId;
use cairn_abi::address::*;
use cairn_abi::thread;

/// Runs to completion; upcalls go there.
pub const SCHEDULER: usize = 1;
/// Where the first thread begins.
pub const CLIENT: usize = 2;
/// Who is called.
pub const SERVER: usize = 3;
/// Who is called by the server.
pub const BACKEND: usize = 4;
/// Who is called in the kernel domain, and calls from there.
pub const KERNEL_SERVER: usize = 5;
/// Who is called there by the former.
pub const KERNEL_BACKEND: usize = 6;
/// One past the last domain.
pub const DOMAINS_END: usize = 7;
/// The thread that runs first.
pub const THREAD: usize = 1;
/// Thread blocks.
pub const THREAD_COUNT: usize = 4;

/// Offsets in every domain's region.
pub const STUB: u64 = IMAGE_OFFSET;
/// A bare `ecall`; in the kernel domain `ret`, by which index 0 is called there.
pub const CALL: u64 = IMAGE_OFFSET + 0x8;
/// `lbu a0, 0(a1)`.
pub const LOAD: u64 = IMAGE_OFFSET + 0xc;
/// `sb a0, 0(a1)`.
pub const STORE: u64 = IMAGE_OFFSET + 0x10;
/// `lr.d a0, (a1)`.
pub const LOAD_RESERVED: u64 = IMAGE_OFFSET + 0x14;
/// `sc.d a0, a0, (a1)`.
pub const STORE_CONDITIONAL: u64 = IMAGE_OFFSET + 0x18;
/// Where calls return to.
pub const RESUME: u64 = IMAGE_OFFSET + 0x20;
/// In the kernel domain, a call: interrupts off, `jr t1`.
pub const JUMP: u64 = IMAGE_OFFSET + 0x28;
/// Entry point of a server.
pub const ENTRY: u64 = IMAGE_OFFSET + 0x40;
/// Entry points of the scheduler for upcalls: of a thread's end, then one for each `Upcall`, 16 bytes apart.
pub const UPCALL_ENTRIES: u64 = IMAGE_OFFSET + 0x80;
/// In the kernel domain, the copy routine ([`crate::in_place`]).
pub const COPY: u64 = IMAGE_OFFSET + 0x200;
/// Where a test puts a program.
pub const PROGRAM: u64 = IMAGE_OFFSET + 0x400;
/// Pages that can be read and written.
pub const DATA: u64 = 0x2_0000;
/// How many.
pub const DATA_PAGES: u64 = 16;
/// A page that can only be read; the next is not mapped.
pub const READ_ONLY: u64 = 0x3_1000;
/// A page that can only be executed; the next is not mapped.
pub const EXECUTE_ONLY: u64 = 0x3_3000;
/// Never mapped, nor its neighbours.
pub const NOTHING: u64 = 0x3_6000;
/// Top of the first thread's stack.
pub const STACK: u64 = 0x3_c000;
/// Activations, in a callee.
pub const ACTIVATIONS_OFFSET: u64 = 0x4_0000;
/// The part of a region that portals pass on: one leaf page table.
pub const SOURCE_SIZE: u64 = LEAF_SPAN;
/// Top of a stack in stack group 0, which client and server map.
pub const GROUP_STACK: u64 = STACK_GROUPS + 0x8000;

/// Physical addresses, and how many pages of what a test can use up.
pub const NUCLEUS_PHYSICAL: u64 = 0x8000_0000;
pub const PORTALS_PHYSICAL: u64 = 0x8100_0000;
pub const PORTAL_PAGES: u64 = 64;
pub const THREADS_PHYSICAL: u64 = 0x8200_0000;
pub const DOMAINS_PHYSICAL: u64 = 0x8300_0000;
pub const ACTIVATIONS_PHYSICAL: u64 = 0x8400_0000;
pub const SEMAPHORES_PHYSICAL: u64 = 0x8500_0000;
pub const TABLES_PHYSICAL: u64 = 0x8700_0000;
pub const TABLES_PAGES: u64 = 64;
pub const USER_PHYSICAL: u64 = 0x9000_0000;
pub const GROUP_PHYSICAL: u64 = 0xa000_0000;
pub const KERNEL_STACKS_PHYSICAL: u64 = 0xb000_0000;
pub const DEVICES_PHYSICAL: u64 = 0xc000_0000;
pub const PROCESSES_PHYSICAL: u64 = 0xd000_0000;

/// First address of a domain's region, plus `offset`.
pub fn at(domain: usize, offset: u64) -> u64 {
    let number = RegionId(domain as u16);
    offset + if is_kernel(domain) { kernel_region(number) } else { region(number) }
}

/// Whether a domain is an instance's in the kernel domain.
pub fn is_kernel(domain: usize) -> bool {
    domain >= KERNEL_SERVER
}

/// Physical address of a user or kernel address that a world maps (page tables included).
pub fn physical(address: u64) -> u64 {
    let windows = [
        (PROCESSES, PROCESSES_PHYSICAL),
        (DEVICES, DEVICES_PHYSICAL),
        (KERNEL_STACKS, KERNEL_STACKS_PHYSICAL),
        (PAGE_TABLES, TABLES_PHYSICAL),
        (ACTIVATIONS, ACTIVATIONS_PHYSICAL),
        (SEMAPHORES, SEMAPHORES_PHYSICAL),
        (DOMAINS, DOMAINS_PHYSICAL),
        (THREADS, THREADS_PHYSICAL),
        (PORTAL_CODE, PORTALS_PHYSICAL),
        (NUCLEUS, NUCLEUS_PHYSICAL),
        (STACK_GROUPS, GROUP_PHYSICAL),
    ];
    let aliases = STACK_ALIASES..SEMAPHORES;
    assert!(!aliases.contains(&address), "an alias: use the address that it stands for");
    let is_area = |start: &u64| *start <= address && address < KERNEL_REGIONS;
    if let Some((start, physical)) =
        windows.into_iter().filter(|(start, _)| is_area(start)).max_by_key(|(start, _)| *start)
    {
        return address - start + physical;
    }
    let address = address.checked_sub(KERNEL_REGIONS).unwrap_or(address);
    let offset = address % REGION_SIZE;
    assert!(offset < SOURCE_SIZE, "{address:#x} is nowhere in a test's region");
    USER_PHYSICAL + address / REGION_SIZE * SOURCE_SIZE + offset
}

/// The base frame's header of [`THREAD`].
pub fn base_header() -> u64 {
    thread::thread_block(THREAD).wrapping_add_signed(thread::base_frame(THREAD))
}
