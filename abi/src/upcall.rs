//! Why the nucleus enters a component, and what a thread did that it may not, in the words of no machine. The numbers
//! of a machine are in `arch`'s module `trap`.

/// What enters a component through an entry of the domain that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upcall {
    /// A thread did what it may not: [`Fault`].
    Fault,
    /// A call found no free stack in its callee.
    StackWait,
    /// Portal code asked for the scheduler.
    Software,
    /// The timer's time has come.
    Timer,
    /// A device interrupts.
    External,
}

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A load.
    Read,
    /// A store, or an atomic operation.
    Write,
    /// An instruction is fetched.
    Execute,
}

/// What a thread did that it may not. Numbers are addresses, if nothing else is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The page table does not allow it: what a pager could mend.
    Denied(Access, u64),
    /// There is no memory.
    Absent(Access, u64),
    /// Not a multiple of what the machine wants.
    Misaligned(Access, u64),
    /// An instruction that there is not, or that needs privilege.
    Illegal,
    /// The same, of floating point, which is off where nobody says that it is used.
    FloatingPoint,
    /// A breakpoint.
    Breakpoint,
    /// The machine's number.
    Other(u64),
}
