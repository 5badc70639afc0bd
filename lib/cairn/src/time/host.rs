//! By the clock of the host, with the ticks of a common board.

extern crate std;

use std::sync::OnceLock;
use std::time::Instant;

/// The time in ticks of [`time_base`], from the first call on.
pub fn counter() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    (START.get_or_init(Instant::now).elapsed().as_nanos() / 100) as u64
}

/// The same.
pub fn now() -> u64 {
    counter()
}

/// Ticks in a second.
pub fn time_base() -> u64 {
    10_000_000
}
