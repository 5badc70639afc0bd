//! Entry points of methods whose value has several words: a C function returns two registers, so what is behind them
//! goes through memory of a shim's.

use crate::call::REPLY_WORDS;
use cairn_abi::descriptor::{EntryPoint, Reply};

#[cfg(target_os = "none")]
use crate::arch::call::wide;
#[cfg(not(target_os = "none"))]
use crate::call::host::wide;

/// The words of a reply behind its value. Whoever is given this writes all of it.
pub type Rest = [u64; REPLY_WORDS - 1];

/// The skeleton of a method with a value of several words.
pub trait Wide {
    /// Serves a call with these argument registers.
    #[allow(clippy::too_many_arguments)]
    extern "C" fn serve(
        a0: u64,
        a1: u64,
        a2: u64,
        a3: u64,
        a4: u64,
        a5: u64,
        a6: u64,
        a7: u64,
        rest: &mut Rest,
    ) -> Reply;
}

/// The entry point of a method whose value has so many words.
pub const fn entry<W: Wide>(words: usize, narrow: EntryPoint) -> EntryPoint {
    if words > 1 { wide::<W> } else { narrow }
}
