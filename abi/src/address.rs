//! The one virtual address space (39 bits, sign-extended).
//!
//! The lower half belongs to user mode: every instance has a region of its own, so an address is
//! unique in the whole system. The upper half is the kernel domain's; it is mapped in every page
//! table, without the U bit, and each kind of object has a window of its own so that its address
//! is a constant and its number is a bit field of its address.

use crate::identifier::RegionId;
use crate::thread::THREADS_MAXIMUM;

/// Bytes in a page.
pub const PAGE_SIZE: u64 = 4096;
/// Bytes mapped by one leaf page table (512 pages).
pub const LEAF_SPAN: u64 = 512 * PAGE_SIZE;

/// log2 of the bytes in an instance's region.
pub const REGION_SHIFT: u32 = 26;
/// Bytes in an instance's region (64 MiB). Each begins at its [`region`].
pub const REGION_SIZE: u64 = 1 << REGION_SHIFT;
/// Regions whose numbers follow each other lie so far apart that their entries in the root page tables are in
/// different lines of a cache, as many as this. Otherwise all domains' first entries, each in a page of its own,
/// would compete for one set of a small cache, and every switch of domains reads them.
const REGION_SPREAD: u64 = 8;
/// The startup page (see [`crate::startup`]), read-only, at this offset in the region.
pub const STARTUP_OFFSET: u64 = 0x1000;
/// In the kernel domain: the pages of the instance's domain block, read-only. Its calls jump to what words of the portal table say,
/// and one before it, which this brings within reach of a call.
pub const LINKS_OFFSET: u64 = 0x2000;
/// Bytes there at most: a block may begin and end in the middle of a page. What is at indexes that only run time gives is not
/// called there.
pub const LINKS_SIZE: u64 = 3 * PAGE_SIZE;
const _: () = assert!(
    PAGE_SIZE + crate::domain::Tables::LEAST.block_size() <= LINKS_SIZE
        && LINKS_OFFSET + LINKS_SIZE <= INSIDE_OFFSET
);
/// Where a domain has several instances: one page, read-only, of words by the indexes of the domain's portal table. Where one
/// calls another, its word says where the method is, which is called without a portal.
pub const INSIDE_OFFSET: u64 = 0x5000;
/// The page by which an instance says that it serves: its startup page once more, read-only. Where callers wait for that it is
/// mapped from then on. Who reads the word at [`READY_SAID`] says it; who reads the first one waits for it.
pub const READY_OFFSET: u64 = 0x6000;
/// See [`READY_OFFSET`].
pub const READY_SAID: u64 = 8;
/// The instance's log ([`crate::log`]), which it writes. Where it has none, a page of zeros, which it reads: no level is written then.
pub const LOG_OFFSET: u64 = 0x7000;
/// Bytes of a log at most.
pub const LOG_MAXIMUM: u64 = 32 << 10;
const _: () =
    assert!(READY_OFFSET + PAGE_SIZE <= LOG_OFFSET && LOG_OFFSET + LOG_MAXIMUM < IMAGE_OFFSET);
/// An image begins at least this far in its region; below it only what is said above is mapped. A component is linked to
/// begin here, and the host tool moves it up by [`image_spread`].
pub const IMAGE_OFFSET: u64 = 0x1_0000;
/// Device registers are mapped from this offset of the region on, a page-aligned block each. Their entries are not in the first line
/// of a leaf page table, where those of all startup pages and links are.
pub const DEVICES_OFFSET: u64 = 0x0300_0000 + 9 * LINE_SPAN;

