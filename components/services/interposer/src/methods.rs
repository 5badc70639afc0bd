//! How often each method was called.

use crate::words::Words;
use core::sync::atomic::{
    AtomicU8, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

/// Words of a method's name.
const WORDS: usize = 12;
/// Longest name that is told from others: of its server, its export, and its own.
pub const NAME: usize = 8 * WORDS;

const FREE: u8 = 0;
const TAKEN: u8 = 1;
const NAMED: u8 = 2;

struct Method {
    state: AtomicU8,
    name: Words<WORDS>,
    // Relaxed: each number is right by itself.
    numbers: [AtomicU64; 4],
}

/// What is known of the calls of a method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// How many there were.
    pub calls: u64,
    /// How many were answered an error.
    pub errors: u64,
    /// How long all took.
    pub time: u64,
    /// How long the longest took.
    pub longest: u64,
}

/// At most `METHODS` methods; of more than that only the calls are counted.
pub struct Methods<const METHODS: usize> {
    methods: [Method; METHODS],
    others: AtomicU64,
}

impl<const METHODS: usize> Methods<METHODS> {
    /// None.
    pub const fn none() -> Methods<METHODS> {
        Methods {
            methods: [const {
                Method {
                    state: AtomicU8::new(FREE),
                    name: Words::empty(),
                    numbers: [const { AtomicU64::new(0) }; 4],
                }
            }; METHODS],
            others: AtomicU64::new(0),
        }
    }

    /// A call of a method came back.
    pub fn count(&self, name: &str, took: u64, is_error: bool) {
        // Two threads that bring the same name for the first time may give it two places: a reader adds them up.
        let is_its = |method: &&Method| match method.state.load(Acquire) {
            NAMED => method.name.is(name),
            FREE if method.state.compare_exchange(FREE, TAKEN, AcqRel, Relaxed).is_ok() => {
                method.name.store(name);
                method.state.store(NAMED, Release);
                true
            }
            _ => false,
        };
        let Some(method) = self.methods.iter().find(is_its) else {
            self.others.fetch_add(1, Relaxed);
            return;
        };
        let [calls, errors, time, longest] = &method.numbers;
        calls.fetch_add(1, Relaxed);
        errors.fetch_add(is_error.into(), Relaxed);
        time.fetch_add(took, Relaxed);
        longest.fetch_max(took, Relaxed);
    }

    /// A method has numbers as another found them, or, without a name, all that had no place. Nobody counts meanwhile.
    pub fn restore(&self, name: &str, numbers: Numbers) {
        if name.is_empty() {
            return self.others.store(numbers.calls, Relaxed);
        }
        let free = |method: &&Method| method.state.load(Acquire) == FREE;
        let Some(method) = self.methods.iter().find(free) else { return };
        method.name.store(name);
        let Numbers { calls, errors, time, longest } = numbers;
        for (kept, number) in method.numbers.iter().zip([calls, errors, time, longest]) {
            kept.store(number, Relaxed);
        }
        method.state.store(NAMED, Release);
    }

    /// The next method from a place on: its place, the length of its name, its numbers. Behind them all, without a name, is what had
    /// no place.
    pub fn find(&self, from: u64, name: &mut [u8; NAME]) -> Option<(u64, usize, Numbers)> {
        let from = usize::try_from(from).ok()?;
        for (place, method) in self.methods.iter().enumerate().skip(from) {
            if method.state.load(Acquire) == NAMED {
                let [calls, errors, time, longest] =
                    method.numbers.each_ref().map(|number| number.load(Relaxed));
                let numbers = Numbers { calls, errors, time, longest };
                return Some((place as u64, method.name.load(name), numbers));
            }
        }
        let calls = self.others.load(Relaxed);
        (from <= METHODS && calls > 0).then_some((
            METHODS as u64,
            0,
            Numbers { calls, ..Numbers::default() },
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::ToOwned;
    use std::vec::Vec;

    #[test]
    fn a_successor_has_the_same_numbers() {
        let (before, next) = (Methods::<2>::none(), Methods::<2>::none());
        for (name, took) in [("a b", 5), ("a c", 7), ("a b", 9), ("a d", 1)] {
            before.count(name, took, took == 7);
        }
        let found = |methods: &Methods<2>| {
            let (mut all, mut from, mut name) = (Vec::new(), 0, [0; NAME]);
            while let Some((place, length, numbers)) = methods.find(from, &mut name) {
                all.push((core::str::from_utf8(&name[..length]).unwrap().to_owned(), numbers));
                from = place + 1;
            }
            all
        };
        found(&before).iter().for_each(|(name, numbers)| next.restore(name, *numbers));
        assert_eq!(found(&next), found(&before));
        next.count("a c", 20, false);
        assert_eq!(found(&next)[1].1.calls, 2);
    }

    #[test]
    fn each_method_has_its_numbers() {
        let methods = Methods::<2>::none();
        let mut name = [0; NAME];
        assert_eq!(methods.find(0, &mut name), None);
        methods.count("a.b c", 10, false);
        methods.count("a.b d", 1, false);
        methods.count("a.b c", 30, true);
        let (place, length, numbers) = methods.find(0, &mut name).unwrap();
        assert_eq!((place, &name[..length]), (0, &b"a.b c"[..]));
        assert_eq!(numbers, Numbers { calls: 2, errors: 1, time: 40, longest: 30 });
        let (place, length, numbers) = methods.find(1, &mut name).unwrap();
        assert_eq!((place, &name[..length], numbers.calls), (1, &b"a.b d"[..], 1));
        assert_eq!(methods.find(2, &mut name), None);
        methods.count("a.b e", 1, false);
        assert_eq!(
            methods.find(2, &mut name),
            Some((2, 0, Numbers { calls: 1, ..Numbers::default() }))
        );
        assert_eq!(methods.find(3, &mut name), None);
        assert_eq!(methods.find(u64::MAX, &mut name), None);
    }
}
