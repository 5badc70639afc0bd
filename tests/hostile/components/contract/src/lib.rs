//! What the hostile component, its neighbours and the referee agree on.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(target_os = "none")]
pub mod judge;
pub mod measure;
#[cfg(target_os = "none")]
pub mod operations;
#[cfg(target_os = "none")]
pub mod rounds;

use cairn::Error;

/// Attacks when it is told to. Most attacks do not come back: the caller is told [`Error::Dead`].
#[cairn::interface]
pub trait Attacker {
    /// Counts the calls of this instance since it was started.
    fn count(&self) -> Result<u64, Error>;
    /// Makes one of the attacks of [`attack`], with its two arguments.
    fn attack(&self, attack: u64, first: u64, second: u64) -> Result<u64, Error>;
    /// Keeps where a window is, for the attack `TOUCH`; `afterwards`: a thread touches it as soon as this
    /// call has returned.
    fn keep(&self, bytes: &[u8], afterwards: bool) -> Result<u64, Error>;
    /// Notes where the window is and does not return.
    fn keep_for_ever(&self, bytes: &mut [u8]) -> Result<u64, Error>;
    /// The same, for writing.
    fn keep_writable(&self, bytes: &mut [u8], afterwards: bool) -> Result<u64, Error>;
}

/// A neighbour that everyone may call.
#[cairn::interface]
pub trait Victim {
    /// The word, plus one.
    fn echo(&self, word: u64) -> Result<u64, Error>;
    /// The sum of the bytes.
    fn sum(&self, bytes: &[u8]) -> Result<u64, Error>;
    /// Writes a byte everywhere.
    fn fill(&self, bytes: &mut [u8], byte: u8) -> Result<(), Error>;
    /// Sums the bytes up, waits, and sums them up again.
    fn hold(&self, bytes: &[u8]) -> Result<(), Error>;
    /// How many `hold` there were, in bits 16 to 31 how many of them have ended, above in how many of
    /// these the bytes had changed.
    fn held(&self) -> Result<u64, Error>;
    /// The address of a page of its own.
    fn page(&self) -> Result<u64, Error>;
    /// Whether that page is as it was at the start.
    fn is_whole(&self) -> Result<bool, Error>;
    /// The word, after it was on the stack.
    fn push(&self, word: u64) -> Result<u64, Error>;
}

