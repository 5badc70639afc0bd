//! A component package: a component with its part of a description, which a system that runs can load.
//!
//! A [`Head`], then its tables in the order of [`Counts`], each directly behind the one before; then, from the next page on, what the
//! segments hold, each from a page's beginning; then the relocations, and zeros up to the end of the last page. Nothing says where
//! something lies that follows from how much is before it, so nothing can be said wrongly. Numbers are little-endian.
//!
//! Addresses of the component are offsets from its image's begin, which the target places at
//! `region(number) + IMAGE_OFFSET + image_spread(number)` ([`crate::address`]).

use crate::descriptor::{LETTERS_SIZE, Name};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// First word of a package: "CAIRNPKG".
pub const MAGIC: u64 = u64::from_le_bytes(*b"CAIRNPKG");
/// Bytes of the hash, SHA-256.
pub const HASH_SIZE: usize = 32;
/// Bytes of the signature, Ed25519.
pub const SIGNATURE_SIZE: usize = 64;
/// Where what is hashed begins: directly behind the signature. It ends with the package.
pub const HASHED: usize = 8 + HASH_SIZE + SIGNATURE_SIZE;
/// Most bytes of the head with its tables: what one window holds.
pub const HEAD_MAXIMUM: usize = crate::address::WINDOW_MAXIMUM as usize;
/// Most segments: code, constants, and the parts of the data between the guards of its threads' stacks.
pub const SEGMENTS_MAXIMUM: usize = 24;
/// Most bytes of a policy.
pub const POLICY_MAXIMUM: usize = 255;
/// No address.
pub const NONE: u32 = u32::MAX;

/// How many entries each table has, in the order in which they lie. (Of texts: bytes.)
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct Counts {
    /// [`Segment`]s, by address.
    pub segments: u32,
    /// [`Import`]s, in the order of the component.
    pub imports: u32,
    /// [`Export`]s, in the order of the component.
    pub exports: u32,
    /// [`Method`]s of the exports, those of the first before those of the second.
    pub methods: u32,
    /// The arguments that the component declares, in its order, a word each, as in
    /// [`crate::startup::Startup::values`].
    pub values: u32,
    /// Bytes of texts, in which [`Text`]s lie.
    pub texts: u32,
    /// Relocations, which are not in the head: of each the offset of its word in the image, 32 bits, ascending. A relocated word is a
    /// multiple of 8 and lies in constants or data, and begins as an offset too: to it the image's begin is added.
    pub relocations: u32,
}

/// A text in the table of texts.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct Text {
    /// Bytes before it.
    pub offset: u32,
    /// Its bytes.
    pub length: u32,
}

/// The beginning of a package.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Head {
    /// [`MAGIC`].
    pub magic: u64,
    /// SHA-256 of all that is behind the signature.
    pub hash: [u8; HASH_SIZE],
    /// Of [`Head::magic`] and [`Head::hash`], the bytes before it, in its two halves; zeros: nobody has signed it.
    pub signature: [[u8; SIGNATURE_SIZE / 2]; 2],
    /// [`crate::VERSION`].
    pub abi_version: u32,
    /// Bytes of the head with its tables.
    pub head_size: u32,
    /// Bytes of the package, whole pages.
    pub size: u64,
    /// What the package is called.
    pub name: Name,
    /// What its component says that it is called.
    pub component: Name,
    /// Quota of memory, bytes.
    pub memory: u64,
    /// Bytes of the heap.
    pub heap: u64,
    /// Bytes of the log.
    pub log_size: u64,
    /// Bytes of the stack of its first thread.
    pub stack: u64,
    /// Bytes of each stack on which it serves calls.
    pub call_stack: u64,
    /// If it is started by a call: after so many nanoseconds in which nobody needed it it is ended, or zero.
    pub idle_stop: u64,
    /// Bytes of the range of its addresses that has a pager; zero: it has none.
    pub paged: u64,
    /// Bytes of the image: all segments end in it.
    pub image_size: u32,
    /// Where its first thread begins, or [`NONE`].
    pub main: u32,
    /// Where its functions return to.
    pub stub: u32,
    /// Stacks on which it serves calls.
    pub activations: u32,
    /// Of these, those that each of its clients has for itself.
    pub per_client: u32,
    /// Quota of threads.
    pub threads: u32,
    /// Quota of semaphores.
    pub semaphores: u32,
    /// Quota of locks.
    pub locks: u32,
    /// Portals that it may get at run time, beside its equal part.
    pub portals: u32,
    /// Names that it may register, beside its equal part.
    pub names: u32,
    /// Sections made at run time that it may map at a time, beside its equal part.
    pub sections: u32,
    /// Components that it may have loaded at a time, with all that these load.
    pub children: u32,
    /// Priority of its first thread.
    pub priority: u8,
    /// The highest priority at which it is cleaned up and started again.
    pub recovery_priority: u8,
    /// One of the `RESTART_*` policies of [`crate::record`].
    pub restart: u8,
    /// 1: it is started by the first call into it.
    pub on_demand: u8,
    /// 1: it does not serve from its first instruction on, but from when its first thread says so.
    pub says_ready: u8,
    /// 1: until then callers wait.
    pub callers_wait: u8,
    /// One of the `FLOAT_*` of [`crate::record`].
    pub float: u8,
    /// The number of the last level that it logs at first.
    pub log_level: u8,
    /// Bytes of the argument string, with which [`Head::argument`] begins.
    pub argument_length: u16,
    /// How far behind [`PORTAL_FIRST_IMPORT`](crate::domain::PORTAL_FIRST_IMPORT) the portals of its imports begin: what those before it in the domain of whom it replaces have.
    pub portals_before: u16,
    /// The argument string, and behind it the arguments that are text.
    pub argument: Text,
    /// What it calls that range; zeros if it has none.
    pub paged_name: Name,
    /// The range's pager, `INSTANCE.EXPORT`; empty if there is none.
    pub pager: Text,
    /// The tables.
    pub counts: Counts,
}

