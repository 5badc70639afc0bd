//! Return portals: one for all portals between the same two ends that have the same way back. They are the only code
//! that invocation stacks name, so they stay when the portals that lead to them are closed, and the next ones lead
//! there again.
//!
//! Those of calls that take an activation are kept with the stack queue. They can go when no portal leads to them and
//! all its activations are at home, because then no thread is inside. All others, into components that run to completion,
//! stay for good: a client has one for each such component and shape.

use crate::machine::Machine;
use cairn_abi::domain::QUEUES_MAXIMUM;
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::{DomainId, InstanceId};
use cairn_portal::generate::{LITERALS, place};
use cairn_portal::literal::*;
use cairn_portal::{Crossing, Limits};
use core::sync::atomic::Ordering;

/// A list of return portals.
#[derive(Clone, Copy)]
pub struct List(usize);

impl List {
    /// Of a client and a stack queue, if its calls take activations.
    pub fn of(client: InstanceId, queue: u16) -> List {
        match usize::from(queue) {
            queue @ ..QUEUES_MAXIMUM => List(queue),
            _ => List(QUEUES_MAXIMUM + client.index()),
        }
    }
}

/// All return portals that were made at run time, as lists in their own literals.
pub struct Returns {
    /// The first granule of the first of each list; zero: none.
    first: [u16; QUEUES_MAXIMUM + INSTANCES_MAXIMUM],
    /// Granules of all.
    granules: u16,
}

fn literal<M: Machine>(machine: &M, back: u64, literal: i64) -> u64 {
    machine.load(back.wrapping_add_signed(literal)).unwrap_or(0)
}

/// Address of the code that begins, behind its literals, at a granule.
pub fn code<M: Machine>(machine: &M, start: u16) -> u64 {
    machine.layout().granule(start) + LITERALS_SIZE as u64
}

impl Returns {
    /// None.
    pub const EMPTY: Returns =
        Returns { first: [0; QUEUES_MAXIMUM + INSTANCES_MAXIMUM], granules: 0 };

    /// Granules of all.
    pub fn granules(&self) -> u16 {
        self.granules
    }

    /// The return portal of this shape, of calls with the limits of this crossing.
    pub fn find<M: Machine>(
        &self,
        machine: &M,
        List(list): List,
        shape: u64,
        crossing: &Crossing,
    ) -> Option<u64> {
        let (caller, callee) = (crossing.caller.domain, crossing.callee.domain);
        // With a client's stacks interposers call on its behalf.
        let ends = CallFrame { size: 0, of_carrier: false, caller, callee }.word() >> 32;
        let mut next = self.first[list];
        while next != 0 {
            let back = code(machine, next);
            let words = machine.code(back - LITERALS_SIZE as u64, LITERALS_SIZE as usize);
            let words = words.first_chunk::<LITERALS>()?;
            let literal = |at: i64| words[place(at)].load(Ordering::Relaxed) as u64;
            let limits = Limits {
                execution: literal(LITERAL_LONGEST),
                call: literal(LITERAL_LONGEST_CALL),
                cancelled: literal(LITERAL_CANCELLED),
            };
            if literal(LITERAL_SHAPE) == shape
                && limits == crossing.limits
                && literal(LITERAL_FRAME) >> 32 == ends
            {
                return Some(back);
            }
            next = literal(LITERAL_NEXT) as u16;
        }
        None
    }

    /// Adds one, of so many granules; the value is what has to be in its literal [`LITERAL_NEXT`].
    pub fn add(&mut self, List(list): List, start: u16, granules: u16) -> u64 {
        self.granules += granules;
        let next = core::mem::replace(&mut self.first[list], start);
        u64::from(next) | u64::from(granules) << 16
    }

    /// Hands over those by which calls come back to a caller that is gone, and that are not in a list of its own: by them it called on
    /// behalf of others.
    pub fn forget_of<M: Machine>(
        &mut self,
        machine: &M,
        caller: DomainId,
        mut forgotten: impl FnMut(u16, u16),
    ) {
        for list in 0..QUEUES_MAXIMUM {
            let mut next = core::mem::take(&mut self.first[list]);
            while next != 0 {
                let (start, back) = (next, code(machine, next));
                let word = literal(machine, back, LITERAL_NEXT);
                let (following, granules) = (word as u16, (word >> 16) as u16);
                next = following;
                if CallFrame::of_word(literal(machine, back, LITERAL_FRAME)).caller == caller {
                    self.granules -= granules;
                    forgotten(start, granules);
                    continue;
                }
                let kept = core::mem::replace(&mut self.first[list], start);
                let word = u64::from(kept) | u64::from(granules) << 16;
                let words = machine.code(back.wrapping_add_signed(LITERAL_NEXT), 8);
                words.iter().for_each(|place| place.store(word as i64, Ordering::Relaxed));
            }
        }
    }

    /// Hands all of a list over, which no thread is in and no portal leads to: first granule and number.
    pub fn forget<M: Machine>(
        &mut self,
        machine: &M,
        List(list): List,
        mut forgotten: impl FnMut(u16, u16),
    ) {
        let mut next = core::mem::take(&mut self.first[list]);
        while next != 0 {
            let word = literal(machine, code(machine, next), LITERAL_NEXT);
            let granules = (word >> 16) as u16;
            self.granules -= granules;
            forgotten(next, granules);
            next = word as u16;
        }
    }
}
