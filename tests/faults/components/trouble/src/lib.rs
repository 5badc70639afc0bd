//! The interface of the component that does what no component may do.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// The test's victim.
#[cairn::interface]
pub trait Trouble {
    /// Counts its calls since it was started, and answers that.
    fn count(&self) -> Result<u64, Error>;
    /// Does one of [`DEEDS`], by its position, at an address where the deed needs one.
    fn commit(&self, deed: u64, address: u64) -> Result<u64, Error>;
}

/// Which of them the hardware does not stop in the kernel domain, by their positions.
pub const PRIVILEGED: [usize; 6] = [4, 5, 6, 7, 8, 13];

/// What the victim can do, none of which comes back.
pub const DEEDS: [&str; 16] = [
    "panic",
    "read",
    "write",
    "jump",
    "read privileged memory",
    "jump to privileged memory",
    "read a privileged register",
    "return from a trap",
    "forget translations",
    "overflow its stack",
    "execute its data",
    "write to its code",
    "never return",
    "wait for an interrupt",
    "add beyond the largest number",
    "panic with a message that is another's",
];
