//! The literals of a call portal and its return portal.

use super::Crossing;
use crate::literal::*;
use core::ops::Range;

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

    /// The ranges of bytes that are code, in `size` bytes of a pair: what lies between the literals.
    pub const fn code(&self, size: usize) -> [Range<usize>; 3] {
        let literals = LITERALS_SIZE as usize;
        [self.call..self.back - literals, self.back..self.dead - DEAD_LITERALS, self.dead..size]
    }
}

/// Literals of one part of a pair.
const LITERALS: usize = LITERALS_SIZE as usize / 8;

/// Bytes of the literals before a dead entry.
const DEAD_LITERALS: usize = 24;
const _: () =
    assert!(LITERAL_RETURN == -24 && LITERAL_ABORT == -16 && LITERAL_MARK == -8, "in this order");

/// Place of a literal among those of its part.
const fn place(literal: i64) -> usize {
    ((LITERALS_SIZE + literal) / 8) as usize
}

/// Hands over the literals of a pair at `address`, part by part, each with the offset in bytes of its first.
#[inline(always)]
pub fn link(links: &Links, crossing: &Crossing, address: u64, mut put: impl FnMut(usize, &[u64])) {
    let at = |offset: usize| address + offset as u64;
    let asid = cairn_abi::page_table::identifier(crossing.callee.satp);
    let mut part = |offset: usize, literals: &[(i64, u64)]| {
        let mut words = [0; LITERALS];
        literals.iter().for_each(|(literal, word)| words[place(*literal)] = *word);
        put(offset - LITERALS_SIZE as usize, &words);
    };
    part(
        links.call,
        &[
            (LITERAL_MARK, MARK_CALL),
            (LITERAL_RETURN, at(links.back)),
            (LITERAL_SATP, crossing.callee.satp),
            (LITERAL_TABLE, crossing.callee.table),
            (LITERAL_ENTRY, crossing.entry),
            (LITERAL_STUB, crossing.stub),
            (LITERAL_STACK, crossing.stack),
            (LITERAL_CONSTANT, crossing.constant),
            (LITERAL_SERVICES, crossing.services),
            (LITERAL_SOURCE, crossing.source),
            (LITERAL_SOURCE_SIZE, crossing.source_size),
            (LITERAL_SOURCE_ENTRY, crossing.source_entry),
            (LITERAL_QUEUE, crossing.queue),
            (LITERAL_ASID, asid),
            (LITERAL_FRAME, crossing.counter),
        ],
    );
    let domains = crossing.caller.domain << 32 | crossing.callee.domain << 48;
    part(
        links.back,
        &[
            (LITERAL_MARK, MARK_RETURN),
            (LITERAL_ABORT, at(links.abort)),
            (LITERAL_RETURN, at(links.dead)),
            (LITERAL_SATP, crossing.caller.satp),
            (LITERAL_TABLE, crossing.caller.table),
            (LITERAL_ENTRY, crossing.waiters),
            (LITERAL_CONSTANT, crossing.limits.execution),
            (LITERAL_STUB, crossing.limits.call),
            (LITERAL_STACK, crossing.limits.cancelled),
            (LITERAL_SERVICES, crossing.services),
            (LITERAL_QUEUE, crossing.queue),
            (LITERAL_ASID, asid),
            (LITERAL_FRAME, links.frame_size | domains),
        ],
    );
    // The dead entry lies in the return portal's code, and has these three alone.
    put(links.dead - DEAD_LITERALS, &[at(links.back), at(links.dead), MARK_DEAD]);
}
