//! C headers from interface descriptors.
//!
//! A header has for each method a function that calls it, and for servers the prototypes of the
//! entry points and what goes into the component's descriptor. It needs `cairn.h` (`lib/c`), which includes the
//! ABI's numbers.
#![forbid(unsafe_code)]

mod constants;
mod header;
mod method;
mod names;

pub use constants::{ABI_FILE, abi};
pub use header::{file_name, header};
