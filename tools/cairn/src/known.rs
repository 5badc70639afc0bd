//! What was built in this process, and is not built again where nobody changes sources meanwhile, as among hundreds of tests.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

static SOURCES_STAY: AtomicBool = AtomicBool::new(false);

/// From now on, until this process ends, sources are as they are.
pub fn sources_stay() {
    SOURCES_STAY.store(true, Ordering::Relaxed);
}

/// Things by what they were made of, once [`sources_stay`] was called; before, nothing is known.
pub struct Known<Of, Thing>(Mutex<BTreeMap<Of, Thing>>);

impl<Of: Ord, Thing: Clone> Known<Of, Thing> {
    /// Nothing.
    pub const fn new() -> Self {
        Known(Mutex::new(BTreeMap::new()))
    }

    /// The thing that was made of this.
    pub fn get(&self, of: &Of) -> Option<Thing> {
        self.0.lock().expect("nobody panics with it").get(of).cloned()
    }

    /// Keeps a thing.
    pub fn insert(&self, of: Of, thing: &Thing) {
        if SOURCES_STAY.load(Ordering::Relaxed) {
            self.keep(of, thing);
        }
    }

    fn keep(&self, of: Of, thing: &Thing) {
        let mut all = self.0.lock().expect("nobody panics with it");
        all.entry(of).or_insert_with(|| thing.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_thing_is_known_and_nothing_where_sources_change() {
        let known = Known::<u8, u8>::new();
        known.insert(1, &2);
        assert_eq!(known.get(&1), None);
        known.keep(1, &2);
        known.keep(1, &3);
        assert_eq!((known.get(&1), known.get(&2)), (Some(2), None));
    }
}
