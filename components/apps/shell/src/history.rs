//! The lines typed before.

use heapless::{Deque, String};

/// Longest line.
pub const LINE: usize = 200;
/// Lines remembered.
const LINES: usize = 32;

/// A line.
pub type Line = String<LINE>;

/// The lines typed before, and how far back one has gone.
#[derive(Default)]
pub struct History {
    lines: Deque<Line, LINES>,
    /// Steps back from the line being typed, which is `typed` then.
    back: usize,
    typed: Line,
}

impl History {
    /// A line has been typed to its end.
    pub fn add(&mut self, line: &Line) {
        self.back = 0;
        if line.trim().is_empty() || self.lines.back() == Some(line) {
            return;
        }
        if self.lines.is_full() {
            self.lines.pop_front();
        }
        // There is room now.
        let _ = self.lines.push_back(line.clone());
    }

    /// The line before, when `line` is on the screen.
    pub fn older(&mut self, line: &Line) -> Option<Line> {
        let position = self.lines.len().checked_sub(self.back + 1)?;
        if self.back == 0 {
            self.typed = line.clone();
        }
        self.back += 1;
        self.lines.iter().nth(position).cloned()
    }

    /// The line after; at last the one that was being typed.
    pub fn newer(&mut self) -> Option<Line> {
        self.back = self.back.checked_sub(1)?;
        if self.back == 0 {
            return Some(self.typed.clone());
        }
        self.lines.iter().nth(self.lines.len() - self.back).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::{History, LINES, Line};
    use std::format;

    fn line(text: &str) -> Line {
        Line::try_from(text).unwrap()
    }

    #[test]
    fn back_and_forth() {
        let mut history = History::default();
        for text in ["one", "two", "two", "  ", "three"] {
            history.add(&line(text));
        }
        assert_eq!(history.newer(), None);
        assert_eq!(history.older(&line("new")).unwrap(), "three");
        assert_eq!(history.older(&line("three")).unwrap(), "two");
        assert_eq!(history.older(&line("two")).unwrap(), "one");
        assert_eq!(history.older(&line("one")), None);
        assert_eq!(history.newer().unwrap(), "two");
        assert_eq!(history.newer().unwrap(), "three");
        assert_eq!(history.newer().unwrap(), "new");
        assert_eq!(history.newer(), None);
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut history = History::default();
        for number in 0..LINES + 5 {
            history.add(&line(&format!("{number}")));
        }
        let mut oldest = line("");
        while let Some(older) = history.older(&oldest) {
            oldest = older;
        }
        assert_eq!(oldest, "5");
    }
}
