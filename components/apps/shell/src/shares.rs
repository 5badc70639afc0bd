//! Shares of something, by name.

use heapless::{String, Vec};

/// Most names.
const NAMES: usize = 256;
/// Longest name.
const NAME: usize = 32;

/// How much each of several names has.
#[derive(Default)]
pub struct Shares(Vec<(String<NAME>, u64), NAMES>);

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
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, has)) => *has = has.saturating_add(much),
            None => {
                let name = String::try_from(name).unwrap_or_default();
                let _ = self.0.push((name, much));
            }
        }
    }

    /// Goes through those who have something, who has most first.
    pub fn in_order<E>(
        &mut self,
        mut take: impl FnMut(&str, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        self.0.sort_unstable_by_key(|(_, has)| core::cmp::Reverse(*has));
        self.0.iter().filter(|(_, has)| *has > 0).try_for_each(|(name, has)| take(name, *has))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

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
        assert_eq!((text.as_str(), end), ("b 18446744073709551615,c 9,a 3,", Ok(())));
    }
}
