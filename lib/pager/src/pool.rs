//! Pages in a row, each free or that of a *place*: a page of a range. Which is which is noted in the first of them.
//!
//! Nothing here waits: of two threads that miss the same page at once, the second finds what the first has taken.

use cairn::Error;
use cairn::abi::address::PAGE_SIZE;
use core::sync::atomic::{
    AtomicI64,
    Ordering::{AcqRel, Acquire, Relaxed},
};

const WORDS: usize = PAGE_SIZE as usize / 8;
/// The upper half of the list's head counts its changes, so that nobody takes a list for the same one that has changed twice.
const CHANGE: i64 = 1 << 32;

/// The pages. Words that name a page have its number and 1; zero: none.
pub struct Pool<'a> {
    /// All pages.
    words: &'a [AtomicI64],
    /// The first free page, and the changes.
    head: &'a AtomicI64,
    /// The page of each place.
    places: &'a [AtomicI64],
    /// Of a free page the next one.
    next: &'a [AtomicI64],
    /// The first page that a place can have.
    first: usize,
}

impl<'a> Pool<'a> {
    /// A pool for so many places; `None` if the pages do not hold the notes and a page more.
    pub fn new(words: &'a [AtomicI64], places: usize) -> Option<Pool<'a>> {
        let pages = words.len() / WORDS;
        let (notes, _) = words.split_at_checked(1 + places + pages)?;
        let (head, notes) = notes.split_first()?;
        let (places, next) = notes.split_at(places);
        let first = (1 + places.len() + next.len()).div_ceil(WORDS);
        (first < pages).then_some(Pool { words, head, places, next, first })
    }

    /// Makes all pages free, which are zero. Nobody uses the pool before.
    pub fn begin(&self) {
        (self.first..self.next.len()).rev().for_each(|page| self.give(page));
    }

    /// The page of a place, by its number, which is that of another place or of none before.
    #[inline(always)]
    pub fn page(&self, place: usize) -> Result<usize, Error> {
        let word = self.places.get(place).ok_or(Error::NotFound)?;
        match word.load(Acquire) {
            0 => self.take_for(word),
            page => Ok(page as usize - 1),
        }
    }

    /// The page of a place, if it has one.
    pub fn find(&self, place: usize) -> Option<usize> {
        (self.places.get(place)?.load(Acquire) as usize).checked_sub(1)
    }

    fn take_for(&self, word: &AtomicI64) -> Result<usize, Error> {
        let page = self.take().ok_or(Error::Exhausted)?;
        match word.compare_exchange(0, page as i64 + 1, AcqRel, Acquire) {
            Ok(_) => Ok(page),
            Err(other) => {
                self.give(page);
                Ok(other as usize - 1)
            }
        }
    }

    /// The page of a place, whose client is no more, is free, and zero again.
    pub fn release(&self, place: usize) {
        let Some(word) = self.places.get(place) else { return };
        let page = word.swap(0, AcqRel) as usize;
        if page == 0 {
            return;
        }
        // Relaxed: who takes the page is behind `give`.
        self.words[(page - 1) * WORDS..page * WORDS].iter().for_each(|word| word.store(0, Relaxed));
        self.give(page - 1);
    }

    fn take(&self) -> Option<usize> {
        loop {
            let head = self.head.load(Acquire);
            let page = (head as u32 as usize).checked_sub(1)?;
            let next = self.next[page].load(Relaxed);
            if self.exchange(head, next) {
                return Some(page);
            }
        }
    }

    fn give(&self, page: usize) {
        loop {
            let head = self.head.load(Acquire);
            self.next[page].store(i64::from(head as u32), Relaxed);
            if self.exchange(head, page as i64 + 1) {
                return;
            }
        }
    }

    fn exchange(&self, head: i64, first: i64) -> bool {
        let changed = (head & !(CHANGE - 1)).wrapping_add(CHANGE) | first;
        self.head.compare_exchange(head, changed, AcqRel, Relaxed).is_ok()
    }

    /// Free pages.
    pub fn free(&self) -> usize {
        let mut count = 0;
        let mut page = self.head.load(Acquire) as u32 as usize;
        while page != 0 {
            count += 1;
            page = self.next[page - 1].load(Relaxed) as usize;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(pages: usize) -> Vec<AtomicI64> {
        (0..pages * WORDS).map(|_| AtomicI64::new(0)).collect()
    }

    #[test]
    fn every_page_is_that_of_one_place() {
        let words = words(10);
        let pool = Pool::new(&words, 20).unwrap();
        pool.begin();
        assert_eq!(pool.free(), 9, "one has the notes");
        let pages: Vec<usize> = (0..9).map(|place| pool.page(place).unwrap()).collect();
        assert_eq!(pages, (1..10).collect::<Vec<_>>());
        for (place, page) in pages.iter().enumerate() {
            assert_eq!(pool.page(place), Ok(*page), "it stays");
            assert_eq!(pool.find(place), Some(*page));
        }
        assert_eq!((pool.find(9), pool.find(20)), (None, None));
        assert_eq!(pool.page(9), Err(Error::Exhausted));
        assert_eq!(pool.page(20), Err(Error::NotFound));
        words[pages[4] * WORDS + 511].store(7, Relaxed);
        pool.release(4);
        pool.release(4);
        pool.release(20);
        assert_eq!(pool.free(), 1);
        assert_eq!(pool.page(9), Ok(pages[4]));
        let page = &words[pages[4] * WORDS..][..WORDS];
        assert!(page.iter().all(|word| word.load(Relaxed) == 0), "nothing of the one before");
    }

    #[test]
    fn what_does_not_fit_is_no_pool() {
        for (pages, places, fits) in [
            (0, 0, false),
            (1, 1, false),
            (2, 1, true),
            (2, 509, true),
            (2, 510, false),
            (3, 510, true),
        ] {
            let words = words(pages);
            assert_eq!(Pool::new(&words, places).is_some(), fits, "{pages} {places}");
        }
    }

    #[test]
    fn threads_find_the_same_page_at_a_place() {
        let words = words(66);
        let pool = &Pool::new(&words, 64).unwrap();
        pool.begin();
        let all = pool.free();
        for _ in 0..200 {
            let found = std::thread::scope(|scope| {
                let threads = [0; 4].map(|_| {
                    scope.spawn(|| (0..64).map(|place| pool.page(place).unwrap()).collect())
                });
                threads.map(|thread| -> Vec<usize> { thread.join().unwrap() })
            });
            assert!(found.iter().all(|pages| *pages == found[0]));
            assert_eq!(pool.free(), all - 64);
            (0..64).for_each(|place| pool.release(place));
            assert_eq!(pool.free(), all);
        }
    }
}