/// An *activation* is what one call needs in its callee: a stack and window slots. This is the
/// distance between two of them, if their stacks are small ([`activation_stride`]); they follow the image ([`activation_from`]).
pub const ACTIVATION_STRIDE: u64 = 32 * PAGE_SIZE;
/// The top of an activation's stack, as an offset in the activation. The pages below the stack's
/// size are unmapped (guard).
pub const ACTIVATION_STACK_TOP: u64 = 12 * PAGE_SIZE;
/// Largest stack that such an activation holds: the first page stays unmapped.
pub const ACTIVATION_STACK_SMALL: u64 = 11 * PAGE_SIZE;
/// Largest stack of an activation. What a small one does not hold lies before it.
pub const ACTIVATION_STACK_MAXIMUM: u64 = 1 << 20;
/// The first window slot, as an offset in the activation; slot `k` is `k * WINDOW_SLOT_STRIDE`
/// after it. Between two slots lies an unmapped page.
pub const ACTIVATION_WINDOWS: u64 = 13 * PAGE_SIZE;
/// Largest window: 16 KiB. Larger data goes through a shared section.
pub const WINDOW_MAXIMUM: u64 = 4 * PAGE_SIZE;
/// Distance between two window slots of an activation.
pub const WINDOW_SLOT_STRIDE: u64 = WINDOW_MAXIMUM + PAGE_SIZE;
/// Window slots of an activation.
pub const WINDOW_SLOTS: usize = 3;
// Behind the last one so many pages are nobody's that a window which begins in it ends in the activation.
const _: () = assert!(
    ACTIVATION_WINDOWS + WINDOW_SLOTS as u64 * WINDOW_SLOT_STRIDE + WINDOW_MAXIMUM
        <= ACTIVATION_STRIDE
);
/// Data of at most this many bytes is copied by the portal, more goes through a window.
pub const COPY_MAXIMUM: u64 = 64;
/// Bytes of a callee's stack for such a copy. The copy has the same alignment within a word as the original, so it may
/// begin up to 7 bytes in. A multiple of 16, because stack pointers are.
pub const COPY_STRIDE: u64 = COPY_MAXIMUM + 16;

/// Stack groups: memory of the stacks that members of a group share (portal letter `s`).
/// Group `g` (from 0) owns `STACK_GROUPS + g * STACK_GROUP_SIZE ..`.
///
/// All members have them at the same place of their root tables; that line of entries holds nothing else that many
/// domains use.
pub const STACK_GROUPS: u64 = 0x36_0000_0000 + MIDDLE_SPREAD;
/// log2 of [`STACK_GROUP_SIZE`]; a portal checks membership of a stack pointer by a shift.
pub const STACK_GROUP_SHIFT: u32 = 21;
/// Bytes of address space of one stack group (one leaf page table).
pub const STACK_GROUP_SIZE: u64 = 1 << STACK_GROUP_SHIFT;
/// Distance between the tops of two stacks of a group; the pages between stacks are not mapped.
pub const GROUP_STACK_STRIDE: u64 = 64 * 1024;
/// Most members of a stack group. The last stride stays unused: the pointer of an empty stack that ends at the group's end
/// is outside of the group.
pub const GROUP_MEMBERS_MAXIMUM: usize = (STACK_GROUP_SIZE / GROUP_STACK_STRIDE) as usize - 1;
/// Sections: memory shared by several instances for good. Each has a multiple of [`SECTION_STRIDE`] from here on and lies
/// [`section_spread`] behind its beginning, with pages between it and the next one that are not mapped.
pub const SECTIONS: u64 = 0x3a_0000_0000 + 9 * MIDDLE_SPREAD;
/// Address space of one section, up to this size.
pub const SECTION_STRIDE: u64 = LEAF_SPAN;
/// Most bytes of a section of the description.
pub const SECTION_MAXIMUM: u64 = 8 * SECTION_STRIDE;

/// How far behind the beginning of its addresses a section of this size lies: at line 46 of the leaf page tables. At line 0 its entry in
/// each domain would compete with the words at the beginning of its own page and of the domains' root tables. Larger ones begin where
/// a large page can.
pub const fn section_spread(size: u64) -> u64 {
    const SPREAD: u64 = 46 * LINE_SPAN;
    if SPREAD + size < SECTION_STRIDE { SPREAD } else { 0 }
}

