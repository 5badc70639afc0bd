//! Errors that a portal call can end with, beside those that a method declares.

/// Defines an error by one line.
macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident = $status:literal, $text:literal;)*) => {
        /// Why a call failed. A call returns its status in `a0`: zero is success, a positive number is the
        /// method's own error code, a negative one is one of these.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(i64)]
        pub enum Error {
            $($(#[$doc])* $name = $status,)*
        }

        impl Error {
            /// Every error.
            pub const ALL: &[Error] = &[$(Error::$name),*];

            /// The error of a negative status; `Unknown` for any other number.
            pub const fn from_status(status: i64) -> Error {
                match status {
                    $($status => Error::$name,)*
                    _ => Error::Unknown,
                }
            }

            /// The status word of this error.
            pub const fn status(self) -> i64 {
                self as i64
            }

            /// The variant's name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Error::$name => stringify!($name),)*
                }
            }

            /// A few words for people.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Error::$name => $text,)*
                }
            }
        }
    };
}

errors! {
    /// No portal at this index of the caller's portal table.
    NoPortal = -1, "no such portal";
    /// The invocation stack is full: too many nested calls.
    InvocationOverflow = -2, "too many nested calls";
    /// The callee faulted, was killed or ran away before it returned.
    Dead = -3, "the callee died";
    /// A pointer argument does not name memory that the caller can use this way.
    BadPointer = -4, "bad pointer";
    /// More bytes than a window carries (16 KiB): share a section instead.
    TooLarge = -5, "too large for a window; share a section";
    /// The caller's stack pointer is outside the stack group that the portal shares.
    BadStack = -6, "stack pointer outside the shared stack group";
    /// A large buffer for an untrusted callee must begin and end at page boundaries.
    NotPageAligned = -7, "buffer not page-aligned";
    /// An argument is out of range.
    BadArgument = -8, "argument out of range";
    /// The caller may not do this.
    NotAllowed = -9, "not allowed";
    /// A table, pool or quota is exhausted.
    Exhausted = -10, "exhausted";
    /// No such name, object, thread or domain.
    NotFound = -11, "not found";
    /// The time limit passed first.
    TimedOut = -12, "timed out";
    /// The operation would have to wait.
    WouldBlock = -13, "would have to wait";
    /// The object is in use or already exists.
    Busy = -14, "busy";
    /// The wait was cancelled.
    Cancelled = -15, "cancelled";
    /// The interface versions of client and server differ.
    VersionMismatch = -16, "interface versions differ";
    /// The callee is not able to do this.
    NotSupported = -17, "not supported";
    /// The data is not what the method expects (for example, not UTF-8).
    Malformed = -18, "malformed data";
    /// The callee does not serve yet.
    NotReady = -19, "does not serve yet";
    /// The callee is replaced, and sends a thread back that waited in it: the call is to be made once more.
    Moved = -20, "is replaced; call again";
    /// A status that is not in this list.
    Unknown = -99, "unknown error";
}

impl core::fmt::Display for Error {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str(self.text())
    }
}

impl core::error::Error for Error {}
