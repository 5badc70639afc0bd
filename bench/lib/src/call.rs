//! Costs of calls, the cost of measuring taken off.

use cairn::abi::descriptor::EntryPoint;
use cairn::abi::domain::{PORTAL_OWN_DOMAIN, PORTAL_TIME};
use cairn::measure::Portals;
use cairn::measure::{self, Cost, Sample, Stamp, unused_mark};

/// A short-circuit portal that every domain has.
pub const SHORT_CIRCUIT: u32 = PORTAL_OWN_DOMAIN as u32;

/// What stands for the first portal of the next domain when a domain's own instructions are counted in
/// a call of its method `method`: that method's portal is then a short circuit.
pub const fn instead_of_next(method: u32) -> u32 {
    PORTAL_TIME as u32 - method
}

/// What a cost settles at: the medians of some costs, after some more that fill the caches.
pub fn settled(mut measure: impl FnMut() -> Cost) -> Cost {
    const COSTS: usize = 9;
    for _ in 0..COSTS {
        measure();
    }
    let costs = [(); COSTS].map(|()| measure());
    let median = |part: fn(&Cost) -> i64| {
        let mut parts = costs.each_ref().map(part);
        parts.sort_unstable();
        parts[COSTS / 2]
    };
    Cost { cycles: median(|cost| cost.cycles), instructions: median(|cost| cost.instructions) }
}

/// Measures calls.
pub struct Meter {
    overhead: Cost,
    overhead_inline: Cost,
}

impl Meter {
    /// Measures measuring first.
    #[allow(clippy::new_without_default)]
    #[inline(never)]
    pub fn new() -> Meter {
        Meter {
            overhead: settled(measure::overhead),
            overhead_inline: settled(measure::overhead_inline),
        }
    }

    /// What lay between two stamps, of which `begin` was taken before a call.
    #[inline(always)]
    pub fn between(&self, begin: Stamp, end: Stamp) -> Cost {
        end - begin - self.overhead
    }

    /// What lay between [`Stamp::begin`] and a later stamp.
    #[inline(always)]
    pub fn since(&self, begin: Stamp, end: Stamp) -> Cost {
        end - begin - self.overhead_inline
    }

    /// What lies between [`Stamp::begin`] and [`Stamp::end`] with nothing between them.
    pub fn reading(&self) -> Cost {
        self.overhead_inline
    }

    /// From the `ecall` to the first instruction after the return. Panics if the call failed: what it
    /// cost is then no result.
    pub fn portal(&self, index: u32, words: &[u64; 8]) -> Cost {
        self.cost(measure::portal(index, words, &unused_mark()))
    }

    /// A server's entry point itself up to the `ecall` with which it returns: its cost as an
    /// ordinary function, where `jalr` stands for the return stub's `li`.
    pub fn entry(&self, entry: EntryPoint, words: &[u64; 8]) -> Cost {
        self.cost(measure::function(entry, words, &unused_mark()))
    }

    /// A call of an import's method by its stub, and the `jalr` that stands for the caller's `call`.
    pub fn stub(&self, portals: Portals, method: u32, words: &[u64; 8]) -> Cost {
        self.cost(measure::stub(portals, method, words, &unused_mark()))
    }

    fn cost(&self, sample: Sample) -> Cost {
        assert!(sample.reply.status == 0, "the measured call failed");
        self.between(sample.begin, sample.end)
    }
}
