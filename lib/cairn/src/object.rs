//! Objects: blocks of portals with the server's control word embedded in their code.

mod table;

pub use table::ObjectTable;

use crate::Error;
use crate::call::Portals;
use crate::component::Interface;
use crate::wire::{HASH_START, Value, hash};
use cairn_abi::descriptor::VALUE_OBJECT;
use cairn_abi::domain::PORTALS_MAXIMUM;
use core::marker::PhantomData;

/// An object as a method returns it: the block of portals that the portal manager made for the
/// client. `I` is `dyn` and the object's interface.
pub struct Object<I: ?Sized> {
    first_portal: u32,
    interface: PhantomData<fn() -> *const I>,
}

impl<I: ?Sized> Object<I> {
    /// For the server: the block that the portal manager made in the client's portal table.
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

/// The first index that an object can have in this component's portal table.
#[cfg(target_arch = "riscv64")]
fn run_time_portals() -> u64 {
    crate::environment::startup().run_time_portals
}

/// On the host there is no table, so this is the least that it can be.
#[cfg(not(target_arch = "riscv64"))]
fn run_time_portals() -> u64 {
    cairn_abi::domain::PORTAL_FIRST_IMPORT as u64
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
    const BITS: u32 = u32::BITS;
    // The name, not the version: an object may return objects of its own interface.
    const SHAPE: u64 = hash(hash(HASH_START, b"Object"), I::NAME.as_bytes());

    #[inline(always)]
    fn into_word(self) -> u64 {
        u64::from(self.first_portal)
    }
    #[inline(always)]
    fn from_word(word: u64) -> Result<Self, Error> {
        // A server says it, and may be hostile: nothing below is an object, but the return portal and
        // what the description gave this component for itself.
        let table = run_time_portals()..PORTALS_MAXIMUM as u64;
        let last = word.checked_add(I::DESCRIPTOR.method_count.saturating_sub(1).into());
        if !table.contains(&word) || !last.is_some_and(|last| table.contains(&last)) {
            return Err(Error::Malformed);
        }
        Ok(Object::from_first_portal(word as u32))
    }
}