/// The address space that sections of these sizes take, one behind the other.
pub fn sections_span(sizes: impl IntoIterator<Item = u64>) -> u64 {
    sizes.into_iter().map(|size| (size / SECTION_STRIDE + 1) * SECTION_STRIDE).sum()
}

/// In addresses of user mode, only the lowest bits, so many, can be set. In addresses of the kernel domain, all bits above
/// are set.
pub const USER_ADDRESS_BITS: u32 = 38;
/// First address of the kernel domain's half (root page-table entry 256): a mask of the bits that no address of user mode
/// has.
pub const KERNEL: u64 = !0 << USER_ADDRESS_BITS;
/// Distance by which areas that are used together begin further in, within 2 MiB: five lines of page-table entries. If all
/// began at the same place of their leaf page tables, page-table walks for them would compete for one set of a small
/// cache.
const LEAF_SPREAD: u64 = 5 * 8 * PAGE_SIZE;
/// The same for the page tables above: five lines of entries.
const MIDDLE_SPREAD: u64 = 5 * 8 * LEAF_SPAN;

/// The address space of a kernel's area: 80 MiB each.
const fn kernel_span(number: u64) -> u64 {
    KERNEL + number * MIDDLE_SPREAD
}

/// A kernel's area: further in than the one before, in its span.
const fn kernel_area(number: u64) -> u64 {
    kernel_span(number) + (number + 1) * LEAF_SPREAD
}

/// The nucleus' code and data.
pub const NUCLEUS: u64 = kernel_area(0);
/// Portal code with its literals; readable and executable, never writable here.
pub const PORTAL_CODE: u64 = kernel_area(1);
/// Thread blocks, a page each (see [`crate::thread`]). A thread's index is a bit field of their addresses.
pub const THREADS: u64 = kernel_span(2);
/// Domain blocks (see [`crate::domain`]).
pub const DOMAINS: u64 = kernel_area(3);
/// Page tables: the pool from which every page table of the system is taken.
pub const PAGE_TABLES: u64 = kernel_area(4);
/// The kernel's alias of the top page of every activation's stack, where portals copy data to.
pub const STACK_ALIASES: u64 = kernel_area(5);
/// Semaphore words (see [`crate::semaphore`]), also mapped writable in the scheduler.
pub const SEMAPHORES: u64 = kernel_area(6);
/// Activation descriptors and stack queues (see [`crate::domain`]).
pub const ACTIVATIONS: u64 = kernel_area(7);
/// Call counters of a counting build.
pub const COUNTERS: u64 = kernel_area(8);

/// The emulator's test finisher, if the board has one.
pub const FINISHER: u64 = kernel_area(9);

/// Of virtio devices with confined drivers, which do not write them: registers, and tables of descriptors.
pub const DEVICES: u64 = kernel_area(11);
/// What the drivers of virtio devices write as well: rings, and all of the trusted ones' devices.
pub const DEVICE_RINGS: u64 = DEVICES + 16 * LEAF_SPAN;

/// What servers of processes have there ([`crate::process`]): a server's status page, its cells, the domain block of its processes,
/// its pool.
pub const PROCESSES: u64 = kernel_area(12);
/// Bytes of all of it.
pub const PROCESSES_SIZE: u64 = KERNEL_VIEWS - PROCESSES;
/// Where the server of processes has their memory, and its pool, which it only reads: physical address `p` is at this plus `p`.
/// No server has a role.
pub const PROCESS_MEMORY: u64 = ROLE_MEMORY;

/// First address of a region; its bits 26 to 33 are the number.
pub const fn region(region: RegionId) -> u64 {
    let number = region.0 as u64;
    (number % REGION_SPREAD) << (REGION_SHIFT + 8) | number << REGION_SHIFT
}

/// Where the regions of instances in the kernel domain begin, behind all of its areas: as many as those of user mode, at
/// the same distances, by [`kernel_region`].
pub const KERNEL_REGIONS: u64 = KERNEL + 0x20_0000_0000;

