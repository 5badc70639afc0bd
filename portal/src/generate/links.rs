//! The literals of a call portal and its return portal.

use super::Crossing;
use crate::literal::*;

/// Where the parts of a call portal and its return portal lie, in bytes from the beginning. The code
/// of two portals of the same specification is the same (but for `=` and `a`, whose numbers are in
/// instructions); what differs is in the literals, which [`link`] fills in. So a portal can be made of
/// a copy of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Links {
    pub(super) call: usize,
    pub(super) back: usize,
    pub(super) abort: usize,
    pub(super) dead: usize,
    pub(super) frame_size: u64,
}

impl Links {
    /// Of no portal.
    pub const NONE: Links = Links { call: 0, back: 0, abort: 0, dead: 0, frame_size: 0 };

    /// Offset of the call portal's code: what goes into the portal table.
    pub const fn call(&self) -> usize {
        self.call
    }
}

/// Hands over every literal of a pair at `address`, with its offset in bytes. The others are zero.
#[inline(always)]
pub fn link(links: &Links, crossing: &Crossing, address: u64, mut put: impl FnMut(usize, u64)) {
    let at = |offset: usize| address + offset as u64;
    let asid = crossing.callee.satp >> 44 & 0xffff;
    let mut call =
        |literal: i64, word: u64| put(links.call.wrapping_add_signed(literal as isize), word);
    call(LITERAL_MARK, MARK_CALL);
    call(LITERAL_RETURN, at(links.back));
    call(LITERAL_SATP, crossing.callee.satp);
    call(LITERAL_TABLE, crossing.callee.table);
    call(LITERAL_ENTRY, crossing.entry);
    call(LITERAL_STUB, crossing.stub);
    call(LITERAL_STACK, crossing.stack);
    call(LITERAL_CONSTANT, crossing.constant);
    call(LITERAL_SERVICES, crossing.services);
    call(LITERAL_SOURCE, crossing.source);
    call(LITERAL_SOURCE_SIZE, crossing.source_size);
    call(LITERAL_SOURCE_ENTRY, crossing.source_entry);
    call(LITERAL_QUEUE, crossing.queue);
    call(LITERAL_ASID, asid);
    call(LITERAL_FRAME, crossing.counter);
    let mut back =
        |literal: i64, word: u64| put(links.back.wrapping_add_signed(literal as isize), word);
    back(LITERAL_MARK, MARK_RETURN);
    back(LITERAL_ABORT, at(links.abort));
    back(LITERAL_RETURN, at(links.dead));
    back(LITERAL_SATP, crossing.caller.satp);
    back(LITERAL_TABLE, crossing.caller.table);
    back(LITERAL_ENTRY, crossing.waiters);
    back(LITERAL_CONSTANT, crossing.longest_execution);
    back(LITERAL_SERVICES, crossing.services);
    back(LITERAL_QUEUE, crossing.queue);
    back(LITERAL_ASID, asid);
    back(
        LITERAL_FRAME,
        links.frame_size | crossing.caller.domain << 32 | crossing.callee.domain << 48,
    );
    let mut dead =
        |literal: i64, word: u64| put(links.dead.wrapping_add_signed(literal as isize), word);
    dead(LITERAL_MARK, MARK_DEAD);
    dead(LITERAL_ABORT, at(links.dead));
    dead(LITERAL_RETURN, at(links.back));
}
