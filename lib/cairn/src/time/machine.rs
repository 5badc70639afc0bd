//! By the hart's counters, and by short-circuit portals that every domain has.

use crate::call::raw;
use crate::environment::startup;
use cairn_abi::DomainId;
use cairn_abi::domain::{PORTAL_OWN_DOMAIN, PORTAL_OWN_THREAD, PORTAL_TIME};

/// The time in ticks of the board's time base, by the short-circuit portal.
pub fn now() -> u64 {
    raw(PORTAL_TIME, [0; 8]).value
}

/// The time in ticks of the board's time base, from the hart's counter.
#[inline(always)]
pub fn counter() -> u64 {
    crate::arch::counter::time()
}

/// The clock by which a scheduler counts execution: the time, or the hart's cycles on a board where reading the time is a trap
/// (`cycle_base`). Those may stand still while the idle thread waits.
#[inline(always)]
pub fn run_clock() -> u64 {
    crate::arch::counter::run_clock()
}

/// The time, not before the run clock said `now`.
#[inline(always)]
pub fn time_behind(now: u64) -> u64 {
    crate::arch::counter::time_behind(now)
}

/// What the run clock counts in a tick of the time.
pub fn run_rate() -> u64 {
    startup().run_rate
}

/// Instructions that the hart has executed.
#[inline(always)]
pub fn instructions() -> u64 {
    crate::arch::counter::instructions()
}

/// Ticks in a second.
pub fn time_base() -> u64 {
    startup().time_base
}

/// Index of the calling thread.
pub fn own_thread() -> u64 {
    raw(PORTAL_OWN_THREAD, [0; 8]).value
}

/// The domain of the caller.
pub fn own_domain() -> DomainId {
    DomainId(raw(PORTAL_OWN_DOMAIN, [0; 8]).value as u16)
}
