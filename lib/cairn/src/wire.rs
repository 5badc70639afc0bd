//! What a value looks like on its way through a portal.
//!
//! A parameter takes one register for each word; a method's value is one word. Whoever sits on
//! the other side may be hostile, so every decoding checks: a bit pattern that is no value of the
//! type is [`Error::Malformed`].

use crate::call::{Arguments, Registers};
use crate::{DomainId, Error, InstanceId};
use cairn_abi::descriptor::{VALUE_BOOL, VALUE_NONE, VALUE_PACKED, VALUE_SIGNED, VALUE_UNSIGNED};

/// A type that travels in registers. Implement it with `#[derive(cairn::Wire)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot travel through a portal",
    label = "not a type that fits into registers",
    note = "add `#[derive(Clone, Copy, cairn::Wire)]` to it if it is a small struct or an enum without fields, or pass bytes as `&[u8]`"
)]
pub trait Wire: Copy {
    /// Registers that it takes as a parameter.
    const WORDS: usize;
    /// Bits that it takes when it is packed into one word; a value of a method has at most 64.
    const BITS: u32;
    /// How a shell shows it: one of the `VALUE_*` constants of the descriptor.
    const KIND: u32;
    /// A hash of its layout, which is part of the version of an interface that uses it.
    const SHAPE: u64;

    /// Appends its words to the arguments of a call.
    fn store(self, arguments: &mut Arguments);
    /// Takes its words from the argument registers, checked.
    fn load(registers: &mut Registers) -> Result<Self, Error>;
    /// Its bits in one word, the first field lowest, the bits above [`Wire::BITS`] zero.
    fn pack(self) -> u64;
    /// The reverse of [`Wire::pack`], checked, except that bits above [`Wire::BITS`] are ignored.
    fn unpack(word: u64) -> Result<Self, Error>;
}

/// The value of a method: one word.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of a portal's method",
    label = "not a type that fits into one register",
    note = "a method returns `()`, an integer, `bool`, `Object<dyn Interface>`, or a struct or enum with `#[derive(cairn::Wire)]`; more comes back through a `&mut [u8]` parameter"
)]
pub trait Value: Sized {
    /// How a shell shows it: one of the `VALUE_*` constants of the descriptor.
    const KIND: u32;
    /// Bits of the word that it uses.
    const BITS: u32;
    /// A hash of its layout.
    const SHAPE: u64;

    /// The word.
    fn into_word(self) -> u64;
    /// The value of a word, checked.
    fn from_word(word: u64) -> Result<Self, Error>;
}

/// The error type of a method. Implement it with `#[derive(cairn::MethodError)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a portal's method",
    note = "use `cairn::Error`, or an enum with `#[derive(cairn::MethodError)]` and a variant `Portal(cairn::Error)`"
)]
pub trait MethodError: Sized + From<Error> {
    /// A hash of its codes.
    const SHAPE: u64;

    /// The status: 1 to 0xffff, or the negative status of an [`Error`]; never zero.
    fn into_status(self) -> i64;
    /// The error of a status that is not zero.
    fn from_status(status: i64) -> Self;
}

