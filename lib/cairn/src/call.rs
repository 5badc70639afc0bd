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
#[cfg(target_os = "none")]
use crate::environment::startup;
use crate::section::Section;
use crate::wire::{MethodError, Value, Wire};
use cairn_abi::descriptor::Reply;
use staging::is_plain;

pub use staging::Staging;

/// Argument registers of a call (`a0` to `a7`).
pub const REGISTERS: usize = 8;

/// Registers of a reply behind its status (`a1` to `a4`).
pub const REPLY_WORDS: usize = 4;

/// The argument registers of one call, filled in from `a1` on: `a0` is the control word, which the
/// portal fills in.
///
/// It is apart from [`Staging`] so that the compiler can keep it in registers.
#[derive(Clone)]
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

    /// The words as a reply, which begins with the same register.
    #[inline(always)]
    pub(crate) fn into_reply(self) -> [u64; REPLY_WORDS] {
        let [_, words @ .., _, _, _] = self.words;
        words
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

    /// Letters `r` and `w`: memory of a section, in a window of a connection whose description says so (`windows = "NAME"`): whole pages.
    pub fn section(&mut self, section: &Section) {
        self.arguments.word(section.address() as u64);
        self.arguments.word(section.size() as u64);
    }

    /// Calls the portal at `index`; all registers are passed. Status and words of the reply. Below
    /// [`PORTAL_FIRST_IMPORT`](cairn_abi::domain::PORTAL_FIRST_IMPORT) are the component's return, and what privilege the description gives it: no
    /// index that others choose gets there, since objects and opened names have those that the portal manager chose.
    pub fn invoke(self, index: u32) -> (i64, [u64; REPLY_WORDS]) {
        let Call { arguments, staging } = self;
        let reply = Portals::at(index).invoke::<REGISTERS, REPLY_WORDS>(0, arguments);
        drop(staging);
        reply
    }
}

impl Default for Call<'_> {
    fn default() -> Self {
        Call::new()
    }
}

/// As often in a row a call is made again because its server is replaced: one that says so yet again is not.
const MOVES: usize = 1 << 16;

/// A block of consecutive portals, one for each method of an interface. It is a number: a portal
/// that is not there answers [`Error::NoPortal`].
#[derive(Clone, Copy, Debug)]
pub struct Portals {
    first: u32,
    /// How the portals are called; `None`: by the common stub, which is what most are that are opened at run time.
    by: Option<&'static By>,
}

/// How a block's portals are called.
#[derive(Debug)]
enum By {
    /// So that a failed call may have destroyed every register.
    Minimal,
    /// By the stubs of an import's methods, so that each call is one of a function at a known address.
    Stubs(&'static machine::Stubs),
}

impl PartialEq for Portals {
    fn eq(&self, other: &Self) -> bool {
        let is_minimal = |portals: &Portals| matches!(portals.by, Some(By::Minimal));
        self.first == other.first && is_minimal(self) == is_minimal(other)
    }
}

impl Eq for Portals {}

impl Portals {
    /// The block that begins at index `first`.
    pub const fn at(first: u32) -> Self {
        Portals { first, by: None }
    }

    /// The block that begins at index `first`, whose portals may have the state letter `m`: a call
    /// that fails may have destroyed every register (but `sp`), so the stub saves them.
    pub const fn at_minimal(first: u32) -> Self {
        Portals { first, by: Some(&By::Minimal) }
    }

    /// An import's block, whose first index is known when the component is built; `minimal` as above.
    pub const fn imported<const FIRST: u32, const METHODS: u32>(minimal: bool) -> Self {
        let by = const {
            match machine::stubs::<FIRST, METHODS>(false) {
                Some(stubs) => Some(&By::Stubs(stubs)),
                None => None,
            }
        };
        let minimal_by = const {
            match machine::stubs::<FIRST, METHODS>(true) {
                Some(stubs) => &By::Stubs(stubs),
                None => &By::Minimal,
            }
        };
        Portals { first: FIRST, by: if minimal { Some(minimal_by) } else { by } }
    }

