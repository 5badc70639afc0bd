//! Sizes and durations as people write them.

const SIZE_UNITS: [(char, u64); 3] = [('K', 1 << 10), ('M', 1 << 20), ('G', 1 << 30)];
const DURATION_UNITS: [(&str, u64); 4] =
    [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];

/// Bytes of a size such as `64K`, `1M`, `2G`.
pub fn parse_size(text: &str) -> Option<u64> {
    let unit = SIZE_UNITS.iter().find(|unit| text.ends_with(unit.0))?;
    parse_number(&text[..text.len() - 1])?.checked_mul(unit.1)
}

/// Nanoseconds of a duration such as `250us`, `10ms`, `2s`.
pub(crate) fn parse_duration(text: &str) -> Option<u64> {
    let unit = DURATION_UNITS.iter().find(|unit| text.ends_with(unit.0))?;
    parse_number(&text[..text.len() - unit.0.len()])?.checked_mul(unit.1)
}

fn parse_number(text: &str) -> Option<u64> {
    // `u64::from_str` would also take a leading plus.
    if text.starts_with(|first: char| first.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// A size in the largest unit that divides it.
pub fn show_size(bytes: u64) -> String {
    for (letter, unit) in SIZE_UNITS.iter().rev() {
        if bytes != 0 && bytes.is_multiple_of(*unit) {
            return format!("{}{letter}", bytes / unit);
        }
    }
    match bytes {
        1 => "1 byte".to_owned(),
        _ => format!("{bytes} bytes"),
    }
}

/// A duration in the largest unit that divides it.
pub fn show_duration(nanoseconds: u64) -> String {
    for (name, unit) in DURATION_UNITS.iter().rev() {
        if nanoseconds != 0 && nanoseconds.is_multiple_of(*unit) {
            return format!("{}{name}", nanoseconds / unit);
        }
    }
    "0ns".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("64K"), Some(65536));
        assert_eq!(parse_size("1M"), Some(1 << 20));
        for bad in ["", "K", "64", "64k", "64KB", "-1K", "+1K", "1 K", "1.5M", "99999999999G"] {
            assert_eq!(parse_size(bad), None, "{bad}");
        }
        assert_eq!(show_size(65536), "64K");
        assert_eq!(show_size(100), "100 bytes");
        assert_eq!(show_size(0), "0 bytes");
    }

    #[test]
    fn durations() {
        assert_eq!(parse_duration("10ms"), Some(10_000_000));
        assert_eq!(parse_duration("2s"), Some(2_000_000_000));
        assert_eq!(parse_duration("7ns"), Some(7));
        for bad in ["", "s", "10", "10m", "ms", "-1s", "1.5s", "99999999999999s"] {
            assert_eq!(parse_duration(bad), None, "{bad}");
        }
        assert_eq!(show_duration(1_500_000), "1500us");
    }
}
