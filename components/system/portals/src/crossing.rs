//! What one portal is made of, and its words.

use crate::blocks::{Kind, NO_INSTANCE};
use cairn_abi::descriptor::{LETTERS_SIZE, is_name};
use cairn_abi::record::Method;
use cairn_abi::{Error, InstanceId};
use cairn_portal::{Parameters, SemaphoreOperation, Specification, Trust};
use core::sync::atomic::{AtomicI64, Ordering};

/// To what a block of portals leads.
#[derive(Clone, Copy)]
pub struct Target {
    /// What it leads to.
    pub kind: Kind,
    /// The instance that serves it.
    pub server: InstanceId,
    /// The instance with whose death the block ends, or none.
    pub owner: InstanceId,
    /// `c`.
    pub constant: u64,
    /// Address of the words of a limited grant; zero: none.
    pub limits: u64,
    /// Nothing, but for measurements: trust comes from the description only.
    pub trust: Trust,
}

impl Target {
    /// What `server` serves to all, in the trust of the description.
    pub fn of(kind: Kind, server: InstanceId) -> Target {
        let trust = Trust::default();
        Target { kind, server, owner: NO_INSTANCE, constant: 0, limits: 0, trust }
    }

    /// The same, until `owner` dies.
    pub fn ends_with(self, owner: InstanceId) -> Target {
        Target { owner, ..self }
    }
}

/// One method of a block.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its letters.
    pub letters: [u8; LETTERS_SIZE],
    /// Its entry point.
    pub entry: u64,
    /// Of a semaphore: which of the hybrid portals.
    pub operation: Option<SemaphoreOperation>,
    /// It gives a lock back: no call of a limited grant, and never too late.
    pub gives_back: bool,
}

impl Entry {
    /// An entry point that nothing stands in for.
    pub fn plain(letters: [u8; LETTERS_SIZE], entry: u64) -> Entry {
        Entry { letters, entry, operation: None, gives_back: false }
    }

    /// Of a method of the description.
    pub fn of(method: &Method) -> Entry {
        Entry::plain(method.letters, method.entry)
    }

    /// Of a semaphore's method: P and V have a path of their own in portal code.
    pub fn of_semaphore(method: &Method) -> Entry {
        Entry { operation: SemaphoreOperation::of(&method.name), ..Entry::of(method) }
    }

    /// Of a lock's method. Who took it on its last call holds it for no longer than it wants.
    pub fn of_lock(method: &Method) -> Entry {
        Entry { gives_back: is_name(&method.name, b"unlock"), ..Entry::of(method) }
    }

    /// The words that its portal looks at, of those of a grant.
    pub fn limits(&self, of_grant: u64) -> u64 {
        if self.gives_back { 0 } else { of_grant }
    }
}

/// Writes words of portal code, eight at a time: most of what making a portal costs.
pub fn write(to: &[AtomicI64], words: &[u64]) {
    let Some(to) = to.get(..words.len()) else { return };
    let (to, to_rest) = to.as_chunks::<8>();
    let (words, words_rest) = words.as_chunks::<8>();
    for (to, words) in to.iter().zip(words) {
        store(to, words);
    }
    store(to_rest, words_rest);
}

#[inline(always)]
fn store(to: &[AtomicI64], words: &[u64]) {
    for (to, word) in to.iter().zip(words) {
        to.store(*word as i64, Ordering::Relaxed);
    }
}

/// The specification of one method. Letters may come from an untrusted server.
pub fn with_letters(
    specification: Specification,
    letters: &[u8; LETTERS_SIZE],
    types: &Parameters,
) -> Result<Specification, Error> {
    let length = letters.iter().position(|letter| *letter == 0).unwrap_or(LETTERS_SIZE);
    if letters[length..].iter().any(|letter| *letter != 0) {
        return Err(Error::BadArgument);
    }
    specification.with_types(&letters[..length], types).map_err(|_| Error::NotSupported)
}
