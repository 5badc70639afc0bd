//! The arithmetic of time: ticks, nanoseconds, periods.
#![no_std]
#![forbid(unsafe_code)]

const SECOND: u128 = 1_000_000_000;

/// Nanoseconds in `ticks`, when `time_base` of them are a second; at most what a word holds.
pub fn nanoseconds(ticks: u64, time_base: u64) -> u64 {
    let nanoseconds = u128::from(ticks) * SECOND / u128::from(time_base.max(1));
    u64::try_from(nanoseconds).unwrap_or(u64::MAX)
}

/// Ticks that last at least `nanoseconds`; at most what a word holds.
pub fn ticks(nanoseconds: u64, time_base: u64) -> u64 {
    let ticks = (u128::from(nanoseconds) * u128::from(time_base)).div_ceil(SECOND);
    u64::try_from(ticks).unwrap_or(u64::MAX)
}

/// The periods that have ended by `now`, when the first of them ends at `end`, and the end of the
/// one that goes on. `None`: not even the first has ended.
pub fn periods(now: u64, end: u64, period: u64) -> Option<(u64, u64)> {
    let late = now.checked_sub(end)?;
    let ended = late / period.max(1) + 1;
    // The next end is at most a period after now.
    Some((ended, end.saturating_add(ended.saturating_mul(period.max(1)))))
}

#[cfg(test)]
mod tests {
    use super::{nanoseconds, periods, ticks};

    #[test]
    fn ticks_and_nanoseconds() {
        assert_eq!(nanoseconds(10_000_000, 10_000_000), 1_000_000_000);
        assert_eq!(nanoseconds(1, 10_000_000), 100);
        assert_eq!(nanoseconds(u64::MAX, 10_000_000), u64::MAX);
        assert_eq!(ticks(1_000_000_000, 10_000_000), 10_000_000);
        assert_eq!(ticks(u64::MAX, 4_000_000_000), u64::MAX);
    }

    #[test]
    fn no_sleep_is_shorter_than_asked() {
        assert_eq!(ticks(0, 10_000_000), 0);
        assert_eq!(ticks(1, 10_000_000), 1);
        assert_eq!(ticks(100, 10_000_000), 1);
        assert_eq!(ticks(101, 10_000_000), 2);
    }

    #[test]
    fn periods_keep_to_their_beat() {
        assert_eq!(periods(99, 100, 10), None);
        assert_eq!(periods(100, 100, 10), Some((1, 110)));
        assert_eq!(periods(109, 100, 10), Some((1, 110)));
        assert_eq!(periods(110, 100, 10), Some((2, 120)));
        assert_eq!(periods(1005, 100, 10), Some((91, 1010)));
    }

    #[test]
    fn periods_at_the_end_of_time() {
        assert_eq!(periods(5, 5, 0), Some((1, 6)));
        assert_eq!(periods(u64::MAX, u64::MAX - 1, u64::MAX), Some((1, u64::MAX)));
    }
}
