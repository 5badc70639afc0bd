//! Calling a portal: the argument registers, the call instruction, the reply.
//!
//! A portal reads the registers by its own specification, so what is put into them must follow
//! the letters of the method. Proxies do that; only a program that learns the letters at run time
//! (a shell, a tracer) uses [`Call`] by hand.

#[cfg(not(target_os = "none"))]
pub mod host;
mod staging;

#[cfg(target_os = "none")]
use crate::arch::call as machine;
#[cfg(not(target_os = "none"))]
use host as machine;

use crate::Error;
use crate::wire::{MethodError, Value, Wire};
use cairn_abi::descriptor::Reply;
use staging::is_plain;

pub use staging::Staging;

/// Argument registers of a call (`a0` to `a7`).
pub const REGISTERS: usize = 8;

/// The argument registers of one call, filled in from `a1` on: `a0` is the control word, which the
/// portal fills in.
///
/// It is apart from [`Staging`] so that the compiler can keep it in registers.
pub struct Arguments {
    words: [u64; REGISTERS],
    used: usize,
    /// Zero, or the status with which the call fails before it begins.
    refused: i64,
}

impl Arguments {
    /// No arguments yet.
    #[inline(always)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Arguments { words: [0; REGISTERS], used: 1, refused: 0 }
    }

    /// Letter `i`: a word.
    #[inline(always)]
    pub fn word(&mut self, word: u64) {
        // More than fit is an error of `invoke`; expansions refuse it when they are compiled.
        if self.used < REGISTERS {
            self.words[self.used] = word;
        }
        self.used += 1;
    }

    /// Letters `=`, `a`, `t`, `h`: the register that the portal fills in.
    #[inline(always)]
    pub fn skip(&mut self) {
        self.used += 1;
    }

    /// Letters `i`: the words of a value.
    #[inline(always)]
    pub fn value<T: Wire>(&mut self, value: T) {
        value.store(self);
    }

    /// Letter `r`: bytes that the callee can read. `staging` must be there until the call is over.
    #[inline(always)]
    pub fn bytes<'buffers>(&mut self, staging: &mut Staging<'buffers>, bytes: &'buffers [u8]) {
        let mut address = bytes.as_ptr().expose_provenance();
        if !is_plain(address, bytes.len()) {
            address = self.staged(staging.carry(bytes));
        }
        self.word(address as u64);
        self.word(bytes.len() as u64);
    }

    /// Letter `w`: bytes that the callee can read and write. `staging` as above.
    #[inline(always)]
    pub fn bytes_mut<'buffers>(
        &mut self,
        staging: &mut Staging<'buffers>,
        bytes: &'buffers mut [u8],
    ) {
        let length = bytes.len();
        let mut address = bytes.as_mut_ptr().expose_provenance();
        if !is_plain(address, length) {
            address = self.staged(staging.carry_back(bytes));
        }
        self.word(address as u64);
        self.word(length as u64);
    }

    #[inline(always)]
    fn staged(&mut self, address: Result<usize, Error>) -> usize {
        address.unwrap_or_else(|error| {
            self.refused = error.status();
            0
        })
    }
}

/// A call that is put together at run time. What is put into it must follow the letters of the
/// method. It borrows every buffer until the call is over.
pub struct Call<'buffers> {
    arguments: Arguments,
    staging: Staging<'buffers>,
}

impl<'buffers> Call<'buffers> {
    /// No arguments yet.
    pub fn new() -> Self {
        Call { arguments: Arguments::new(), staging: Staging::new() }
    }

    /// Letter `i`: a word.
    pub fn word(&mut self, word: u64) {
        self.arguments.word(word);
    }

    /// Letters `=`, `a`, `t`, `h`: the register that the portal fills in.
    pub fn skip(&mut self) {
        self.arguments.skip();
    }

    /// Letter `r`: bytes that the callee can read.
    pub fn bytes(&mut self, bytes: &'buffers [u8]) {
        self.arguments.bytes(&mut self.staging, bytes);
    }

    /// Letter `w`: bytes that the callee can read and write.
    pub fn bytes_mut(&mut self, bytes: &'buffers mut [u8]) {
        self.arguments.bytes_mut(&mut self.staging, bytes);
    }

    /// Calls the portal at `index`; all registers are passed.
    pub fn invoke(self, index: u32) -> Reply {
        let Call { arguments, staging } = self;
        let reply = Portals::at(index).invoke::<REGISTERS>(0, arguments);
        drop(staging);
        reply
    }
}

impl Default for Call<'_> {
    fn default() -> Self {
        Call::new()
    }
}

/// A block of consecutive portals, one for each method of an interface. It is a number: a portal
/// that is not there answers [`Error::NoPortal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portals {
    first: u32,
    minimal: bool,
}

impl Portals {
    /// The block that begins at index `first`.
    pub const fn at(first: u32) -> Self {
        Portals { first, minimal: false }
    }

    /// The block that begins at index `first`, whose portals may have the state letter `m`: a call
    /// that fails may have destroyed every register (but `sp`), so the stub saves them.
    pub const fn at_minimal(first: u32) -> Self {
        Portals { first, minimal: true }
    }

    /// Index of the first portal.
    pub const fn first(self) -> u32 {
        self.first
    }

    /// Calls the portal of method `method`, passing the first `WORDS` argument registers, and
    /// decodes the reply. For expansions, which know that the arguments fit the method.
    #[inline(always)]
    pub fn call<const WORDS: usize, T: Value, E: MethodError>(
        self,
        method: u32,
        arguments: Arguments,
    ) -> Result<T, E> {
        let reply = self.invoke::<WORDS>(method, arguments);
        if reply.status != 0 {
            return Err(E::from_status(reply.status));
        }
        Ok(T::from_word(reply.value)?)
    }

    #[inline(always)]
    fn invoke<const WORDS: usize>(self, method: u32, arguments: Arguments) -> Reply {
        if arguments.used > REGISTERS {
            return Reply { status: Error::BadArgument.status(), value: 0 };
        }
        if arguments.refused != 0 {
            return Reply { status: arguments.refused, value: 0 };
        }
        // As 64 bits, so that no sum comes round to the portals at the start of the table.
        let index = u64::from(self.first) + u64::from(method);
        if self.minimal {
            machine::invoke_minimal::<WORDS>(index, &arguments.words)
        } else {
            machine::invoke::<WORDS>(index, &arguments.words)
        }
    }
}

/// The argument registers as the server finds them, read in order.
pub struct Registers {
    words: [u64; REGISTERS],
    next: usize,
}

impl Registers {
    /// Begins with `a0`.
    #[inline(always)]
    pub fn new(words: [u64; REGISTERS]) -> Self {
        Registers { words, next: 0 }
    }

    /// The next register; zero behind the last.
    #[inline(always)]
    pub fn word(&mut self) -> u64 {
        let word = self.words.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        word
    }

    /// The next value, checked.
    #[inline(always)]
    pub fn value<T: Wire>(&mut self) -> Result<T, Error> {
        T::load(self)
    }
}

/// Calls a portal whose registers are all words, from `a0` on: the short circuits, which have no
/// control word.
#[cfg(target_os = "none")]
#[inline(always)]
pub(crate) fn raw(index: usize, words: [u64; REGISTERS]) -> Reply {
    machine::raw(index as u64, &words)
}
