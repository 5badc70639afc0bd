//! Threads that a component starts in its own domain: [`spawn`] runs a closure on a [`Stack`]. `cairn_interfaces::spawn` is the
//! same for a function and a word, and its handle can be copied.

#[cfg(target_os = "none")]
mod closure;
#[cfg(not(target_os = "none"))]
mod host;
#[cfg(target_os = "none")]
pub(crate) mod stack;

use crate::Error;
use crate::call::{Arguments, Registers};
use crate::wire::{HASH_START, Wire, hash};
use cairn_abi::interface_text::{FieldText, TypeText};

#[cfg(target_os = "none")]
pub use closure::{JoinHandle, sleep, sleep_until, spawn, yield_now};
#[cfg(target_os = "none")]
pub use stack::{Claim, Stack};

#[cfg(not(target_os = "none"))]
pub use host::{JoinHandle, Stack, sleep, sleep_until, spawn, yield_now};

/// Where a thread begins: a function, its stack and its argument. A component cannot make one of
/// numbers, but for `Stack::claim`; a scheduler gets them from its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    entry: u64,
    stack: u64,
    argument: u64,
}

impl Start {
    /// Address of its first instruction.
    pub fn entry(self) -> u64 {
        self.entry
    }

    /// Its stack pointer.
    pub fn stack(self) -> u64 {
        self.stack
    }

    /// Its first argument register.
    pub fn argument(self) -> u64 {
        self.argument
    }
}

impl Wire for Start {
    const WORDS: usize = 3;
    const KIND: u32 = crate::wire::WORDS;
    const SHAPE: u64 = hash(HASH_START, b"cairn::thread::Start");
    const TEXT: TypeText = {
        const fn word(name: &'static str) -> FieldText {
            FieldText { name, documentation: "", of: u64::TEXT }
        }
        TypeText::Struct(
            "Start",
            "Where a thread begins.",
            &const { [word("entry"), word("stack"), word("argument")] },
        )
    };

    #[inline(always)]
    fn store(self, arguments: &mut Arguments) {
        arguments.word(self.entry);
        arguments.word(self.stack);
        arguments.word(self.argument);
    }
    #[inline(always)]
    fn load(registers: &mut Registers) -> Result<Self, Error> {
        Ok(Start { entry: registers.word(), stack: registers.word(), argument: registers.word() })
    }
}
