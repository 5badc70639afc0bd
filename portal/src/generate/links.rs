//! The literals of a call portal and of its return portal.

use super::Crossing;
use crate::literal::*;
use crate::plan::Source;
use cairn_abi::semaphore::{NOTED_WORD, semaphore_word};

/// Where the entries of a return portal lie, in bytes from the beginning of its buffer, and how it moves the frame
/// pointer. The code of two portals of the same specification is the same (but for `=` and `a`, whose numbers are in
/// instructions); what differs is in the literals. So a portal can be made of a copy of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Links {
    pub(super) back: usize,
    pub(super) abort: usize,
    pub(super) dead: usize,
    pub(super) frame_size: u16,
}

impl Links {
    /// Of no portal.
    pub const NONE: Links = Links { back: 0, abort: 0, dead: 0, frame_size: 0 };

    /// Offset of the literals before the dead entry, which lies in the return portal's code.
    pub const fn dead_literals(&self) -> usize {
        self.dead - DEAD_LITERALS * 8
    }
}

/// Literals before the code of a call or return portal.
pub const LITERALS: usize = LITERALS_SIZE as usize / 8;

/// Literals before a dead entry.
pub const DEAD_LITERALS: usize = 3;
const _: () =
    assert!(LITERAL_RETURN == -24 && LITERAL_ABORT == -16 && LITERAL_MARK == -8, "in this order");

const _: () = assert!(LITERAL_BEHALF == LITERAL_SOURCE_ENTRY, "one place, whichever it is");

/// Place of a literal among those before its code.
pub const fn place(literal: i64) -> usize {
    ((LITERALS_SIZE + literal) / 8) as usize
}

#[inline(always)]
fn literals(words: &[(i64, u64)]) -> [u64; LITERALS] {
    let mut literals = [0; LITERALS];
    words.iter().for_each(|(literal, word)| literals[place(*literal)] = *word);
    literals
}

/// The literals of a call portal whose return portal is at `back`.
#[inline(always)]
pub fn call_literals(crossing: &Crossing, back: u64) -> [u64; LITERALS] {
    let (source, source_size) = match crossing.source {
        Source::Memory { first, size } => (first, size),
        Source::Semaphore(index) => (semaphore_word(index), NOTED_WORD),
    };
    let mut literals = literals(&[
        (LITERAL_MARK, MARK_CALL),
        (LITERAL_INDEX, crossing.index),
        (LITERAL_RETURN, back),
        (LITERAL_SPACE, crossing.callee.space.word()),
        (LITERAL_TABLE, crossing.callee.table),
        (LITERAL_ENTRY, crossing.entry),
        (LITERAL_STUB, crossing.stub),
        (LITERAL_STACK, crossing.ground.address()),
        (LITERAL_CONSTANT, crossing.constant),
        (LITERAL_SERVICES, crossing.services),
        (LITERAL_SOURCE, source),
        (LITERAL_SOURCE_SIZE, source_size),
        (LITERAL_SOURCE_ENTRY, crossing.behalf.map_or(crossing.source_entry, |of| of.queue)),
        (LITERAL_QUEUE, crossing.queue),
        (LITERAL_IDENTIFIER, crossing.callee.space.identifier()),
        (LITERAL_COUNTER, crossing.counter),
    ]);
    if crossing.is_limited() {
        literals[place(crossing.limits_literal())] = crossing.grant;
    }
    literals
}

/// The literals of a return portal whose buffer is at `address`, and those before its dead entry.
pub fn return_literals(
    links: &Links,
    crossing: &Crossing,
    address: u64,
) -> ([u64; LITERALS], [u64; DEAD_LITERALS]) {
    let at = |offset: usize| address + offset as u64;
    let (caller, callee) = (crossing.caller.domain, crossing.callee.domain);
    let literals = literals(&[
        (LITERAL_MARK, MARK_RETURN),
        (LITERAL_ABORT, at(links.abort)),
        (LITERAL_RETURN, at(links.dead)),
        (LITERAL_SPACE, crossing.caller.space.word()),
        (LITERAL_TABLE, crossing.caller.table),
        (LITERAL_WAITERS, crossing.waiters),
        (LITERAL_LONGEST, crossing.limits.execution),
        (LITERAL_LONGEST_CALL, crossing.limits.call),
        (LITERAL_CANCELLED, crossing.limits.cancelled),
        (LITERAL_SERVICES, crossing.services),
        (LITERAL_QUEUE, crossing.queue),
        (LITERAL_IDENTIFIER, crossing.callee.space.identifier()),
        (
            LITERAL_FRAME,
            CallFrame { size: links.frame_size, of_carrier: false, caller, callee }.word(),
        ),
    ]);
    (literals, [at(links.back), at(links.dead), MARK_DEAD])
}
