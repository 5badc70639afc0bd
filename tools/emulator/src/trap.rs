//! Why and from where control goes to the trap vector.

/// The mode that the hart runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Privilege {
    /// U-mode.
    User,
    /// S-mode.
    Supervisor,
}

/// Cause of an exception, numbered as in `scause`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u64)]
#[allow(missing_docs)] // the names are those of the privileged manual
pub enum Cause {
    InstructionAccessFault = 1,
    IllegalInstruction = 2,
    Breakpoint = 3,
    LoadMisaligned = 4,
    LoadAccessFault = 5,
    StoreMisaligned = 6,
    StoreAccessFault = 7,
    UserCall = 8,
    InstructionPageFault = 12,
    LoadPageFault = 13,
    StorePageFault = 15,
}

/// An interrupt of the supervisor, numbered as in `scause`, `sip` and `sie`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u64)]
pub enum Interrupt {
    /// Raised by a write to `sip.SSIP`.
    Software = 1,
    /// Raised while `time >= stimecmp`.
    Timer = 5,
    /// Raised by the test, in the place of an interrupt controller.
    External = 9,
}

impl Interrupt {
    /// All of them, the most urgent first (privileged manual, section 4.1.3).
    pub const BY_PRIORITY: [Interrupt; 3] =
        [Interrupt::External, Interrupt::Software, Interrupt::Timer];

    /// Its bit in `sip` and `sie`.
    pub const fn bit(self) -> u64 {
        1 << self as u64
    }

    /// Its `scause`: the number with the topmost bit set.
    pub const fn code(self) -> u64 {
        1 << 63 | self as u64
    }
}

/// An exception that an instruction raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exception {
    /// Why.
    pub cause: Cause,
    /// What becomes `stval`: an address, the instruction's bits, or zero.
    pub value: u64,
}

/// A trap that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trap {
    /// `scause`.
    pub code: u64,
    /// `stval`.
    pub value: u64,
    /// `sepc`.
    pub program_counter: u64,
    /// The mode that was interrupted.
    pub from: Privilege,
}

impl Trap {
    /// Whether it is the exception `cause`.
    pub fn is(&self, cause: Cause) -> bool {
        self.code == cause as u64
    }
}
