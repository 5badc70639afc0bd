//! Registers with names. Their fields and what is done with them are `tock-registers`'; how they are reached is [`Registers`]'
//! own, so that a driver needs no `unsafe`, which the register types of that crate want.

use super::Registers;
use super::interfaces::{Readable, Writeable};
use core::marker::PhantomData;
use tock_registers::{RegisterLongName, UIntLike};

/// It can be read.
#[derive(Clone, Copy, Debug)]
pub struct Read;
/// It can be written.
#[derive(Clone, Copy, Debug)]
pub struct Write;
/// It can be read and written.
#[derive(Clone, Copy, Debug)]
pub struct ReadWrite;

/// One register, `WORD` wide, with the fields `FIELDS`, as `Access` says.
#[derive(Clone, Copy, Debug)]
pub struct Register<Word, Fields = (), Access = ReadWrite> {
    registers: Registers,
    offset: usize,
    kind: Kind<Word, Fields, Access>,
}

type Kind<Word, Fields, Access> = PhantomData<fn() -> (Word, Fields, Access)>;

impl<Word, Fields, Access> Register<Word, Fields, Access> {
    /// For [`register_block`](crate::register_block).
    #[doc(hidden)]
    #[inline(always)]
    pub const fn new(registers: Registers, offset: usize) -> Self {
        Register { registers, offset, kind: PhantomData }
    }
}

/// How wide a register can be: `u8`, `u16`, `u32` or `u64`.
pub trait Width: UIntLike {
    /// Reads one.
    fn read(registers: &Registers, offset: usize) -> Self;
    /// Writes one.
    fn write(self, registers: &Registers, offset: usize);
}

macro_rules! width {
    ($word:ty, $read:ident, $write:ident) => {
        impl Width for $word {
            #[inline(always)]
            fn read(registers: &Registers, offset: usize) -> Self {
                registers.$read(offset)
            }
            #[inline(always)]
            fn write(self, registers: &Registers, offset: usize) {
                registers.$write(offset, self);
            }
        }
    };
}

width!(u8, read_u8, write_u8);
width!(u16, read_u16, write_u16);
width!(u32, read_u32, write_u32);
width!(u64, read_u64, write_u64);

macro_rules! readable {
    ($access:ty) => {
        impl<Word: Width, Fields: RegisterLongName> Readable for Register<Word, Fields, $access> {
            type T = Word;
            type R = Fields;
            #[inline(always)]
            fn get(&self) -> Word {
                Word::read(&self.registers, self.offset)
            }
        }
    };
}

macro_rules! writeable {
    ($access:ty) => {
        impl<Word: Width, Fields: RegisterLongName> Writeable for Register<Word, Fields, $access> {
            type T = Word;
            type R = Fields;
            #[inline(always)]
            fn set(&self, value: Word) {
                value.write(&self.registers, self.offset);
            }
        }
    };
}

readable!(Read);
readable!(ReadWrite);
writeable!(Write);
writeable!(ReadWrite);

/// A device's registers as a type: for each its offset, its name, its access, its width and its fields.
///
/// ```ignore
/// cairn::register_block! {
///     /// A timer.
///     pub struct Timer {
///         0x00 => control: ReadWrite<u32, CONTROL::Register>,
///         0x04 => count: Read<u32>,
///     }
/// }
/// ```
///
/// `Timer::of(registers)` is one, if the device has as many registers; `timer.count().get()` reads one. Offsets may be those of
/// others: many devices have one register to read and another to write there.
#[macro_export]
macro_rules! register_block {
    ($(#[$doc:meta])* $visible:vis struct $block:ident {
        $($(#[$register_doc:meta])* $offset:expr => $register:ident: $access:ident<$word:ty $(, $fields:ty)?>),* $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        $visible struct $block($crate::registers::Registers);

        impl $block {
            /// `TooLarge`: the device has fewer registers.
            $visible fn of(
                registers: $crate::registers::Registers,
            ) -> ::core::result::Result<Self, $crate::Error> {
                let end = [$($offset + ::core::mem::size_of::<$word>()),*].into_iter().max();
                match end.is_none_or(|end| end <= registers.size()) {
                    true => Ok($block(registers)),
                    false => Err($crate::Error::TooLarge),
                }
            }

            $(
                $(#[$register_doc])*
                #[inline(always)]
                $visible fn $register(
                    &self,
                ) -> $crate::register_block!(@register $word, $access $(, $fields)?) {
                    const { assert!($offset % ::core::mem::size_of::<$word>() == 0, "not aligned") }
                    $crate::registers::Register::new(self.0, $offset)
                }
            )*
        }
    };
    (@register $word:ty, $access:ident) => {
        $crate::registers::Register<$word, (), $crate::registers::$access>
    };
    (@register $word:ty, $access:ident, $fields:ty) => {
        $crate::registers::Register<$word, $fields, $crate::registers::$access>
    };
}
