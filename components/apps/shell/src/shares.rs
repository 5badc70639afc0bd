//! Shares of something, by name.

use heapless::{String, Vec};

/// Most names.
const NAMES: usize = 256;
/// Longest name.
const NAME: usize = 32;

/// How much each of several names has; less than nothing while only what it had before is known.
#[derive(Default)]
pub struct Shares(Vec<(String<NAME>, i64), NAMES>);

impl Shares {
    /// Nobody has anything.
    pub const fn new() -> Shares {
        Shares(Vec::new())
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds what one has. Beyond the most names there can be, it is left out.
    pub fn add(&mut self, name: &str, much: u64) {
        self.change(name, |has| has.saturating_add_unsigned(much));
    }

    /// Takes away what one had before.
    pub fn subtract(&mut self, name: &str, much: u64) {
        self.change(name, |has| has.saturating_sub_unsigned(much));
    }

    fn change(&mut self, name: &str, change: impl FnOnce(i64) -> i64) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, has)) => *has = change(*has),
            None => {
                let name = String::try_from(name).unwrap_or_default();
                let _ = self.0.push((name, change(0)));
            }
        }
    }

    /// Goes through those who have something, who has most first.
    pub fn in_order<E>(
        &mut self,
        mut take: impl FnMut(&str, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        self.0.sort_unstable_by_key(|(_, has)| core::cmp::Reverse(*has));
        self.0
            .iter()
            .filter(|(_, has)| *has > 0)
            .try_for_each(|(name, has)| take(name, has.unsigned_abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn what_one_had_before_is_taken_away() {
        let mut shares = Shares::new();
        for (name, had) in [("a", 3), ("gone", 1), ("b", 2)] {
            shares.subtract(name, had);
        }
        for (name, has) in [("a", 5), ("new", 1), ("b", 2)] {
            shares.add(name, has);
        }
        let mut text = std::string::String::new();
        let end: Result<(), ()> = shares.in_order(|name, much| {
            text += &format!("{name} {much},");
            Ok(())
        });
        assert_eq!((text.as_str(), end), ("a 2,new 1,", Ok(())));
    }

    #[test]
    fn who_has_most_comes_first() {
        let mut shares = Shares::new();
        for (name, much) in [("a", 1), ("b", 5), ("a", 2), ("none", 0), ("b", u64::MAX), ("c", 9)] {
            shares.add(name, much);
        }
        (0..1000).for_each(|number| shares.add(&format!("{number}"), 0));
        let mut text = std::string::String::new();
        let end: Result<(), ()> = shares.in_order(|name, much| {
            text += &format!("{name} {much},");
            Ok(())
        });
        assert_eq!((text.as_str(), end), ("b 9223372036854775807,c 9,a 3,", Ok(())));
    }
}
