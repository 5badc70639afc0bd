//! Completion of words.

use crate::history::Line;

/// Knows what words can stand where.
pub trait Completer {
    /// Hands every word that can stand behind `words` (empty, or ending in a space) to `take`.
    fn candidates(&self, words: &str, take: &mut dyn FnMut(&str));
}

/// What all candidates for a word have in common.
pub struct Completion<'word> {
    word: &'word str,
    common: Line,
    count: usize,
}

impl<'word> Completion<'word> {
    /// For a word that has been typed in part.
    pub fn new(word: &'word str) -> Self {
        Completion { word, common: Line::new(), count: 0 }
    }

    /// Takes a candidate into account, if it begins as the word does.
    pub fn consider(&mut self, candidate: &str) {
        let Some(rest) = candidate.strip_prefix(self.word) else { return };
        if self.count == 0 {
            // What is longer than a line cannot be typed either.
            let _ = self.common.push_str(rest);
        } else {
            let same = self
                .common
                .bytes()
                .zip(rest.bytes())
                .take_while(|(one, other)| one == other)
                .count();
            self.common.truncate(same);
        }
        self.count += 1;
    }

    /// Candidates that begin as the word does.
    pub fn count(&self) -> usize {
        self.count
    }

    /// What to add to the word: what all candidates agree on; a space behind the only one.
    pub fn end(&self) -> Line {
        let mut end = self.common.clone();
        if self.count == 1 {
            let _ = end.push(' ');
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::Completion;

    fn end(word: &str, candidates: &[&str]) -> (usize, std::string::String) {
        let mut completion = Completion::new(word);
        candidates.iter().for_each(|candidate| completion.consider(candidate));
        (completion.count(), completion.end().as_str().into())
    }

    #[test]
    fn as_far_as_all_agree() {
        assert_eq!(end("p", &["ps", "portals", "help"]), (2, "".into()));
        assert_eq!(end("re", &["restart", "reboot"]), (2, "".into()));
        assert_eq!(end("con", &["console", "consoles"]), (2, "sole".into()));
        assert_eq!(end("cr", &["crash", "call"]), (1, "ash ".into()));
        assert_eq!(end("crash", &["crash"]), (1, " ".into()));
        assert_eq!(end("x", &["crash"]), (0, "".into()));
    }
}
