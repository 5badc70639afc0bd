//! The nucleus: the only code that is privileged in every system.
//!
//! Read `arch/riscv64/trap.S` first: everything enters there. `window.S` has what portals share to
//! pass memory, `privileged.S` the portals that do what needs privilege. This file and `service.rs`
//! are what is not worth assembly; none of it runs on a path that matters.
#![no_std]
#![no_main]

mod arch;
mod fatal;
mod service;

use cairn_abi::parameters::Parameters;
use core::ptr::addr_of;

/// Written into the image by the host tool; not written at run time.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.parameters")]
static mut NUCLEUS_PARAMETERS: Parameters = Parameters::ZERO;

/// The system around the nucleus.
pub fn parameters() -> Parameters {
    // SAFETY: the static is initialised and nothing writes it while the machine runs. The read is
    // volatile because the compiler does not see the host tool's write.
    unsafe { addr_of!(NUCLEUS_PARAMETERS).read_volatile() }
}