/// FNV-1a, 64 bits, continued from `hash` over `bytes`.
pub const fn hash(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut index = 0;
    while index < bytes.len() {
        hash = (hash ^ bytes[index] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        index += 1;
    }
    hash
}

/// The FNV-1a hash of no bytes.
pub const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

/// `hash` continued over the bytes of `word`.
pub const fn hash_word(start: u64, word: u64) -> u64 {
    hash(start, &word.to_le_bytes())
}

/// The lowest `bits` bits of `word`.
#[inline(always)]
pub const fn low_bits(word: u64, bits: u32) -> u64 {
    if bits >= u64::BITS { word } else { word & ((1 << bits) - 1) }
}

macro_rules! integers {
    ($kind:expr, $($integer:ident)*) => { $(
        impl Wire for $integer {
            const WORDS: usize = 1;
            const BITS: u32 = $integer::BITS;
            const KIND: u32 = $kind;
            const SHAPE: u64 = hash(HASH_START, stringify!($integer).as_bytes());

            #[inline(always)]
            fn store(self, arguments: &mut Arguments) {
                arguments.word(self as u64);
            }
            #[inline(always)]
            fn load(registers: &mut Registers) -> Result<Self, Error> {
                // Signed types are sign-extended to the word, unsigned ones zero-extended.
                let word = registers.word();
                if (word as $integer) as u64 == word { Ok(word as $integer) } else { Err(Error::Malformed) }
            }
            #[inline(always)]
            fn pack(self) -> u64 {
                low_bits(self as u64, $integer::BITS)
            }
            #[inline(always)]
            fn unpack(word: u64) -> Result<Self, Error> {
                Ok(word as $integer)
            }
        }
    )* };
}

integers!(VALUE_UNSIGNED, u8 u16 u32 u64 usize);
integers!(VALUE_SIGNED, i8 i16 i32 i64 isize);

macro_rules! identifiers {
    ($($identifier:ident)*) => { $(
        impl Wire for $identifier {
            const WORDS: usize = 1;
            const BITS: u32 = u16::BITS;
            const KIND: u32 = VALUE_UNSIGNED;
            const SHAPE: u64 = hash(HASH_START, stringify!($identifier).as_bytes());

            #[inline(always)]
            fn store(self, arguments: &mut Arguments) {
                self.0.store(arguments);
            }
            #[inline(always)]
            fn load(registers: &mut Registers) -> Result<Self, Error> {
                u16::load(registers).map($identifier)
            }
            #[inline(always)]
            fn pack(self) -> u64 {
                self.0.pack()
            }
            #[inline(always)]
            fn unpack(word: u64) -> Result<Self, Error> {
                u16::unpack(word).map($identifier)
            }
        }
    )* };
}

identifiers!(InstanceId DomainId);

impl Wire for bool {
    const WORDS: usize = 1;
    const BITS: u32 = 8;
    const KIND: u32 = VALUE_BOOL;
    const SHAPE: u64 = hash(HASH_START, b"bool");

    #[inline(always)]
    fn store(self, arguments: &mut Arguments) {
        arguments.word(self as u64);
    }
    #[inline(always)]
    fn load(registers: &mut Registers) -> Result<Self, Error> {
        bool_of(registers.word())
    }
    #[inline(always)]
    fn pack(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn unpack(word: u64) -> Result<Self, Error> {
        bool_of(low_bits(word, <bool as Wire>::BITS))
    }
}

#[inline(always)]
fn bool_of(word: u64) -> Result<bool, Error> {
    match word {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Error::Malformed),
    }
}

impl<T: Wire> Value for T {
    const KIND: u32 = T::KIND;
    const BITS: u32 = T::BITS;
    const SHAPE: u64 = T::SHAPE;

    #[inline(always)]
    fn into_word(self) -> u64 {
        // A signed value comes back sign-extended, as the C convention has it; a packed one does not.
        if T::KIND == VALUE_SIGNED { sign_extend(self.pack(), T::BITS) } else { self.pack() }
    }
    #[inline(always)]
    fn from_word(word: u64) -> Result<Self, Error> {
        let expected = low_bits(word, T::BITS);
        let extended =
            if T::KIND == VALUE_SIGNED { sign_extend(expected, T::BITS) } else { expected };
        if extended == word { T::unpack(word) } else { Err(Error::Malformed) }
    }
}

#[inline(always)]
const fn sign_extend(word: u64, bits: u32) -> u64 {
    let unused = u64::BITS - bits;
    (((word << unused) as i64) >> unused) as u64
}

impl Value for () {
    const KIND: u32 = VALUE_NONE;
    const BITS: u32 = 0;
    const SHAPE: u64 = hash(HASH_START, b"()");

    #[inline(always)]
    fn into_word(self) -> u64 {
        0
    }
    #[inline(always)]
    fn from_word(_word: u64) -> Result<Self, Error> {
        Ok(())
    }
}

impl MethodError for Error {
    const SHAPE: u64 = hash(HASH_START, b"cairn::Error");

    #[inline(always)]
    fn into_status(self) -> i64 {
        self.status()
    }
    #[inline(always)]
    fn from_status(status: i64) -> Self {
        Error::from_status(status)
    }
}

/// Bits that hold every code of an enum: 8, 16, 32 or 64.
pub const fn enum_bits(codes: &[u64]) -> u32 {
    let mut bits = 8;
    let mut index = 0;
    while index < codes.len() {
        while low_bits(codes[index], bits) != codes[index] {
            bits *= 2;
        }
        index += 1;
    }
    bits
}

/// The `KIND` of derived types.
pub const PACKED: u32 = VALUE_PACKED;
