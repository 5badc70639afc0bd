//! Errors that a portal call can end with, beside those that a method declares.

/// Why a call failed. A call returns its status in `a0`: zero is success, a positive number is the
/// method's own error code, a negative one is one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum Error {
    /// No portal at this index of the caller's portal table.
    NoPortal = -1,
    /// The invocation stack is full: too many nested calls.
    InvocationOverflow = -2,
    /// The callee faulted, was killed or ran away before it returned.
    Dead = -3,
    /// A pointer argument does not name memory that the caller can use this way.
    BadPointer = -4,
    /// More bytes than a window carries (16 KiB): share a section instead.
    TooLarge = -5,
    /// The caller's stack pointer is outside the stack group that the portal shares.
    BadStack = -6,
    /// A large buffer for an untrusted callee must begin and end at page boundaries.
    NotPageAligned = -7,
    /// An argument is out of range.
    BadArgument = -8,
    /// The caller may not do this.
    NotAllowed = -9,
    /// A table, pool or quota is exhausted.
    Exhausted = -10,
    /// No such name, object, thread or domain.
    NotFound = -11,
    /// The time limit passed first.
    TimedOut = -12,
    /// The operation would have to wait.
    WouldBlock = -13,
    /// The object is in use or already exists.
    Busy = -14,
    /// The wait was cancelled.
    Cancelled = -15,
    /// The interface versions of client and server differ.
    VersionMismatch = -16,
    /// The callee is not able to do this.
    NotSupported = -17,
    /// The data is not what the method expects (for example, not UTF-8).
    Malformed = -18,
    /// A status that is none of these.
    Unknown = -99,
}

impl Error {
    /// The error of a negative status; `Unknown` for a number that is none.
    pub const fn from_status(status: i64) -> Error {
        match status {
            -1 => Error::NoPortal,
            -2 => Error::InvocationOverflow,
            -3 => Error::Dead,
            -4 => Error::BadPointer,
            -5 => Error::TooLarge,
            -6 => Error::BadStack,
            -7 => Error::NotPageAligned,
            -8 => Error::BadArgument,
            -9 => Error::NotAllowed,
            -10 => Error::Exhausted,
            -11 => Error::NotFound,
            -12 => Error::TimedOut,
            -13 => Error::WouldBlock,
            -14 => Error::Busy,
            -15 => Error::Cancelled,
            -16 => Error::VersionMismatch,
            -17 => Error::NotSupported,
            -18 => Error::Malformed,
            _ => Error::Unknown,
        }
    }

    /// The status word of this error.
    pub const fn status(self) -> i64 {
        self as i64
    }

    /// A few words for people.
    pub const fn text(self) -> &'static str {
        match self {
            Error::NoPortal => "no such portal",
            Error::InvocationOverflow => "too many nested calls",
            Error::Dead => "the callee died",
            Error::BadPointer => "bad pointer",
            Error::TooLarge => "too large for a window; share a section",
            Error::BadStack => "stack pointer outside the shared stack group",
            Error::NotPageAligned => "buffer not page-aligned",
            Error::BadArgument => "argument out of range",
            Error::NotAllowed => "not allowed",
            Error::Exhausted => "exhausted",
            Error::NotFound => "not found",
            Error::TimedOut => "timed out",
            Error::WouldBlock => "would have to wait",
            Error::Busy => "busy",
            Error::Cancelled => "cancelled",
            Error::VersionMismatch => "interface versions differ",
            Error::NotSupported => "not supported",
            Error::Malformed => "malformed data",
            Error::Unknown => "unknown error",
        }
    }
}

impl core::fmt::Display for Error {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str(self.text())
    }
}

impl core::error::Error for Error {}
