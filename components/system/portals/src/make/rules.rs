//! Which rules are in force.

use super::Maker;
use crate::wraps::Rule;
use cairn_abi::Error;

impl Maker {
    /// Whether there are rules.
    #[inline(always)]
    pub(super) fn has_rules(&self) -> bool {
        !self.wraps.rules.all().is_empty()
    }

    /// A rule, by its place.
    pub(super) fn rule(&self, place: usize) -> Option<Rule> {
        self.wraps.rules.all().get(place).copied()
    }

    /// Adds a rule, `Busy` if there is one like it, or who it names moves.
    pub fn add_rule(&mut self, rule: Rule) -> Result<(), Error> {
        let moves = self.held().is_some_and(|held| self.is_moving(held) && rule.names(held));
        if moves || self.wraps.rules.all().iter().any(|other| other.is_like(&rule)) {
            return Err(Error::Busy);
        }
        self.wraps.rules.push(rule)
    }

    /// Nothing more is wrapped by these rules; how many there are.
    pub fn end_rules(&mut self, which: impl Fn(&Rule) -> bool) -> usize {
        let rules = self.wraps.rules.all_mut().iter_mut().filter(|rule| which(rule));
        rules.map(|rule| rule.entry = 0).count()
    }

    /// Forgets rules; how many.
    pub fn remove_rules(&mut self, which: impl Fn(&Rule) -> bool) -> usize {
        let mut count = 0;
        while let Some(place) = self.wraps.rules.all().iter().position(&which) {
            self.wraps.rules.remove(place);
            count += 1;
        }
        count
    }
}