/// What the attacker can do.
pub mod attack {
    /// Loads a word from `first`.
    pub const LOAD: u64 = 0;
    /// Stores a word to `first`.
    pub const STORE: u64 = 1;
    /// Jumps to `first`.
    pub const JUMP: u64 = 2;
    /// Executes instruction `first` of [`super::INSTRUCTIONS`].
    pub const INSTRUCTION: u64 = 3;
    /// The address of `first`: 0 a variable that holds an instruction, 1 read-only data, 2 code, 3 a
    /// page for windows.
    pub const ADDRESS: u64 = 4;
    /// Passes `first` as the pointer and `second` as the length to the victim's `sum`; answers the status.
    pub const PASS_READABLE: u64 = 5;
    /// The same with the victim's `fill`.
    pub const PASS_WRITABLE: u64 = 6;
    /// Loads the last byte of the window that it kept.
    pub const TOUCH: u64 = 7;
    /// Returns with a secret in every register that the return does not use itself.
    pub const LEAVE_SECRETS: u64 = 8;
    /// Registers `attacker.look`, which keeps the registers that it is called with.
    pub const REGISTER_LOOK: u64 = 9;
    /// The register `x<first>` that `attacker.look` found.
    pub const LOOKED: u64 = 10;
    /// Writes secrets over its stack, its variables and memory that it allocates.
    pub const WRITE_SECRETS: u64 = 11;
    /// How many of these secrets are on its stack and in its variables.
    pub const FIND_SECRETS: u64 = 12;
    /// Calls the victim with the stack pointer `first`; answers the status.
    pub const CALL_WITH_STACK: u64 = 13;
    /// Calls the victim with the return address `first`.
    pub const CALL_WITH_RETURN: u64 = 14;
    /// Turns round and round with `first` in every register, the stack pointer included.
    pub const SPIN: u64 = 15;
    /// Uses more stack than it has.
    pub const OVERFLOW_STACK: u64 = 16;
    /// Calls itself through portals, so that it waits for its own stack.
    pub const CALL_ITSELF: u64 = 17;
    /// Starts a thread that does what `first` says: 0 calls the return portal, 1 executes at `second`,
    /// 2 has the stack pointer `second` and returns. Answers the status of starting it and, for 0, of waiting for its end.
    pub const THREAD: u64 = 18;
    /// Takes as many threads as there are; answers the status of the last attempt.
    pub const EXHAUST_THREADS: u64 = 19;
    /// The same for memory.
    pub const EXHAUST_MEMORY: u64 = 20;
    /// The same for portals.
    pub const EXHAUST_PORTALS: u64 = 21;
    /// The same for names.
    pub const EXHAUST_NAMES: u64 = 22;
    /// The same for semaphores.
    pub const EXHAUST_SEMAPHORES: u64 = 23;
    /// Panics.
    pub const PANIC: u64 = 24;
    /// As `EXHAUST_THREADS`, for locks.
    pub const EXHAUST_LOCKS: u64 = 25;
    /// Does what `first` says of [`super::MISALIGNED`] to an address of its own that lies `second` bytes
    /// after an aligned one; answers 0 if that went well.
    pub const MISALIGNED: u64 = 26;
    /// Calls the victim's `hold` with a window, again and again.
    pub const HOLD: u64 = 27;
    /// Calls the neighbour that shares stacks with it, with the stack pointer `first`; answers the status.
    pub const SHARE_STACK: u64 = 28;
}

/// What the section `notes` holds, which attacker and referee share: words by their offsets. While
/// `CALLS` is not `CALLS_WANTED`, the attacker's main function calls portals by chance.
pub mod notes {
    /// Where the window of the call `keep_for_ever` is, once it is open.
    pub const WINDOW: usize = 40;
    /// How many calls were begun.
    pub const CALLS: usize = 0;
    /// How many there are to be.
    pub const CALLS_WANTED: usize = 8;
    /// How many of them succeeded.
    pub const SUCCEEDED: usize = 16;
    /// How many were answered by `NoPortal`.
    pub const NO_PORTAL: usize = 24;
    /// An index out of range, or of a privileged portal, that was not answered by `NoPortal`.
    pub const WRONG: usize = 32;
}

/// What needs aligned addresses: loads and stores may do without, which the hart or its firmware decides,
/// and a store-conditional without a reservation may just fail; the others may not.
pub const MISALIGNED: [&str; 6] = [
    "a load",
    "a store",
    "a store-conditional",
    "a load-reserved",
    "a swap",
    "an addition of half a word",
];
/// How many of them may do without.
pub const MAY_BE_MISALIGNED: usize = 3;

/// The secret.
pub const SECRET: u64 = 0x5ec2_e75e_c2e7_5ec2;

/// Instructions that user mode may not execute.
pub const INSTRUCTIONS: [&str; 24] = [
    "csrr sstatus",
    "csrw sstatus",
    "csrr sie",
    "csrw sie",
    "csrw sip",
    "csrr satp",
    "csrw satp",
    "csrr stvec",
    "csrw stvec",
    "csrw sscratch",
    "csrr sepc",
    "csrw scounteren",
    "csrw stimecmp",
    "csrr mstatus",
    "csrw mie",
    "csrw cycle",
    "sret",
    "mret",
    "wfi",
    "sfence.vma",
    "ebreak",
    "all bits zero",
    "all bits one",
    "a float instruction",
];

/// Writes a line to the console that the component imports as `console`.
#[macro_export]
macro_rules! say {
    ($($argument:tt)*) => {{
        let text = format_args!("{}\n", format_args!($($argument)*));
        imports::CONSOLE.print(text).expect("console");
    }};
}
