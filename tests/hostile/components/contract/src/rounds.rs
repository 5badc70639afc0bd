//! How often each attacker has attacked: where a judge wants to know, the system has a section `rounds` with a word for
//! each instance.

use cairn::environment;
use cairn::time::{now, ticks};
use cairn_interfaces::ThreadsProxy;
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// The words, by the instances' numbers; `None` where nobody counts.
pub fn all() -> Option<&'static [AtomicI64]> {
    environment::section("rounds").map(|section| section.words(256))
}

/// Behind the words of all instances: whether the judge has said that attacks may begin.
fn begun() -> Option<&'static AtomicI64> {
    environment::section("rounds").map(|section| &section.words(257)[256])
}

/// The judge has seen all that it wanted to see without attackers.
pub fn begin() {
    begun().inspect(|begun| begun.store(1, Relaxed));
}

/// Waits for that. No priority holds an attacker back until then where deadlines decide.
pub fn wait_for_begin(threads: ThreadsProxy) {
    while begun().is_some_and(|begun| begun.load(Relaxed) == 0) {
        let _ = threads.sleep_until(now() + ticks(10_000));
    }
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
