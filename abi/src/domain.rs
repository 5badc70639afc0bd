//! The domain block: all data of a protection domain that privileged code uses.
//!
//! The portal table is the block's last part, and the only one that an index reaches. Before it lie the exception and
//! interrupt entries and the domain's own fields, at negative offsets from the table, because frames hold the table's
//! address.

use crate::address::{ACTIVATIONS, DOMAINS};
use crate::identifier::DomainId;

/// Bytes in a domain block before the portal table. With the table it is no multiple of a page, on purpose: the
/// same entries of several domains' tables lie in different sets of a small cache.
pub const BEFORE_TABLE: u64 = 512 + 64;
/// Bytes in a domain block.
pub const DOMAIN_BLOCK_SIZE: u64 = BEFORE_TABLE + PORTALS_MAXIMUM as u64 * 8;
/// Most domains of a system.
pub const DOMAINS_MAXIMUM: usize = 256;
/// Most instances of one domain.
pub const FELLOWS_MAXIMUM: usize = 8;
/// Entries of a portal table.
pub const PORTALS_MAXIMUM: usize = 512;
/// log2 of [`PORTALS_MAXIMUM`]: an index is in range if nothing remains after this shift.
pub const PORTALS_SHIFT: u32 = 9;

/// Entries of a domain for upcalls; [`arch::trap::slots`](crate::arch::trap::slots) says which are whose.
pub const UPCALL_SLOTS: u8 = 32;
/// From the table: the first of them.
pub const UPCALL_ENTRIES: i64 = -256;
/// From the table: entry `slot` for upcalls.
pub const fn upcall_entry(slot: u8) -> i64 {
    UPCALL_ENTRIES + slot as i64 * 8
}
/// From the table: the domain's space.
pub const FIELD_SPACE: i64 = -264;
/// From the table: the domain's number.
pub const FIELD_NUMBER: i64 = -272;
/// From the table: not zero while the domain is alive.
pub const FIELD_ALIVE: i64 = -280;
/// From the table: raised at each restart.
pub const FIELD_GENERATION: i64 = -288;
/// From the table: where threads that begin in this domain do, if it is in the kernel domain, a word for each instance, none of
/// them zero. Elsewhere the first is: threads begin in user mode, where whoever sets them up says.
pub const FIELD_KERNEL_ENTRIES: i64 = -384;
/// From the table: where the copy routine of an instance in the kernel domain begins, ends, and goes on if it cannot reach its
/// memory. Elsewhere zero.
pub const FIELD_COPY_BEGIN: i64 = -304;
/// See [`FIELD_COPY_BEGIN`].
pub const FIELD_COPY_END: i64 = -312;
/// See [`FIELD_COPY_BEGIN`].
pub const FIELD_COPY_LANDING: i64 = -320;
/// From the table: the name of the domain's component, [`crate::descriptor::NAME_SIZE`] bytes.
pub const FIELD_NAME: i64 = -512;

/// From the table: where threads of an instance in the kernel domain leave it, which no index may lead to.
pub const FIELD_KERNEL_RETURN: i64 = -520;
const _: () =
    assert!(FIELD_KERNEL_RETURN >= -(BEFORE_TABLE as i64) && FIELD_KERNEL_RETURN + 8 <= FIELD_NAME);

/// Address of the portal table of a domain.
pub const fn portal_table(domain: DomainId) -> u64 {
    DOMAINS + domain.0 as u64 * DOMAIN_BLOCK_SIZE + BEFORE_TABLE
}

/// Index of the return portal: it leaves the frame on top of the invocation stack.
pub const PORTAL_RETURN: usize = 0;
/// Short-circuit: number of the caller's domain.
pub const PORTAL_OWN_DOMAIN: usize = 1;
/// Short-circuit: index of the calling thread.
pub const PORTAL_OWN_THREAD: usize = 2;
/// Short-circuit: the time, in ticks of the board's time base.
pub const PORTAL_TIME: usize = 3;
/// The first index that the system description assigns: imports in the order the component
/// declares them, a consecutive entry for each method.
pub const PORTAL_FIRST_IMPORT: usize = 16;

/// An activation descriptor: a stack of a callee with its window slots (see
/// [`crate::address::ACTIVATION_STRIDE`]). Offset of the address of the next free one.
pub const ACTIVATION_NEXT: i64 = 0;
/// Offset of the user-mode address of the stack's top.
pub const ACTIVATION_STACK: i64 = 8;
/// Offset of what to add to an address in the stack's top page to get its kernel alias.
pub const ACTIVATION_ALIAS: i64 = 16;
/// Offset of the kernel address of the page-table entry of the first window page.
pub const ACTIVATION_WINDOW_ENTRY: i64 = 24;
/// Offset of the user-mode address of that page.
pub const ACTIVATION_WINDOW: i64 = 32;
/// Most activations of a system.
pub const ACTIVATIONS_MAXIMUM: usize = 2048;
/// Bytes in an activation descriptor: a line of a cache.
pub const ACTIVATION_SIZE: u64 = 64;

/// A stack queue: the free activations of a callee for one client. Offset of the first free one.
pub const QUEUE_FIRST: i64 = 0;
/// Bytes in a stack queue.
pub const QUEUE_SIZE: u64 = 8;
/// Most stack queues of a system.
pub const QUEUES_MAXIMUM: usize = 1024;

/// Address of stack queue `index`.
pub const fn stack_queue(index: usize) -> u64 {
    ACTIVATIONS + index as u64 * QUEUE_SIZE
}

/// Address of activation descriptor `index`, behind the stack queues.
pub const fn activation(index: usize) -> u64 {
    ACTIVATIONS + QUEUES_MAXIMUM as u64 * QUEUE_SIZE + index as u64 * ACTIVATION_SIZE
}

/// Words of a row of clients.
pub const CLIENT_ROW_WORDS: usize = ACTIVATIONS_MAXIMUM / 64;

/// Bytes from the start of the clients ([`crate::address::ROLE_CLIENTS`]) to a client's row: a bit for each activation of
/// the record's table, set while it belongs to a stack queue of the client. By it the memory manager finds the windows that
/// the client's threads have open, without reading other clients' activations.
pub const fn client_row(client: u64) -> u64 {
    client * CLIENT_ROW_WORDS as u64 * 8
}
