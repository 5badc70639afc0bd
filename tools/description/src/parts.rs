//! How what there is a fixed number of is divided among instances, those that can be loaded too.

use crate::model::System;
use cairn_abi::loadable;
use cairn_abi::memory::{SECTIONS_EACH, SECTIONS_MAXIMUM};
use cairn_abi::record::{NAMES_EACH, NAMES_MAXIMUM};

/// What each has of so many: what is kept for it, and an equal part of the rest, of at most `each`.
fn parts(
    kept: impl Iterator<Item = u32> + Clone,
    all: usize,
    each: usize,
) -> impl Iterator<Item = u64> {
    let (count, sum) =
        kept.clone().fold((0, 0), |(count, sum), one| (count + 1, sum + u64::from(one)));
    let equal = (all as u64).saturating_sub(sum) / u64::max(count, 1);
    kept.map(move |kept| u64::from(kept) + equal.min(each as u64))
}

impl System {
    /// Components that can be loaded at a time.
    pub fn children(&self) -> u64 {
        self.instances.iter().map(|instance| u64::from(*instance.children)).sum()
    }

    /// The last number of an instance, of those that can be loaded too.
    pub fn numbers(&self) -> u64 {
        self.instances.len() as u64 + self.children()
    }

    /// How many names each instance may register at run time, other places none, then each that can be loaded.
    pub fn names(&self) -> impl Iterator<Item = u64> {
        let described = self.described().iter().map(|instance| *instance.names);
        let others = self.instances.len() - self.described().len();
        let loadable = (0..self.children()).map(|_| 0);
        let mut parts = parts(described.chain(loadable), NAMES_MAXIMUM, NAMES_EACH);
        let own: Vec<u64> = parts.by_ref().take(self.described().len()).collect();
        own.into_iter().chain(std::iter::repeat_n(0, others)).chain(parts)
    }

    /// How many sections made at run time each instance may map at a time.
    pub fn sections_at_run_time(&self) -> impl Iterator<Item = u64> {
        let kept = self.described().iter().map(|instance| *instance.sections_at_run_time);
        let loadable = (self.children() * loadable::SECTIONS_EACH) as usize;
        let others = self.instances.len() - self.described().len();
        let parts = parts(kept, SECTIONS_MAXIMUM.saturating_sub(loadable), SECTIONS_EACH);
        parts.chain(std::iter::repeat_n(0, others))
    }
}
