//! Numbers that name things. Each thing has a type of its own, though an instance of a description, its domain and its
//! region get the same number; nothing may rely on that.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Numbers of instances are below it; 0 is none.
pub const INSTANCES_MAXIMUM: usize = 256;

macro_rules! identifiers {
    ($($(#[$doc:meta])* $name:ident;)*) => { $(
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash,
            FromBytes, IntoBytes, Immutable, KnownLayout,
        )]
        #[repr(transparent)]
        pub struct $name(pub u16);

        impl $name {
            /// Its place in a table of all.
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// From a word that a caller passes; `None` if it does not fit.
            pub const fn of_word(word: u64) -> Option<$name> {
                if word <= u16::MAX as u64 { Some($name(word as u16)) } else { None }
            }
        }

        impl From<$name> for u64 {
            fn from(identifier: $name) -> u64 {
                identifier.0.into()
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                self.0.fmt(formatter)
            }
        }
    )* };
}

identifiers! {
    /// A running copy of a component: it has a name, quotas and policies. From 1; 0 is no instance.
    InstanceId;
    /// A protection domain: a page table and a portal table. From 1; 0 is the kernel domain.
    DomainId;
    /// A region of addresses ([`crate::address::region`]).
    RegionId;
}
