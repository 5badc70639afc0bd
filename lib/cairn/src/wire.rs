//! What a value looks like on its way through a portal.
//!
//! A parameter takes one register for each word, and so does a method's value. Whoever sits on
//! the other side may be hostile, so every decoding checks: a bit pattern that is no value of the
//! type is [`Error::Malformed`].

use crate::call::{Arguments, REPLY_WORDS, Registers};
use crate::{DomainId, Error, InstanceId};
use cairn_abi::descriptor::{VALUE_BOOL, VALUE_NONE, VALUE_SIGNED, VALUE_UNSIGNED, VALUE_WORDS};
use cairn_abi::interface_text::TypeText;
use core::fmt::Debug;

/// A type that travels in registers. Implement it with `#[derive(cairn::Wire)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot travel through a portal",
    label = "not a type that fits into registers",
    note = "add `#[derive(Clone, Copy, Debug, cairn::Wire)]` to it if it is a small struct or an enum without fields, or pass bytes as `&[u8]`"
)]
pub trait Wire: Copy + Debug {
    /// Registers that it takes.
    const WORDS: usize;
    /// How a shell shows it: one of the `VALUE_*` constants of the descriptor.
    const KIND: u32;
    /// A hash of its layout, which is part of the version of an interface that uses it.
    const SHAPE: u64;
    /// What people call it.
    const TEXT: TypeText;

    /// Appends its words to the arguments of a call, or to a reply.
    fn store(self, arguments: &mut Arguments);
    /// Takes its words from the registers of a call or a reply, checked.
    fn load(registers: &mut Registers) -> Result<Self, Error>;
}

/// The value of a method: up to four words.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of a portal's method",
    label = "not a type that fits into registers",
    note = "a method returns `()`, an integer, `bool`, `Object<dyn Interface>`, a struct or enum with `#[derive(cairn::Wire)]`, or a tuple of such types; more comes back through a `&mut [u8]` parameter"
)]
pub trait Value: Debug + Sized {
    /// How a shell shows it: one of the `VALUE_*` constants of the descriptor.
    const KIND: u32;
    /// Words of the reply that it uses.
    const WORDS: usize;
    /// A hash of its layout.
    const SHAPE: u64;
    /// What people call it.
    const TEXT: TypeText;

    /// Its words.
    fn into_words(self) -> [u64; REPLY_WORDS];
    /// The value of these words, checked.
    fn from_words(words: [u64; REPLY_WORDS]) -> Result<Self, Error>;
}

/// The error type of a method. Implement it with `#[derive(cairn::MethodError)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a portal's method",
    note = "use `cairn::Error`, or an enum with `#[derive(cairn::MethodError)]` and a variant `Portal(cairn::Error)`"
)]
pub trait MethodError: Debug + Sized + From<Error> {
    /// A hash of its codes.
    const SHAPE: u64;
    /// What people call it and its codes.
    const TEXT: TypeText;

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

macro_rules! integers {
    ($kind:expr, $($integer:ident)*) => { $(
        impl Wire for $integer {
            const WORDS: usize = 1;
            const KIND: u32 = $kind;
            const SHAPE: u64 = hash(HASH_START, stringify!($integer).as_bytes());
            const TEXT: TypeText = TypeText::Plain(stringify!($integer));

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
        }
    )* };
}

integers!(VALUE_UNSIGNED, u8 u16 u32 u64 usize);
integers!(VALUE_SIGNED, i8 i16 i32 i64 isize);

macro_rules! identifiers {
    ($($identifier:ident)*) => { $(
        impl Wire for $identifier {
            const WORDS: usize = 1;
            const KIND: u32 = VALUE_UNSIGNED;
            const SHAPE: u64 = hash(HASH_START, stringify!($identifier).as_bytes());
            const TEXT: TypeText = TypeText::Plain(stringify!($identifier));

            #[inline(always)]
            fn store(self, arguments: &mut Arguments) {
                self.0.store(arguments);
            }
            #[inline(always)]
            fn load(registers: &mut Registers) -> Result<Self, Error> {
                u16::load(registers).map($identifier)
            }
        }
    )* };
}

identifiers!(InstanceId DomainId);

impl Wire for bool {
    const WORDS: usize = 1;
    const KIND: u32 = VALUE_BOOL;
    const SHAPE: u64 = hash(HASH_START, b"bool");
    const TEXT: TypeText = TypeText::Plain("bool");

    #[inline(always)]
    fn store(self, arguments: &mut Arguments) {
        arguments.word(self as u64);
    }
    #[inline(always)]
    fn load(registers: &mut Registers) -> Result<Self, Error> {
        match registers.word() {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Error::Malformed),
        }
    }
}

macro_rules! tuples {
    ($($count:literal: $($part:ident $index:tt)+,)*) => { $(
        impl<$($part: Wire),+> Wire for ($($part,)+) {
            const WORDS: usize = 0 $(+ $part::WORDS)+;
            const KIND: u32 = VALUE_WORDS;
            const SHAPE: u64 = {
                let hash = hash_word(hash(HASH_START, b"tuple"), $count);
                $(let hash = hash_word(hash, $part::SHAPE);)+
                hash
            };
            const TEXT: TypeText = TypeText::Tuple(&[$($part::TEXT),+]);

            #[inline(always)]
            fn store(self, arguments: &mut Arguments) {
                $(self.$index.store(arguments);)+
            }
            #[inline(always)]
            fn load(registers: &mut Registers) -> Result<Self, Error> {
                Ok(($($part::load(registers)?,)+))
            }
        }
    )* };
}

tuples! {
    2: A 0 B 1,
    3: A 0 B 1 C 2,
    4: A 0 B 1 C 2 D 3,
}

impl<T: Wire> Value for T {
    const KIND: u32 = T::KIND;
    const WORDS: usize = T::WORDS;
    const SHAPE: u64 = T::SHAPE;
    const TEXT: TypeText = T::TEXT;

    #[inline(always)]
    fn into_words(self) -> [u64; REPLY_WORDS] {
        let mut words = Arguments::new();
        self.store(&mut words);
        words.into_reply()
    }
    #[inline(always)]
    fn from_words(words: [u64; REPLY_WORDS]) -> Result<Self, Error> {
        T::load(&mut Registers::of_reply(words))
    }
}

impl Value for () {
    const KIND: u32 = VALUE_NONE;
    const WORDS: usize = 0;
    const SHAPE: u64 = hash(HASH_START, b"()");
    const TEXT: TypeText = TypeText::Plain("()");

    #[inline(always)]
    fn into_words(self) -> [u64; REPLY_WORDS] {
        [0; REPLY_WORDS]
    }
    #[inline(always)]
    fn from_words(_words: [u64; REPLY_WORDS]) -> Result<Self, Error> {
        Ok(())
    }
}

impl MethodError for Error {
    const SHAPE: u64 = hash(HASH_START, b"cairn::Error");
    const TEXT: TypeText = TypeText::Plain("Error");

    #[inline(always)]
    fn into_status(self) -> i64 {
        self.status()
    }
    #[inline(always)]
    fn from_status(status: i64) -> Self {
        Error::from_status(status)
    }
}

/// The `KIND` of derived types.
pub const WORDS: u32 = VALUE_WORDS;
