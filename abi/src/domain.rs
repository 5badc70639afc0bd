//! The domain block: all data of a protection domain that privileged code uses.
//!
//! The portal table is the block's last part, and the only one that an index reaches. Before it lie the exception and
//! interrupt entries and the domain's own fields, at negative offsets from the table, because frames hold the table's
//! address.

use crate::address::{ACTIVATIONS, DOMAINS};
use crate::identifier::DomainId;
use crate::parameter_data::{DATA_WORDS, data_word};

/// Bytes in a domain block before the portal table. With the table it is no multiple of a page, on purpose: the
/// same entries of several domains' tables lie in different sets of a small cache.
pub const BEFORE_TABLE: u64 = 512 + 64;
/// Most domains of a system.
pub const DOMAINS_MAXIMUM: usize = 256;
/// Most instances of one domain.
pub const FELLOWS_MAXIMUM: usize = 8;
/// Most entries of a portal table in any system: the trap entry compares an index with an immediate of 12 bits, which has a sign.
pub const PORTALS_MAXIMUM: usize = 1984;
/// Entries of the tables of a system that does not need more; and most of what the description alone puts into one.
pub const PORTALS_DESCRIBED: usize = 512;
/// Entries that are left in each table for what its instances open, beside what is kept for them.
pub const PORTALS_OPENED: usize = 32;
/// Most that run time can add to what the description puts into one.
pub const PORTALS_ADDED: usize = PORTALS_MAXIMUM - PORTALS_DESCRIBED;
/// Bytes of portal code that are counted for a portal that run time adds; only one with windows takes more.
pub const PORTAL_CODE_EACH: u64 = 512;
/// Bytes by which portal code is given out at run time.
pub const GRANULE: u64 = 128;
/// Most such pieces, with a number that means none.
pub const GRANULES_MAXIMUM: usize = 65472;
/// Most blocks of portals that there are at run time: what one opening, an object, a semaphore or a lock has.
pub const BLOCKS_MAXIMUM: usize = 2048;
/// Least blocks that each client of the portal manager has, whatever the description gives others.
pub const BLOCKS_OF_CLIENT: usize = 4;
/// Bits of an index of a portal table.
pub const PORTALS_BITS: u32 = usize::BITS - (PORTALS_MAXIMUM - 1).leading_zeros();
const _: () = assert!(PORTALS_MAXIMUM < 1 << 11 && PORTALS_DESCRIBED <= PORTALS_MAXIMUM);

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

/// The domain blocks of a system, whose portal tables all have the same number of entries.
#[derive(Clone, Copy, Debug)]
pub struct Tables(u64);

impl Tables {
    /// Tables of [`PORTALS_DESCRIBED`] entries.
    pub const LEAST: Tables = Tables::of(PORTALS_DESCRIBED as u64);

    /// Tables of so many entries.
    pub const fn of(entries: u64) -> Tables {
        Tables(entries)
    }

    /// Entries of each.
    pub const fn entries(self) -> usize {
        self.0 as usize
    }

    /// Bytes in a domain block.
    pub const fn block_size(self) -> u64 {
        BEFORE_TABLE + self.0 * 8
    }

    /// Address of the portal table of a domain.
    pub const fn portal_table(self, domain: DomainId) -> u64 {
        DOMAINS + domain.0 as u64 * self.block_size() + BEFORE_TABLE
    }

    /// The domain whose portal table this is.
    pub const fn domain(self, table: u64) -> Option<DomainId> {
        match table.checked_sub(self.portal_table(DomainId(0))) {
            // The nucleus has no panic, for a division either.
            Some(offset) => match offset.checked_div(self.block_size()) {
                Some(number) => DomainId::of_word(number),
                None => None,
            },
            None => None,
        }
    }
}

/// Index of the return portal: it leaves the frame on top of the invocation stack.
pub const PORTAL_RETURN: usize = 0;
/// In its place: that of page faults, which no index reaches.
pub const PORTAL_OF_FAULTS: usize = 0;
/// Short-circuit: number of the caller's domain.
pub const PORTAL_OWN_DOMAIN: usize = 1;
/// Short-circuit: index of the calling thread.
pub const PORTAL_OWN_THREAD: usize = 2;
/// Short-circuit: the time, in ticks of the board's time base.
pub const PORTAL_TIME: usize = 3;
/// In the word with which an interposer is entered, above the index of its own table: the index by which the client called.
pub const CLIENT_INDEX_SHIFT: u32 = 16;
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
/// The last of them never has an activation: whoever calls an instance that is held waits for one. Those before are for calls.
pub const HELD_QUEUE: usize = QUEUES_MAXIMUM - 1;

/// Address of stack queue `index`.
pub const fn stack_queue(index: usize) -> u64 {
    ACTIVATIONS + index as u64 * QUEUE_SIZE
}

/// Address of activation descriptor `index`, behind the stack queues, the limits of grants and the data of parameter types.
pub const fn activation(index: usize) -> u64 {
    data_word(DATA_WORDS) + index as u64 * ACTIVATION_SIZE
}

/// Words of a row of clients.
pub const CLIENT_ROW_WORDS: usize = ACTIVATIONS_MAXIMUM / 64;

/// Bytes from the start of the clients ([`crate::address::ROLE_CLIENTS`]) to a client's row: a bit for each activation of
/// the record's table, set while it belongs to a stack queue of the client. By it the memory manager finds the windows that
/// the client's threads have open, without reading other clients' activations.
pub const fn client_row(client: u64) -> u64 {
    client * CLIENT_ROW_WORDS as u64 * 8
}
