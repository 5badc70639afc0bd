//! State that stays where it is while its component's content is replaced around it (`docs/in-place.md`).
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

    /// It itself, also where there is nothing but constants.
    pub const fn get(&'static self) -> &'static T {
        &self.0
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

/// Which content of its instance this is: what threads of its own ask, since nobody holds them. An instance that has any has a role, and sees the record.
#[cfg(target_os = "none")]
pub mod content {
    use crate::cached::Cached;
    use crate::environment;
    use crate::record::Record;
    use cairn_abi::record::Instance;
    // Relaxed: the first thread alone writes it, before there are others.
    use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

    /// Where the first thread begins in this content.
    static MAIN: AtomicU64 = AtomicU64::new(0);

    static OWN: Cached<&'static Instance> = Cached::new();

    fn own_record() -> Option<&'static Instance> {
        let find = || {
            let (record, own) = (Record::find()?, environment::startup().instance);
            record.table::<Instance>(record.header.instances).get(own.index().checked_sub(1)?)
        };
        OWN.with(find, |own| *own)
    }

    /// The first thread begins in this content.
    pub fn begin() {
        MAIN.store(own_record().map_or(0, |own| own.main), Relaxed);
    }

    /// Whether the instance has another content by now.
    pub fn is_former() -> bool {
        own_record().is_some_and(|own| own.main != MAIN.load(Relaxed))
    }

    /// The first thread, which has no other beside it any more, begins anew in the content that the instance has now.
    pub fn leave() {
        if let Some(own) = own_record().filter(|own| own.main != 0) {
            crate::arch::leave::begin_at(own.main, own.stack, own.stub);
        }
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
