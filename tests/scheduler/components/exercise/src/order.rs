//! What happened in which order.

use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed};

/// The letters that threads left, in order.
pub struct Order {
    letters: [AtomicU8; 8],
    used: AtomicUsize,
}

impl Order {
    pub const fn new() -> Order {
        Order { letters: [const { AtomicU8::new(0) }; 8], used: AtomicUsize::new(0) }
    }

    pub fn push(&self, letter: u8) {
        let place = self.used.fetch_add(1, Relaxed);
        if let Some(place) = self.letters.get(place) {
            place.store(letter, Relaxed);
        }
    }

    /// The letters, zeros behind them; all zeros if there were too many. Begins anew.
    pub fn take(&self) -> [u8; 8] {
        let used = self.used.swap(0, Relaxed);
        let letters = self.letters.each_ref().map(|letter| letter.swap(0, Relaxed));
        if used > letters.len() { [0; 8] } else { letters }
    }
}
