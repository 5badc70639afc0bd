//! Time: points in it, and spans between them.
//!
//! ```
//! use cairn::time::{Duration, Instant};
//!
//! let begin = Instant::now();
//! let end = begin + Duration::from_millis(10);
//! assert!(end > begin);
//! assert_eq!(end - begin, Duration::from_millis(10));
//! assert!(begin.elapsed() < Duration::from_secs(3600));
//! ```

use core::ops::{Add, AddAssign, Sub};

pub use core::time::Duration;

#[cfg(not(target_os = "none"))]
#[path = "time/host.rs"]
mod machine;
#[cfg(target_os = "none")]
#[path = "time/machine.rs"]
mod machine;

pub use machine::*;

const NANOSECONDS: u64 = 1_000_000_000;

/// A point in time, in ticks of the board's time base since the machine started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The present, from the hart's counter.
    #[inline(always)]
    pub fn now() -> Instant {
        Instant(counter())
    }

    /// The time in ticks.
    pub const fn from_ticks(ticks: u64) -> Instant {
        Instant(ticks)
    }

    /// Its ticks.
    pub const fn ticks(self) -> u64 {
        self.0
    }

    /// How long it is behind `earlier`; zero if it is not.
    pub fn duration_since(self, earlier: Instant) -> Duration {
        duration(self.0.saturating_sub(earlier.0))
    }

    /// How long ago it is; zero if it has not come.
    pub fn elapsed(self) -> Duration {
        Instant::now().duration_since(self)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;
    /// Not earlier than that; the end of time is the latest.
    fn add(self, span: Duration) -> Instant {
        Instant(self.0.saturating_add(ticks_of(span)))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Sub for Instant {
    type Output = Duration;
    fn sub(self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }
}

/// Ticks in a number of microseconds.
pub fn ticks(microseconds: u64) -> u64 {
    microseconds.saturating_mul(time_base()) / 1_000_000
}

/// Ticks that last at least so long.
pub fn ticks_of(span: Duration) -> u64 {
    let base = time_base();
    // A part of a second: the product is far below a word's end.
    let part = (u64::from(span.subsec_nanos()) * base).div_ceil(NANOSECONDS);
    span.as_secs().saturating_mul(base).saturating_add(part)
}

/// How long a number of ticks is.
pub fn duration(ticks: u64) -> Duration {
    let base = time_base().max(1);
    Duration::new(ticks / base, (ticks % base * NANOSECONDS / base) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_span_becomes_shorter() {
        assert_eq!(ticks_of(Duration::from_nanos(0)), 0);
        assert_eq!(ticks_of(Duration::from_nanos(1)), 1);
        assert_eq!(ticks_of(Duration::from_nanos(100)), 1);
        assert_eq!(ticks_of(Duration::from_nanos(101)), 2);
        assert_eq!(ticks_of(Duration::from_millis(1500)), 15_000_000);
        assert_eq!(ticks_of(Duration::MAX), u64::MAX);
        assert_eq!(duration(15_000_001), Duration::from_nanos(1_500_000_100));
        assert_eq!(ticks_of(duration(u64::MAX)), u64::MAX);
    }

    #[test]
    fn the_end_of_time_is_the_latest() {
        let last = Instant::from_ticks(u64::MAX);
        assert_eq!(last + Duration::from_secs(1), last);
        assert_eq!(Instant::from_ticks(0) - last, Duration::ZERO);
    }
}
