//! How much of its memory an instance uses. Heaps and stacks begin as zeros, so what was never written says so itself, and nobody
//! counts on the way.

use crate::manager::Manager;
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::memory::HEAP_END;
use cairn_abi::record::{CONTENT_CLIENT_STACK, CONTENT_HEAP, CONTENT_STACK, Segment};
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Words that one step looks at.
const WORDS_OF_STEP: u64 = 2048;

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

impl Manager<'_> {
    /// One step of measuring an instance's memory: 0 first, then the `next` of the last answer; `NotFound` behind the last part.
    pub fn measure(&self, instance: InstanceId, at: u64) -> Result<Measured, Error> {
        let record = self.record(instance)?;
        let (place, done) = (at >> 32, at & 0xffff_ffff);
        let next = (place + 1) << 32;
        let count = self.segments_of(record).count() as u64;
        if place == count {
            let account = self.account(instance)?;
            let [size, used] =
                [account.said().limit, account.used()].map(|pages| u64::from(pages) * PAGE_SIZE);
            return Ok(Measured { next, content: None, size, used });
        }
        let segment = self.segments_of(record).nth(place as usize).ok_or(Error::NotFound)?;
        let (content, size) = (Some(segment.content), segment.size);
        let (untouched, is_all) = self.untouched(segment, done);
        if !is_all {
            return Ok(Measured { next: at + untouched - done, content, size: 0, used: 0 });
        }
        Ok(Measured { next, content, size, used: size - untouched * 8 })
    }

    /// Words of a segment that were never written, of which `done` were seen; and whether these are all.
    fn untouched(&self, segment: &Segment, done: u64) -> (u64, bool) {
        let all = segment.size / 8;
        let is_heap = segment.content == CONTENT_HEAP;
        if !is_heap && !matches!(segment.content, CONTENT_STACK | CONTENT_CLIENT_STACK) {
            return (0, true);
        }
        let done = if is_heap { done.max(HEAP_END / 8) } else { done }.min(all);
        let count = WORDS_OF_STEP.min(all - done);
        let from = if is_heap { all - done - count } else { done };
        let words = self.words(segment.physical + from * 8, count * 8);
        let is_zero = |word: &&AtomicI64| word.load(Relaxed) == 0;
        let zeros = match is_heap {
            true => words.iter().rev().take_while(is_zero).count(),
            false => words.iter().take_while(is_zero).count(),
        } as u64;
        (done + zeros, zeros < count || done + count == all)
    }
}
