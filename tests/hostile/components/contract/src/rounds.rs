//! How often each attacker has attacked: where a judge wants to know, the system has a section `rounds` with a word for
//! each instance.

use cairn::environment;
use cairn_interfaces::ThreadsProxy;
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// The words, by the instances' numbers; `None` where nobody counts.
pub fn all() -> Option<&'static [AtomicI64]> {
    environment::section("rounds").map(|section| section.words(256))
}

/// The priority of a further thread: where all attack at the same time, they take turns.
pub fn priority(own: u8) -> u8 {
    all().map_or(own, |_| 30)
}

/// Counts as [`count`], and it is the next one's turn.
pub fn pass(threads: ThreadsProxy) {
    if all().is_some() {
        count();
        let _ = threads.yield_now();
    }
}

/// This instance has attacked once more.
pub fn count() {
    if let Some(rounds) = all() {
        rounds[environment::startup().instance.index()].fetch_add(1, Relaxed);
    }
}
