//! Objects, and what a component has opened, on their way from one component to another.

use crate::Error;
use crate::call::{Arguments, REPLY_WORDS, Registers};
use crate::component::{Caller, Interface};
use crate::wire::{HASH_START, Value, hash, hash_word};
use cairn_abi::descriptor::VALUE_UNSIGNED;
use cairn_abi::interface_text::TypeText;
use core::marker::PhantomData;

/// What this component passed on: a word of the portal manager's, by which its receiver accepts it and this component takes it
/// back. To everybody else it means nothing. `I` is `dyn` and the object's interface.
///
/// A client passes it where a method has a parameter `Object<dyn Interface>`; a server that passes on what it holds returns it.
pub struct Grant<I: ?Sized> {
    word: u64,
    interface: PhantomData<fn() -> *const I>,
}

impl<I: ?Sized> Grant<I> {
    /// The grant that the portal manager calls so. If there is none, nobody gets anything by it.
    pub const fn from_word(word: u64) -> Self {
        Grant { word, interface: PhantomData }
    }

    /// What the portal manager calls it.
    pub const fn word(&self) -> u64 {
        self.word
    }
}

impl<I: ?Sized> Clone for Grant<I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I: ?Sized> Copy for Grant<I> {}

impl<I: ?Sized> core::fmt::Debug for Grant<I> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "Grant({:#x})", self.word)
    }
}

impl<I: ?Sized + Interface> Value for Grant<I> {
    const KIND: u32 = VALUE_UNSIGNED;
    const WORDS: usize = 1;
    // The name, not the version, as with an object.
    const SHAPE: u64 = hash(hash(HASH_START, b"Grant"), I::NAME.as_bytes());
    const TEXT: TypeText = TypeText::Plain("Grant");

    #[inline(always)]
    fn into_words(self) -> [u64; REPLY_WORDS] {
        let mut words = Arguments::new();
        words.word(self.word);
        words.into_reply()
    }
    #[inline(always)]
    fn from_words(words: [u64; REPLY_WORDS]) -> Result<Self, Error> {
        Ok(Grant::from_word(Registers::of_reply(words).word()))
    }
}

/// Parameter of a server's method to which a client passes an object: whose it is, and the grant. The server has no portals of it
/// before it accepts it, by its import `Grants`, and those are the server's to close.
pub struct Passed<I: ?Sized> {
    from: Caller,
    grant: Grant<I>,
}

impl<I: ?Sized> Passed<I> {
    /// What `from` says that it granted. If it did not, the portal manager makes nothing of it.
    pub const fn new(from: Caller, grant: Grant<I>) -> Self {
        Passed { from, grant }
    }

    /// The caller.
    pub const fn from(&self) -> Caller {
        self.from
    }

    /// What it granted.
    pub const fn grant(&self) -> Grant<I> {
        self.grant
    }
}

impl<I: ?Sized> Clone for Passed<I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I: ?Sized> Copy for Passed<I> {}

impl<I: ?Sized> core::fmt::Debug for Passed<I> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "Passed({:?}, {:?})", self.from, self.grant)
    }
}

/// What a method's version knows of such a parameter, by the [`Value::SHAPE`] of the object.
pub const fn passed_shape(object: u64) -> u64 {
    hash_word(hash(HASH_START, b"Passed"), object)
}
