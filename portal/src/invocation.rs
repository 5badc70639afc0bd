//! Walks an invocation stack from its topmost frame down (`docs/architecture.md`, "Frames").
//!
//! The supervisor uses it, on threads that do not run meanwhile.

use crate::literal::{
    CallFrame, LITERAL_FRAME, LITERAL_LONGEST, LITERAL_LONGEST_CALL, LITERAL_MARK, LITERAL_RETURN,
    MARK_DEAD, MARK_RETURN,
};
use cairn_abi::DomainId;
use cairn_abi::address::{NUCLEUS, PAGE_SIZE, PORTAL_CODE, PROCESSES};
use cairn_abi::domain::Tables;
use cairn_abi::thread::{
    FIELD_DOMAIN, FIELD_FRAME, FRAME_HEADER, FRAME_RETURN, FRAME_TABLE, THREAD_BLOCK_SIZE,
    TRAP_FRAME, base_frame, thread_block,
};

/// Words of the kernel domain that the caller may read.
pub trait Words {
    /// The word at a kernel address, if it is one of those.
    fn load(&self, address: u64) -> Option<u64>;
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of a call: made in `into` to `callee`.
    Call {
        /// The domain that was called.
        callee: DomainId,
    },
    /// One of the two that a carrier of processes has for good, in `into`.
    Carrier,
    /// Of a trap in `into`.
    Trap,
    /// The bottom: the thread began in `into`.
    Base,
}

/// One frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Kernel address of its header.
    pub header: u64,
    /// What it is.
    pub kind: Kind,
    /// The domain in which the thread goes on when it leaves the frame.
    pub into: DomainId,
    /// It was unwound: the thread leaves it by its dead entry.
    pub dead: bool,
    /// Of a call of an export that declares a longest execution or a longest call, in a walk [with limits](Walk::with_limits).
    pub limit: Option<Limit>,
}

/// A call that must not execute for longer than this, or must be back in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Ticks for which it may execute.
    pub longest: Option<u64>,
    /// Ticks until it has to be back.
    pub longest_call: Option<u64>,
    /// The time of the call, which tells it from a later one at the same place.
    pub stamp: u64,
}

impl Frame {
    /// Offset of the header in the thread's block.
    pub fn offset(&self) -> u64 {
        self.header % THREAD_BLOCK_SIZE
    }

    /// Whether the frame holds the thread in `domain` or brings it back there.
    pub fn names(&self, domain: DomainId) -> bool {
        self.into == domain || self.kind == Kind::Call { callee: domain }
    }
}

/// Whether frames, from the top, hold their thread in `domain` or bring it back there. They do not if
/// the thread only leaves: it was interrupted in the domain, that frame was unwound, and what lies below
/// is the call that brought it there. Whenever it runs, it executes nothing of the domain.
pub fn hold(frames: impl Iterator<Item = Frame>, domain: DomainId) -> bool {
    let mut frames = frames.peekable();
    let leaves = |frame: &Frame| frame.kind == Kind::Trap && frame.into == domain && frame.dead;
    let entered =
        |frame: &Frame| frame.kind == Kind::Call { callee: domain } && frame.into != domain;
    if frames.next_if(leaves).is_some() {
        frames.next_if(entered);
    }
    frames.any(|frame| frame.names(domain))
}

/// The frames of a thread that does not run, from the top.
pub struct Walk<'a, W> {
    words: &'a W,
    trap_return: u64,
    tables: Tables,
    block: u64,
    /// The base frame's header.
    base: u64,
    next: Option<u64>,
    reads_limits: bool,
}

impl<'a, W: Words> Walk<'a, W> {
    /// The frames of thread `index`. `trap_return` and `tables` are from the layout's record.
    pub fn new(words: &'a W, (trap_return, tables): (u64, Tables), index: u64) -> Self {
        let block = thread_block(index as usize);
        let base = block.wrapping_add_signed(base_frame(index as usize));
        let next = words.load(block.wrapping_add_signed(FIELD_FRAME)).filter(|header| *header != 0);
        Walk { words, trap_return, tables, block, base, next, reads_limits: false }
    }

    /// The same with the limits of calls.
    pub fn with_limits(self) -> Self {
        Walk { reads_limits: true, ..self }
    }

    fn word(&self, base: u64, offset: i64) -> Option<u64> {
        self.words.load(base.wrapping_add_signed(offset))
    }

    fn read(&self, header: u64) -> Option<(Frame, Option<u64>)> {
        if !(self.base..=self.block + PAGE_SIZE - FRAME_HEADER as u64).contains(&header) {
            return None;
        }
        if header == self.base {
            let into = DomainId::of_word(self.word(self.block, FIELD_DOMAIN)?)?;
            return Some((
                Frame { header, kind: Kind::Base, into, dead: false, limit: None },
                None,
            ));
        }
        let back = self.word(header, FRAME_RETURN)?;
        if (NUCLEUS..PORTAL_CODE).contains(&back) {
            // The trap return, or its dead entry.
            let below = header.wrapping_add_signed(-TRAP_FRAME);
            let into = match self.word(below, FRAME_TABLE)? {
                // Of a process, whose server runs above the frame below as well.
                PROCESSES.. => self.call(self.word(below, FRAME_RETURN)?)?.2.callee,
                table => self.tables.domain(table)?,
            };
            let dead = back != self.trap_return;
            return Some((
                Frame { header, kind: Kind::Trap, into, dead, limit: None },
                Some(below),
            ));
        }
        let (dead, portal, CallFrame { size, of_carrier, caller, callee }) = self.call(back)?;
        let below = header.checked_sub(size.into()).filter(|below| *below < header)?;
        let kind = if of_carrier { Kind::Carrier } else { Kind::Call { callee } };
        let limit = if self.reads_limits && !dead { self.limit(portal, below) } else { None };
        Some((Frame { header, kind, into: caller, dead, limit }, Some(below)))
    }

    /// What a frame's return address is, if not the trap's: whether a dead entry, its return portal, and what that says.
    fn call(&self, back: u64) -> Option<(bool, u64, CallFrame)> {
        let dead = match self.word(back, LITERAL_MARK)? {
            MARK_RETURN => false,
            MARK_DEAD => true,
            _ => return None,
        };
        let portal = if dead { self.word(back, LITERAL_RETURN)? } else { back };
        Some((dead, portal, CallFrame::of_word(self.word(portal, LITERAL_FRAME)?)))
    }

    /// What the call has for its time by a return portal that began above the frame `below`.
    fn limit(&self, portal: u64, below: u64) -> Option<Limit> {
        let limit = |literal| self.word(portal, literal).filter(|longest| *longest != 0);
        let (longest, longest_call) = (limit(LITERAL_LONGEST), limit(LITERAL_LONGEST_CALL));
        longest.or(longest_call)?;
        let stamp = self.word(below, FRAME_HEADER)?;
        Some(Limit { longest, longest_call, stamp })
    }
}

impl<W: Words> Iterator for Walk<'_, W> {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        let header = self.next.take()?;
        let (frame, below) = self.read(header)?;
        self.next = below;
        Some(frame)
    }
}

#[cfg(test)]
mod tests;
