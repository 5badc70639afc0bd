//! State that stays where it is while its component's content is replaced around it (`docs/replacement.md`, "In place").
//!
//! It lies in pages of its own, which the memory manager maps for the successor as well, where that has its own. So nothing in it may name
//! something of the content: no function, no constant, no other static.

use crate::wire::{HASH_START, hash_word};
use cairn_abi::address::PAGE_SIZE;
use core::ops::Deref;

/// All state of a component, in whole pages.
#[repr(C, align(4096))]
pub struct State<T>(T);

const _: () = assert!(align_of::<State<u8>>() as u64 == PAGE_SIZE);

impl<T> State<T> {
    /// Wraps it.
    pub const fn new(state: T) -> State<T> {
        State(state)
    }

    /// Where it lies, and in how many pages.
    pub fn place(&'static self) -> (u64, u64) {
        let size = const { size_of::<State<T>>() as u64 };
        (core::ptr::from_ref(self).addr() as u64, size / PAGE_SIZE)
    }

    /// What two contents have to have in common so that one goes on with the state of the other: its meaning, of which they say the
    /// version, and its size. Both come from the same compiler.
    pub const fn layout(version: u64) -> u64 {
        let size = hash_word(HASH_START, size_of::<T>() as u64);
        hash_word(hash_word(size, align_of::<T>() as u64), version)
    }
}

impl<T> Deref for State<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_whole_pages_of_its_own() {
        static ONE: State<[u8; 4097]> = State::new([0; 4097]);
        let (at, pages) = ONE.place();
        assert_eq!((at % PAGE_SIZE, pages), (0, 2));
        assert_eq!(ONE.len(), 4097);
    }

    #[test]
    fn another_version_or_size_is_another_layout() {
        let one = State::<[u64; 4]>::layout(1);
        assert_eq!(one, State::<[u64; 4]>::layout(1));
        assert_ne!(one, State::<[u64; 4]>::layout(2));
        assert_ne!(one, State::<[u64; 5]>::layout(1));
        assert_ne!(one, State::<[u8; 32]>::layout(1));
    }
}
