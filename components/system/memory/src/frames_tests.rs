//! The pool of numbers.

use crate::frames::{Frames, LOOKS};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

#[test]
fn frames_are_handed_out_once() {
    let frames = Frames::<2>::new();
    frames.limit(100);
    let mut taken: Vec<usize> = std::iter::from_fn(|| frames.take()).collect();
    taken.sort();
    assert_eq!(taken, (0..100).collect::<Vec<_>>());
    frames.give(100);
    frames.give(7);
    frames.give(7);
    assert_eq!((frames.available(), frames.take(), frames.take()), (1, Some(7), None));
}

/// Who limits a pool once more, late, gives nothing out twice and takes nothing away.
#[test]
fn a_pool_is_limited_once_more_without_a_change() {
    for count in [0, 1, 63, 64, 65, 127, 128, 200] {
        let frames = Frames::<2>::new();
        frames.limit(count);
        let there = count.min(Frames::<2>::MAXIMUM);
        let half: Vec<usize> = (0..there / 2).map_while(|_| frames.take()).collect();
        frames.limit(count);
        assert_eq!((frames.count(), frames.available()), (there, there - half.len()));
        let rest = std::iter::from_fn(|| frames.take());
        let mut all: Vec<usize> = half.iter().copied().chain(rest).collect();
        frames.limit(count);
        assert_eq!((frames.available(), frames.take()), (0, None), "{count}");
        all.sort();
        assert_eq!(all, (0..there).collect::<Vec<_>>());
        all.iter().for_each(|number| frames.give(*number));
        frames.limit(count);
        assert_eq!(frames.available(), there);
    }
}

/// Others have taken all but one number in every second word.
#[test]
fn a_free_number_is_found_wherever_it_is() {
    let frames = Frames::<1024>::new();
    frames.limit(1024 * 64);
    while frames.take().is_some() {}
    for word in (1..1024).step_by(2) {
        frames.give(word * 64 + 5);
    }
    LOOKS.with(|looks| looks.set(0));
    for word in (1..1024).step_by(2) {
        assert_eq!(frames.take(), Some(word * 64 + 5));
    }
    assert_eq!(frames.take(), None);
    assert_eq!(LOOKS.with(Cell::get), 512, "one look for each");
}

/// A thread that took a word's last number was stopped before it said so; meanwhile another gave
/// one back.
#[test]
fn a_number_that_came_back_meanwhile_is_not_forgotten() {
    let frames = Frames::<1>::new();
    frames.limit(2);
    assert_eq!((frames.take(), frames.take()), (Some(0), Some(1)));
    frames.give(0);
    frames.forget(0);
    assert_eq!((frames.take(), frames.take()), (Some(0), None));
}

/// However many threads take and give the few that are left: nothing is handed out twice, and nothing is lost.
#[test]
fn frames_are_neither_lost_nor_doubled_by_threads() {
    const LEFT: usize = 4;
    let frames = Frames::<4>::new();
    frames.limit(256);
    while frames.take().is_some() {}
    // Two in a word, so that words become full and not full all the time.
    let index = |number: usize| number / 64 * 2 + number % 2;
    (0..LEFT).for_each(|place| frames.give(place / 2 * 64 + place % 2));
    let taken: Vec<AtomicBool> = (0..LEFT).map(|_| AtomicBool::new(false)).collect();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let (frames, taken) = (&frames, &taken);
            scope.spawn(move || {
                for _ in 0..300_000 {
                    let Some(number) = frames.take() else { continue };
                    assert!(!taken[index(number)].swap(true, Relaxed), "{number} twice");
                    taken[index(number)].store(false, Relaxed);
                    frames.give(number);
                }
            });
        }
    });
    assert_eq!(frames.available(), LEFT);
    assert_eq!(std::iter::from_fn(|| frames.take()).count(), LEFT);
}
