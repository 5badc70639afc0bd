//! How much of its memory an instance uses. Heaps and stacks begin as zeros, so what was never written says so itself, and nobody
//! counts on the way.

use crate::manager::Manager;
use crate::tables::Root;
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::memory::{HEAP_END, stack_mark};
use cairn_abi::record::{
    CONTENT_CLIENT_GROWTH, CONTENT_CLIENT_STACK, CONTENT_DATA, CONTENT_GROWTH, CONTENT_HEAP,
    CONTENT_STACK, CONTENT_THREAD_STACK, Segment,
};
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Words that one step looks at, and words of a page, which are as many where pages lie apart.
const WORDS_OF_STEP: u64 = 2048;
const WORDS_OF_PAGE: u64 = PAGE_SIZE / 8;

/// A part of an instance's memory, as far as it was looked at.
#[derive(Debug, PartialEq, Eq)]
pub struct Measured {
    /// Where the next step begins.
    pub next: u64,
    /// One of the `CONTENT_*` of the record; `None`: pages that it got at run time.
    pub content: Option<u16>,
    /// Bytes of the part; zero: the next step goes on with it.
    pub size: u64,
    /// Bytes of it that were used since the instance was started.
    pub used: u64,
}

/// Where a step begins: the segment, a word of it, and how many behind that were looked at.
const PLACE_SHIFT: u32 = 50;
const WORD_SHIFT: u32 = 25;
const WORD_MASK: u64 = (1 << WORD_SHIFT) - 1;

impl Manager<'_> {
    /// One step of measuring an instance's memory: 0 first, then the `next` of the last answer; `NotFound` behind the last part.
    pub fn measure(&self, instance: InstanceId, at: u64) -> Result<Measured, Error> {
        let record = self.record(instance)?;
        let (place, done) = (at >> PLACE_SHIFT, at & WORD_MASK);
        let next = (place + 1) << PLACE_SHIFT;
        let count = self.segments_of(record).count() as u64;
        if place == count {
            let account = self.account(instance)?;
            let [size, used] =
                [account.said().limit, account.used()].map(|pages| u64::from(pages) * PAGE_SIZE);
            return Ok(Measured { next, content: None, size, used });
        }
        let mut segments = self.segments_of(record).skip(place as usize);
        let segment = segments.next().ok_or(Error::NotFound)?.read();
        let root = self.root_of(record)?;
        let (content, size) = (Some(segment.content), segment.size);
        if matches!(segment.content, CONTENT_GROWTH | CONTENT_CLIENT_GROWTH) {
            // It is what the account has.
            return Ok(Measured { next, content, size: 0, used: 0 });
        }
        if segment.content == CONTENT_DATA {
            // Where it begins as zeros is a segment of its own.
            let mut end = segment.physical + size;
            for behind in segments.take_while(|_| segment.physical != 0) {
                if (behind.content(), behind.physical()) != (CONTENT_DATA, end) {
                    break;
                }
                end += behind.size();
            }
            return Ok(self.measure_data((root, &segment), (end - segment.physical) / 8, at));
        }
        let (untouched, is_all) = self.untouched(root, &segment, done);
        if !is_all {
            return Ok(Measured { next: at + untouched - done, content, size: 0, used: 0 });
        }
        Ok(Measured { next, content, size, used: size - untouched * 8 })
    }

    /// The same of data, of which `end` words follow each other: stacks of threads that were marked there, then all of it, as used.
    fn measure_data(&self, (root, segment): (Root, &Segment), end: u64, at: u64) -> Measured {
        let (all, from, done) = (segment.size / 8, at >> WORD_SHIFT & WORD_MASK, at & WORD_MASK);
        let place = at >> PLACE_SHIFT << PLACE_SHIFT;
        let step = |word: u64, done: u64| Measured {
            next: place | word << WORD_SHIFT | done,
            content: Some(CONTENT_DATA),
            size: 0,
            used: 0,
        };
        let words = |from: u64, count: u64| self.content(root, segment, from, count);
        // A mark's place, and the words of its stack.
        let stack = |(word, mark): (u64, &AtomicI64)| {
            if mark.load(Relaxed) as u64 != stack_mark(segment.address + word * 8) {
                return None;
            }
            let size = words(word + 1, 1).first()?.load(Relaxed) as u64;
            let room = end.saturating_sub(word + 2);
            (size.is_multiple_of(8) && (1..=room).contains(&(size / 8))).then_some((word, size / 8))
        };
        let searched = words(from, WORDS_OF_STEP.min(all.saturating_sub(from)));
        let search_end = if searched.is_empty() { all } else { from + searched.len() as u64 };
        let Some((word, size)) = (from..).zip(searched).find_map(stack) else {
            if search_end < all {
                return step(search_end, 0);
            }
            let next = place + (1 << PLACE_SHIFT);
            return Measured { next, size: segment.size, used: segment.size, ..step(0, 0) };
        };
        let seen = if word == from { done.min(size) } else { 0 };
        let looked = words(word + 2 + seen, WORDS_OF_STEP.min(size - seen));
        let count = looked.len() as u64;
        let zeros = looked.iter().take_while(|word| word.load(Relaxed) == 0).count() as u64;
        if zeros == count && seen + count < size {
            return step(word, seen + count);
        }
        Measured {
            content: Some(CONTENT_THREAD_STACK),
            size: size * 8,
            used: (size - seen - zeros) * 8,
            ..step(word + 2 + size, 0)
        }
    }

    /// Words of a segment that were never written, of which `done` were seen; and whether these are all.
    fn untouched(&self, root: Root, segment: &Segment, done: u64) -> (u64, bool) {
        let all = segment.size / 8;
        let is_heap = segment.content == CONTENT_HEAP;
        if !is_heap && !matches!(segment.content, CONTENT_STACK | CONTENT_CLIENT_STACK) {
            return (0, true);
        }
        let done = if is_heap { done.max(HEAP_END / 8) } else { done }.min(all);
        let mut count = WORDS_OF_STEP.min(all - done);
        if is_heap && segment.physical == 0 && count > 0 {
            // As many as the page has before.
            count = (all - done - 1) % WORDS_OF_PAGE + 1;
        }
        let from = if is_heap { all - done - count } else { done };
        let words = self.content(root, segment, from, count);
        let count = if words.is_empty() { count } else { words.len() as u64 };
        let is_zero = |word: &&AtomicI64| word.load(Relaxed) == 0;
        let zeros = match is_heap {
            true => words.iter().rev().take_while(is_zero).count(),
            false => words.iter().take_while(is_zero).count(),
        } as u64;
        (done + zeros, zeros < count || done + count == all)
    }
}
