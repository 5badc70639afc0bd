//! Grants: what one instance passed on to another of what it holds.
//!
//! The portals of a grant that is limited look at two words in the kernel's half, which the portal manager sets: how many
//! calls are left, and until when there may be any.

use crate::InstanceId;
use crate::address::ACTIVATIONS;
use crate::domain::{QUEUE_SIZE, QUEUES_MAXIMUM};

/// Most grants at a time, offered ones included.
pub const GRANTS_MAXIMUM: usize = 512;
/// Most grants that one client bears: those that it made, and what others may make of these. So many are revoked in one step.
pub const GRANTS_OF_CLIENT: usize = 128;

/// The words of a limited grant. Offset of the number of calls that are left.
pub const LIMIT_USES: i64 = 0;
/// Offset of the tick from which on no call is let in.
pub const LIMIT_UNTIL: i64 = 8;
/// Bytes of both.
pub const LIMITS_SIZE: u64 = 16;
/// Calls that are left, or a time, where there is no such limit: it is never reached.
pub const UNLIMITED: u64 = u64::MAX;

/// Address of the words of a grant, behind the stack queues.
pub const fn limits(grant: usize) -> u64 {
    ACTIVATIONS + QUEUES_MAXIMUM as u64 * QUEUE_SIZE + grant as u64 * LIMITS_SIZE
}

/// What the receiver of a grant may do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    /// A bit for each method that it may call, the first method's the lowest.
    pub methods: u32,
    /// How many grants may come of this one: how often it may be passed on, by its receiver and by theirs together. Zero: never.
    pub passes: u16,
    /// How many calls it may make; zero: any number.
    pub uses: u32,
    /// The tick from which on it may make none; zero: never.
    pub until: u64,
}

impl Rights {
    /// Whether its portals look at words.
    pub const fn is_limited(&self) -> bool {
        self.uses != 0 || self.until != 0
    }
}

/// Who is at the other end of a grant, as an instance says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// The server that a portal of its own leads to, by its index.
    Behind(u32),
    /// An instance, which a portal named to it as its caller.
    Instance(InstanceId),
}

impl Peer {
    /// In a word, what tells an instance from an index.
    const INSTANCE: u64 = 1 << 32;

    /// The word that says it.
    pub const fn word(self) -> u64 {
        match self {
            Peer::Behind(index) => index as u64,
            Peer::Instance(instance) => Peer::INSTANCE | instance.0 as u64,
        }
    }

    /// What a word says.
    pub const fn of_word(word: u64) -> Option<Peer> {
        match word {
            0..Peer::INSTANCE => Some(Peer::Behind(word as u32)),
            _ if word >> 16 == Peer::INSTANCE >> 16 => {
                Some(Peer::Instance(InstanceId(word as u16)))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_says_who_is_meant() {
        for peer in [
            Peer::Behind(0),
            Peer::Behind(u32::MAX),
            Peer::Instance(InstanceId(0)),
            Peer::Instance(InstanceId(u16::MAX)),
        ] {
            assert_eq!(Peer::of_word(peer.word()), Some(peer));
        }
        for word in [1 << 32 | 1 << 16, 1 << 33, u64::MAX] {
            assert_eq!(Peer::of_word(word), None);
        }
    }
}