/// First address of a region in the kernel domain.
pub const fn kernel_region(number: RegionId) -> u64 {
    KERNEL_REGIONS + region(number)
}

/// Where in the kernel domain the view of a role lies, behind all areas: so far from its beginning as that of user mode is
/// from the view of all memory, whose first address is that of physical address 0.
pub const fn kernel_view(address: u64) -> u64 {
    KERNEL + (address - ROLE_MEMORY)
}
/// Where these begin: memory lies behind.
pub const KERNEL_VIEWS: u64 = KERNEL + 0x4000_0000;
const _: () =
    assert!(KERNEL.is_multiple_of(ROLE_MEMORY) && KERNEL_VIEWS > kernel_stack(THREADS_MAXIMUM));

/// Stacks on which threads execute instances in the kernel domain: that of thread `i` ends at `i + 1` times
/// [`KERNEL_STACK_STRIDE`] from here. Below it nothing is mapped.
pub const KERNEL_STACKS: u64 = kernel_span(10);
/// Distance between the ends of two of them.
pub const KERNEL_STACK_STRIDE: u64 = 128 * 1024;
/// Bytes of one of them.
pub const KERNEL_STACK_SIZE: u64 = 16 * 1024;
/// The bit of a stack pointer that tells the upper half of such a stack.
pub const KERNEL_STACK_HALF_BIT: u32 = KERNEL_STACK_SIZE.ilog2() - 1;

/// The stack pointer of a thread whose kernel stack is empty. It is less than the end, so that each such pointer is in its
/// own stride.
pub const fn kernel_stack(thread: usize) -> u64 {
    KERNEL_STACKS + (thread as u64 + 1) * KERNEL_STACK_STRIDE - 16
}

/// How much further in its region than at [`IMAGE_OFFSET`] an image begins: the leaf page
/// tables' entries of images in regions whose numbers follow each other are in different lines of a cache, and not in
/// the first ones of a page, where the root tables have the regions and the thread blocks their frames.
pub const fn image_spread(region: RegionId) -> u64 {
    (IMAGE_LINES + region.0 as u64 % REGION_SPREAD) * LINE_SPAN
}

/// The addresses that an activation takes with a stack of this size: what lies before it is a multiple of what a small one takes, so
/// that the entries of all stacks' tops stay where [`activation_from`] has them.
pub const fn activation_stride(stack: u64) -> u64 {
    let before = stack.saturating_sub(ACTIVATION_STACK_SMALL);
    before.next_multiple_of(ACTIVATION_STRIDE) + ACTIVATION_STRIDE
}

/// The first offset of a region from `end` on at which an activation may begin: a line of the leaf page tables further
/// in for each region than for the one before, so that the entries of the stacks of those that call each other are
/// in different lines.
pub const fn activation_from(end: u64, region: RegionId) -> u64 {
    let spread = region.0 as u64 % (ACTIVATION_STRIDE / LINE_SPAN) * LINE_SPAN;
    (end + ACTIVATION_STRIDE - spread).next_multiple_of(ACTIVATION_STRIDE) + spread
        - ACTIVATION_STRIDE
}

/// The pages whose entries in a leaf page table are a line of a cache.
const LINE_SPAN: u64 = 8 * PAGE_SIZE;

/// Lines of page-table entries before those of the first image.
const IMAGE_LINES: u64 = 12;

/// Windows of roles, more than 1 GiB apart, spread over the sets of a cache as the kernel's areas are.
const fn role_window(number: u64) -> u64 {
    0x3c_0000_0000 + (number << 30) + (number + 1) * (MIDDLE_SPREAD + LEAF_SPREAD)
}

