//! The calls that came last.

use crate::words::Words;
// Relaxed: what is kept of a call is stored before its mark, with Release.
use core::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// Words of a call's text.
const WORDS: usize = 22;
/// Longest text that is kept of a call.
pub const TEXT: usize = 8 * WORDS;

/// A call. It is complete while its mark is its number and 1; a mark of 0 says that somebody writes.
struct Call {
    mark: AtomicU64,
    numbers: [AtomicU64; 3],
    text: Words<WORDS>,
}

/// The last `CALLS` of them.
pub struct Kept<const CALLS: usize> {
    next: AtomicU64,
    calls: [Call; CALLS],
}

/// One that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its number.
    pub number: u64,
    /// When it came, how long it took, and its thread.
    pub numbers: [u64; 3],
    /// The length of its text.
    pub length: usize,
}

impl<const CALLS: usize> Kept<CALLS> {
    /// None.
    pub const fn none() -> Kept<CALLS> {
        Kept {
            next: AtomicU64::new(0),
            calls: [const {
                Call {
                    mark: AtomicU64::new(0),
                    numbers: [const { AtomicU64::new(0) }; 3],
                    text: Words::empty(),
                }
            }; CALLS],
        }
    }

    /// Keeps one more: when it came, how long it took, its thread.
    pub fn keep(&self, numbers: [u64; 3], text: &str) {
        let number = self.next.fetch_add(1, Relaxed);
        let Some(call) = self.calls.get(number as usize % CALLS) else { return };
        // Whoever is so late that others wrote all places meanwhile may mix its text with theirs: then none is complete.
        call.mark.store(0, Relaxed);
        core::sync::atomic::fence(Release);
        for (kept, number) in call.numbers.iter().zip(numbers) {
            kept.store(number, Relaxed);
        }
        call.text.store(text);
        call.mark.store(number + 1, Release);
    }

    /// Keeps one as another kept it, under its number. Nobody reads meanwhile; those of lower numbers come before.
    pub fn restore(&self, number: u64, numbers: [u64; 3], text: &str) {
        self.next.store(number, Relaxed);
        self.keep(numbers, text);
    }

    /// The next one from a number on, and its text.
    pub fn find(&self, from: u64, text: &mut [u8; TEXT]) -> Option<Found> {
        let next = self.next.load(Acquire);
        let first = from.max(next.saturating_sub(CALLS as u64));
        (first..next).find_map(|number| {
            let call = self.calls.get(number as usize % CALLS)?;
            let is_complete = |call: &Call| call.mark.load(Acquire) == number + 1;
            if !is_complete(call) {
                return None;
            }
            let numbers = call.numbers.each_ref().map(|number| number.load(Relaxed));
            let length = call.text.load(text);
            core::sync::atomic::fence(Acquire);
            is_complete(call).then_some(Found { number, numbers, length })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    fn all(kept: &Kept<4>) -> Vec<([u64; 3], String)> {
        let (mut text, mut from) = ([0; TEXT], 0);
        let mut all = Vec::new();
        while let Some(found) = kept.find(from, &mut text) {
            from = found.number + 1;
            let text = String::from_utf8(text[..found.length].into()).unwrap();
            all.push((found.numbers, text));
        }
        all
    }

    #[test]
    fn the_last_ones_are_kept_in_order() {
        let kept = Kept::<4>::none();
        assert_eq!(all(&kept), []);
        for number in 0..11 {
            kept.keep([number, 2 * number, 3], &format!("call {number}"));
            let expected: Vec<_> = (number.saturating_sub(3)..=number)
                .map(|number| ([number, 2 * number, 3], format!("call {number}")))
                .collect();
            assert_eq!(all(&kept), expected);
        }
        // Whoever died in the middle of writing leaves a hole, and nothing else.
        kept.calls[2].mark.store(0, Relaxed);
        assert_eq!(all(&kept).len(), 3);
        assert_eq!(kept.find(u64::MAX, &mut [0; TEXT]), None);
    }
}