    /// Index of the first portal.
    pub fn first(self) -> u32 {
        match self.by {
            // The component was built for a table of its own.
            #[cfg(target_os = "none")]
            Some(By::Stubs(_)) => self.first + u32::from(startup().portals_before),
            _ => self.first,
        }
    }

    /// The address of the stub of an import's method; 0: there is none.
    #[cfg(target_os = "none")]
    pub(crate) fn stub(self, method: u32) -> u64 {
        match self.by {
            Some(By::Stubs(stubs)) => stubs.get(method as usize).copied().flatten(),
            _ => None,
        }
        .map_or(0, |stub| stub as usize as u64)
    }

    /// Calls the portal of method `method`, passing the first `WORDS` argument registers, and
    /// decodes the reply. For expansions, which know that the arguments fit the method.
    #[inline(always)]
    pub fn call<const WORDS: usize, T: Value, E: MethodError>(
        self,
        method: u32,
        arguments: Arguments,
    ) -> Result<T, E> {
        // Resolved when it is compiled.
        let (status, words) = if T::WORDS > 1 {
            self.invoke::<WORDS, REPLY_WORDS>(method, arguments)
        } else {
            self.invoke::<WORDS, 1>(method, arguments)
        };
        if status != 0 {
            return Err(E::from_status(status));
        }
        Ok(T::from_words(words)?)
    }

    /// The same of a method that waits: a server that is replaced sends it back by [`Error::Moved`], and it goes to the successor.
    pub fn call_again<const WORDS: usize, T: Value, E: MethodError>(
        self,
        method: u32,
        arguments: Arguments,
    ) -> Result<T, E> {
        for _ in 0..MOVES {
            let (status, words) = self.invoke::<WORDS, REPLY_WORDS>(method, arguments.clone());
            match status {
                0 => return Ok(T::from_words(words)?),
                moved if moved == Error::Moved.status() => {}
                status => return Err(E::from_status(status)),
            }
        }
        Err(E::from_status(Error::Moved.status()))
    }

    /// Status and words of the reply; those behind `REPLY` are zero.
    #[inline(always)]
    fn invoke<const WORDS: usize, const REPLY: usize>(
        self,
        method: u32,
        arguments: Arguments,
    ) -> (i64, [u64; REPLY_WORDS]) {
        if arguments.used > REGISTERS {
            return (Error::BadArgument.status(), [0; REPLY_WORDS]);
        }
        if arguments.refused != 0 {
            return (arguments.refused, [0; REPLY_WORDS]);
        }
        // As 64 bits, so that no sum comes round to the portals at the start of the table.
        let index = u64::from(self.first) + u64::from(method);
        let words = &arguments.words;
        let stub = match self.by {
            Some(By::Stubs(stubs)) => match stubs.get(method as usize) {
                Some(Some(stub)) => Some(*stub),
                _ => return (Error::NoPortal.status(), [0; REPLY_WORDS]),
            },
            _ => None,
        };
        let Reply { status, value } = match (REPLY > 1, stub, self.by) {
            (true, Some(stub), _) => return machine::invoke_wide_stub::<WORDS>(stub, words),
            (true, None, None) => return machine::invoke_wide::<WORDS>(index, words),
            (true, None, _) => return machine::invoke_wide_minimal::<WORDS>(index, words),
            (false, Some(stub), _) => machine::invoke_stub::<WORDS>(stub, words),
            (false, None, None) => machine::invoke::<WORDS>(index, words),
            (false, None, _) => machine::invoke_minimal::<WORDS>(index, words),
        };
        (status, [value, 0, 0, 0])
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

    /// Those of a reply, from its value on.
    #[inline(always)]
    pub(crate) fn of_reply([value, second, third, fourth]: [u64; REPLY_WORDS]) -> Self {
        Registers { words: [0, value, second, third, fourth, 0, 0, 0], next: 1 }
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
