//! Numbers by chance that are the same in every run, for tests and benchmarks on the host and on the machine.
//!
//! Not `fastrand`, which tests of the host use beside it: what it yields for a seed may change with its version, and exact figures
//! of benchmarks and the course of attacks by chance with it.
#![no_std]
#![forbid(unsafe_code)]

/// A generator (xorshift64, Marsaglia 2003). It keeps no secret: each number tells the next.
pub struct Random(u64);

impl Random {
    /// Continues from a state; 0, which would yield zeros only, is taken for 1.
    pub fn new(state: u64) -> Random {
        Random(state.max(1))
    }

    /// Seeds that differ in few bits, such as small numbers, give sequences that do not resemble each other.
    pub fn of_seed(seed: u64) -> Random {
        Random::new(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A number, never 0.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`; 0 if that is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// An index of a list of this length.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// A number from `low` to `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }
}
