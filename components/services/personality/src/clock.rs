//! What time it is.

// Relaxed: one number, which is written before any process begins.
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use core::time::Duration;

/// Nanoseconds since 1970 when the machine began.
static BEGINNING: AtomicU64 = AtomicU64::new(0);

/// Sets the time of day, if the description connects a clock that knows it.
pub fn set() {
    let clock = crate::imports::WALL_CLOCK.get();
    if let Some(now) = clock.and_then(|clock| clock.now().ok()) {
        let passed = uptime().as_nanos() as u64;
        BEGINNING.store(now.saturating_sub(passed), Relaxed);
    }
}

/// Since the machine began.
pub fn uptime() -> Duration {
    cairn::time::duration(cairn::time::counter())
}

/// Since 1970.
pub fn wall() -> Duration {
    Duration::from_nanos(BEGINNING.load(Relaxed)) + uptime()
}

/// The same, in whole seconds.
pub fn seconds() -> u64 {
    wall().as_secs()
}