/// What the components that hold a role map beside their region, each at a fixed address. The
/// layout's record, read-only.
pub const ROLE_RECORD: u64 = role_window(0);
/// The table of which activations belong to which client (see [`crate::domain::client_row`]), writable in the portal
/// manager. It lies before the record, in the same leaf table.
pub const ROLE_CLIENTS: u64 = ROLE_RECORD - 32 * PAGE_SIZE;
/// Semaphore words, writable in the scheduler.
pub const ROLE_SEMAPHORES: u64 = role_window(1);
/// Thread blocks, read-only in the supervisor.
pub const ROLE_THREADS: u64 = role_window(2);
/// Portal code: writable in the portal manager, read-only in the supervisor.
pub const ROLE_PORTAL_CODE: u64 = role_window(3);
/// Domain blocks, writable in the portal manager.
pub const ROLE_DOMAINS: u64 = role_window(4);
/// Stack queues and activation descriptors, writable in the portal manager; the queues alone,
/// read-only, in the scheduler.
pub const ROLE_ACTIVATIONS: u64 = role_window(5);
/// Page tables, writable in the memory manager.
pub const ROLE_PAGE_TABLES: u64 = role_window(6);
/// Call counters, read-only in the portal manager.
pub const ROLE_COUNTERS: u64 = role_window(7);
/// Registers of devices that reach memory by themselves, writable in the device owner.
pub const ROLE_DEVICES: u64 = role_window(8);
/// The logs of all instances, writable in who has the role `logs`.
pub const ROLE_LOGS: u64 = role_window(9);
/// The memory that a reset keeps, writable in the supervisor.
pub const ROLE_KEPT: u64 = role_window(10);
/// The shelf, read-only in who keeps it and in the loader.
pub const ROLE_SHELF: u64 = role_window(11);
/// Physical memory, writable in the memory manager: physical address `p` is at this plus `p`.
pub const ROLE_MEMORY: u64 = 0x20_0000_0000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activations_follow_what_was_before_them() {
        for number in 0..9 {
            let mut places = [
                0,
                1,
                LINE_SPAN,
                ACTIVATION_STRIDE - 1,
                ACTIVATION_STRIDE,
                5 * ACTIVATION_STRIDE + 4096,
            ]
            .map(|end| (end, activation_from(end, RegionId(number))))
            .into_iter();
            assert!(places.all(|(end, from)| (end..end + ACTIVATION_STRIDE).contains(&from)));
            let first = activation_from(LINE_SPAN, RegionId(number));
            let behind = activation_from(first + ACTIVATION_STACK_TOP, RegionId(number));
            assert_eq!(
                behind,
                first + ACTIVATION_STRIDE,
                "no window slot is behind the last activation"
            );
        }
    }

    #[test]
    fn a_section_ends_before_the_addresses_of_the_next() {
        for pages in 1..=SECTION_MAXIMUM / PAGE_SIZE {
            let size = pages * PAGE_SIZE;
            assert!(section_spread(size) + size < sections_span([size]), "{pages} pages");
        }
    }

    #[test]
    fn a_page_before_each_stack_stays_unmapped() {
        for pages in 1..=ACTIVATION_STACK_MAXIMUM / PAGE_SIZE {
            let stride = activation_stride(pages * PAGE_SIZE);
            let top = stride - ACTIVATION_STRIDE + ACTIVATION_STACK_TOP;
            assert!(top - pages * PAGE_SIZE >= PAGE_SIZE, "{pages} pages");
            assert!(stride.is_multiple_of(ACTIVATION_STRIDE));
        }
        assert_eq!(activation_stride(ACTIVATION_STACK_SMALL), ACTIVATION_STRIDE);
    }

    #[test]
    fn stacks_of_four_regions_in_a_row_have_entries_in_different_lines() {
        let line = |number| {
            let stack = activation_from(ACTIVATION_STRIDE, RegionId(number)) + ACTIVATION_STACK_TOP
                - PAGE_SIZE;
            stack / LINE_SPAN % 64
        };
        for first in 0..9 {
            assert!((first + 1..first + 4).all(|other| line(other) != line(first)));
        }
    }
}
