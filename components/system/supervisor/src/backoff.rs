//! When a component that faulted is started again.

/// Longest delay.
pub const DELAY_MAXIMUM_MILLISECONDS: u64 = 10_000;
/// Delay after the second fault in a row.
pub const DELAY_FIRST_MILLISECONDS: u64 = 10;
/// A component that ran this long has behaved well: its next fault is a first one.
pub const GOOD_BEHAVIOUR_MILLISECONDS: u64 = 10_000;

/// Milliseconds until the restart after a fault, when `earlier` faults came before it without good
/// behaviour in between. The first restart is at once; then the delay doubles.
pub const fn delay(earlier: u32) -> u64 {
    match earlier {
        0 => 0,
        1..=10 => {
            let delay = DELAY_FIRST_MILLISECONDS << (earlier - 1);
            if delay < DELAY_MAXIMUM_MILLISECONDS { delay } else { DELAY_MAXIMUM_MILLISECONDS }
        }
        _ => DELAY_MAXIMUM_MILLISECONDS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_from_ten_milliseconds_to_ten_seconds() {
        let delays: Vec<u64> = (0..13).map(delay).collect();
        assert_eq!(delays, [0, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10_000, 10_000]);
        assert_eq!(delay(u32::MAX), DELAY_MAXIMUM_MILLISECONDS);
    }
}
