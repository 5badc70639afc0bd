//! Lines of words as tables: the descriptions that system components give are words separated by
//! spaces.

use core::fmt;

/// A column, with its width.
#[derive(Clone, Copy)]
pub enum Column {
    /// Words begin at the same place.
    Text(usize),
    /// Words end at the same place.
    Number(usize),
}

/// A line of a table: each word padded to its column's width; what stands behind the last column
/// follows as it is.
pub struct Row<'text> {
    /// The columns.
    pub columns: &'static [Column],
    /// The words.
    pub text: &'text str,
}

impl fmt::Display for Row<'_> {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let mut rest = self.text;
        for column in self.columns {
            let (word, behind) = match rest.split_once(' ') {
                Some((word, behind)) => (word, Some(behind)),
                None => (rest, None),
            };
            match (*column, behind) {
                (Column::Number(width), _) => write!(out, "{word:>width$}")?,
                (Column::Text(width), Some(_)) => write!(out, "{word:<width$}")?,
                // Nothing follows that would have to be moved.
                (Column::Text(_), None) => out.write_str(word)?,
            }
            let Some(behind) = behind else { return Ok(()) };
            out.write_str("  ")?;
            rest = behind;
        }
        out.write_str(rest)
    }
}

/// Nanoseconds as days, hours, minutes and seconds.
pub struct Uptime(pub u64);

impl fmt::Display for Uptime {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let seconds = self.0 / 1_000_000_000;
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
        if days > 0 {
            write!(out, "{days} d ")?;
        }
        if seconds >= 3600 {
            write!(out, "{hours} h ")?;
        }
        if seconds >= 60 {
            write!(out, "{minutes} min ")?;
        }
        write!(out, "{}.{:03} s", seconds % 60, self.0 / 1_000_000 % 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::{Column, Row, Uptime};
    use std::format;

    #[test]
    fn rows() {
        let row =
            |text| format!("{}", Row { columns: &[Column::Text(5), Column::Number(3)], text });
        assert_eq!(row("a 1 c d"), "a        1  c d");
        assert_eq!(row("longer 1000 c"), "longer  1000  c");
        assert_eq!(row("a 1"), "a        1");
        assert_eq!(row("a"), "a");
        assert_eq!(row(""), "");
    }

    #[test]
    fn times() {
        assert_eq!(format!("{}", Uptime(1_234_567_890)), "1.234 s");
        assert_eq!(format!("{}", Uptime(61_000_000_000)), "1 min 1.000 s");
        assert_eq!(format!("{}", Uptime(90_061_000_000_000)), "1 d 1 h 1 min 1.000 s");
        assert_eq!(format!("{}", Uptime(86_400_000_000_000)), "1 d 0 h 0 min 0.000 s");
    }
}