/// Whole pages of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Segment {
    /// First offset in the image.
    pub offset: u32,
    /// Bytes, whole pages.
    pub size: u32,
    /// Bytes of them that the package has, from the first on; the others are zero.
    pub file_size: u32,
    /// One of `CONTENT_TEXT`, `CONTENT_CONSTANTS` and `CONTENT_DATA` of [`crate::record`], which says the rights, too.
    pub content: u16,
    /// Zero.
    pub reserved: u16,
}

/// An interface that the component calls. Its portals are in the component's table directly behind those of the import before it, from
/// [`PORTAL_FIRST_IMPORT`](crate::domain::PORTAL_FIRST_IMPORT) and [`Head::portals_before`] on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Import {
    /// The component's name of it.
    pub name: Name,
    /// The interface's version.
    pub version: u64,
    /// The interface's name and its methods' letters ([`crate::signature`]).
    pub signature: Text,
    /// Who serves it, `INSTANCE.EXPORT`; empty if it is left out.
    pub server: Text,
    /// 1: it may be left out.
    pub optional: u16,
    /// 1: its proxy saves all registers itself, so its portals may have minimal state.
    pub minimal: u16,
    /// Zero.
    pub reserved: u32,
}

/// An interface that the component serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Export {
    /// The component's name of it.
    pub name: Name,
    /// Its interface.
    pub interface: Name,
    /// The interface's version.
    pub version: u64,
    /// Longest execution in nanoseconds, or zero.
    pub longest_execution: u64,
    /// Longest time until a call is back in nanoseconds, or zero.
    pub longest_call: u64,
    /// Nanoseconds that it may keep a thread which was called home, or zero: as the system says.
    pub cancelled_for: u64,
    /// Who may open it: `*`, names of instances with a space between each two, or nobody.
    pub policy: Text,
    /// Its methods.
    pub method_count: u32,
    /// 1: an object interface.
    pub is_object: u32,
}

/// A method of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Method {
    /// Its name.
    pub name: Name,
    /// Its parameter letters.
    pub letters: [u8; LETTERS_SIZE],
    /// Kind of value (`descriptor::VALUE_*`).
    pub value: u32,
    /// Its entry point.
    pub entry: u32,
    /// What words of it mean ([`crate::record::Method::meanings`]).
    pub meanings: Text,
}

/// First word of a shelf's directory: "CAIRNSHL".
pub const SHELF_MAGIC: u64 = u64::from_le_bytes(*b"CAIRNSHL");

/// The beginning of a shelf, which holds the packages of an image: then [`Shelved`] entries by name, then, from the next page on, the
/// packages, each from a page's beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Shelf {
    /// [`SHELF_MAGIC`].
    pub magic: u64,
    /// Packages.
    pub count: u64,
}

/// A package on a shelf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Shelved {
    /// What it is called.
    pub name: Name,
    /// Bytes before it, from the shelf's beginning.
    pub offset: u64,
    /// Its bytes.
    pub size: u64,
}
