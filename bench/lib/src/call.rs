//! Costs of calls, the cost of measuring taken off.

use cairn::abi::descriptor::EntryPoint;
use cairn::abi::domain::{PORTAL_OWN_DOMAIN, PORTAL_TIME};
use cairn::measure::{self, Sample};
use core::sync::atomic::AtomicI64;

/// A short-circuit portal that every domain has.
pub const SHORT_CIRCUIT: u32 = PORTAL_OWN_DOMAIN as u32;

/// What stands for the first portal of the next domain when a domain's own instructions are counted in
/// a call of its method `method`: that method's portal is then a short circuit.
pub const fn instead_of_next(method: u32) -> u32 {
    PORTAL_TIME as u32 - method
}

/// Measures calls.
pub struct Meter {
    overhead: u64,
}

impl Meter {
    /// Measures measuring first.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Meter {
        Meter { overhead: measure::overhead() }
    }

    /// Instructions between two counts, of which `begin` was taken before a call.
    #[inline(always)]
    pub fn between(&self, begin: u64, end: u64) -> u64 {
        end.wrapping_sub(begin).wrapping_sub(self.overhead)
    }

    /// Instructions from the `ecall` to the first instruction after the return. Panics if the call
    /// failed: what it cost is then no result.
    pub fn portal(&self, index: u32, words: &[u64; 8]) -> u64 {
        self.cost(measure::portal(index, words, &AtomicI64::new(0)))
    }

    /// Instructions of a server's entry point itself up to the `ecall` with which it returns: its
    /// cost as an ordinary function, where `jalr` stands for the return stub's `li`.
    pub fn entry(&self, entry: EntryPoint, words: &[u64; 8]) -> u64 {
        self.cost(measure::function(entry, words, &AtomicI64::new(0)))
    }

    fn cost(&self, sample: Sample) -> u64 {
        assert!(sample.reply.status == 0, "the measured call failed");
        self.between(sample.begin, sample.end)
    }
}
