//! Objects: blocks of portals with the server's control word embedded in their code.

pub(crate) mod grant;
mod parts;
mod table;

pub use grant::{Grant, Passed};
pub use parts::ObjectParts;
pub use table::ObjectTable;

use crate::Error;
use crate::call::{Portals, REPLY_WORDS};
use crate::component::{Caller, Interface};
use crate::wire::{HASH_START, Value, hash};
use cairn_abi::descriptor::VALUE_OBJECT;
use cairn_abi::interface_text::TypeText;
use core::marker::PhantomData;

/// Parameter of a server's method that returns an object: where the client wants its portals. In its place the
/// client passes its import `Portals`, which reserves them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    client: Caller,
    word: u64,
}

impl Place {
    /// Bits of an index in the word that names a reservation.
    const INDEX_BITS: u32 = 16;

    /// What `client` says that it reserved. If it did not, the portal manager makes nothing there.
    pub const fn new(client: Caller, word: u64) -> Place {
        Place { client, word }
    }

    /// The caller.
    pub const fn client(self) -> Caller {
        self.client
    }

    /// What the portal manager calls the reservation.
    pub const fn word(self) -> u64 {
        self.word
    }

    /// The first of its portals in the client's portal table.
    pub const fn index(word: u64) -> u32 {
        (word & ((1 << Self::INDEX_BITS) - 1)) as u32
    }
}

/// What reserves portals for objects in this component's table: the import `Portals`.
pub trait Places {
    /// Reserves the portals of an object of the interface `I`, which the server alone can fill that the
    /// portal at index `server` leads to; the word that names the reservation.
    fn reserve_for<I: ?Sized + Interface>(&self, server: u32) -> Result<u64, Error>;
    /// Gives portals back, whether they were filled or not.
    fn give_back(&self, first_portal: u32) -> Result<(), Error>;
}

/// An object as a method returns it: a block of portals in the client's table, for which the client asked with
/// the letters that it knows. `I` is `dyn` and the object's interface.
pub struct Object<I: ?Sized> {
    first_portal: u32,
    interface: PhantomData<fn() -> *const I>,
}

impl<I: ?Sized> Object<I> {
    /// The block that the portal manager made.
    #[doc(hidden)]
    pub const fn from_first_portal(first_portal: u32) -> Self {
        Object { first_portal, interface: PhantomData }
    }

    /// Index of the first of its portals in the client's portal table.
    pub const fn first_portal(&self) -> u32 {
        self.first_portal
    }
}

impl<I: ?Sized + Interface> Object<I> {
    /// What calls its methods.
    #[inline(always)]
    pub fn proxy(&self) -> I::Proxy {
        I::proxy(Portals::at(self.first_portal))
    }

    /// The same, for portals with the state letter `m`, whose failed calls destroy every register.
    #[inline(always)]
    pub fn proxy_minimal(&self) -> I::Proxy {
        I::proxy(Portals::at_minimal(self.first_portal))
    }
}

impl<I: ?Sized> Clone for Object<I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I: ?Sized> Copy for Object<I> {}

impl<I: ?Sized> core::fmt::Debug for Object<I> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "Object({})", self.first_portal)
    }
}

impl<I: ?Sized + Interface> Value for Object<I> {
    const KIND: u32 = VALUE_OBJECT;
    const WORDS: usize = 1;
    // The name, not the version: an object may return objects of its own interface.
    const SHAPE: u64 = hash(hash(HASH_START, b"Object"), I::NAME.as_bytes());
    const TEXT: TypeText = TypeText::Plain(I::NAME);

    /// The client knows where its object is: it reserved the place.
    #[inline(always)]
    fn into_words(self) -> [u64; REPLY_WORDS] {
        [0; REPLY_WORDS]
    }
    /// So a word says nothing of an object, whichever component sends it.
    #[inline(always)]
    fn from_words(_words: [u64; REPLY_WORDS]) -> Result<Self, Error> {
        Err(Error::Malformed)
    }
}
