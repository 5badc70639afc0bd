//! What becomes of the memory of an instance that died, in steps of bounded length: what is more urgent than
//! the supervisor's work runs between any two instructions, and what is urgent for the supervisor itself
//! between any two steps.

use crate::live::Entry;
use crate::manager::Manager;
use crate::sections;
use crate::settled::Settled;
use crate::tables::{self, Root, WRITE};
use cairn_abi::address::{DEVICES_OFFSET, LEAF_SPAN, PAGE_SIZE, READY_OFFSET, STARTUP_OFFSET};
use cairn_abi::record::{CALLERS_WAIT_ONCE, CONTENT_CLIENT_STACK, CONTENT_DMA, Instance, Segment};
use cairn_abi::startup::Startup;
use cairn_abi::{Error, InstanceId};
use core::mem::offset_of;
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Page-table entries that one step looks at, and words that one step writes.
const ENTRIES_OF_STEP: u64 = 32;
const WORDS_OF_STEP: u64 = 2048;
/// Sections that one step looks at; it leaves one at most.
const SECTIONS_OF_STEP: u64 = 128;

/// What a cursor counts is in its upper 16 bits.
const STAGE_SHIFT: u32 = 48;
const RANGES: u64 = 0;
const PAGES: u64 = 1;
const SECTIONS: u64 = 2;
const GROWTH: u64 = 3;
const DMA: u64 = 4;

fn cursor(stage: u64, at: u64) -> u64 {
    stage << STAGE_SHIFT | at
}

impl<'a> Manager<'a> {
    /// One step of giving back what a dead instance, which no invocation stack names any more, had beside
    /// what the layout gave it. 0 first, then what it answers, until 0.
    ///
    /// Only its own threads enter anything there, so nothing else is at work on that; who has the same page table changes entries of directories only.
    pub fn release(&self, instance: InstanceId, at: u64) -> Result<u64, Error> {
        if at == 0 {
            self.account(instance)?.is_succeeded.store(false, Relaxed);
        }
        self.release_step(instance, at)
    }

    /// The same of one that gets other content. What it [hands over](Manager::hands_over) stays, whatever is asked for in later steps: none
    /// of it is another's as long as clients have it.
    pub fn release_for_successor(&self, instance: InstanceId, at: u64) -> Result<u64, Error> {
        if at == 0 {
            let is_pager = self.is_pager(instance);
            self.account(instance)?.is_succeeded.store(is_pager, Relaxed);
        }
        self.release_step(instance, at)
    }

    fn release_step(&self, instance: InstanceId, at: u64) -> Result<u64, Error> {
        let (stage, at) = (at >> STAGE_SHIFT, at & ((1 << STAGE_SHIFT) - 1));
        match stage {
            RANGES => match self.release_ranges(self.record(instance)?, at) {
                Some(at) => Ok(cursor(RANGES, at)),
                None => self.release_dma(instance, 0),
            },
            DMA => self.release_dma(instance, at),
            PAGES => self.release_pages(instance, at),
            GROWTH => {
                let next = self.release_growth(self.record(instance)?, at);
                Ok(next.map_or(cursor(SECTIONS, 0), |at| cursor(GROWTH, at)))
            }
            SECTIONS => {
                let end = (at + SECTIONS_OF_STEP).min(sections::COUNT as u64);
                let next = self.leave_next_section(instance, at as usize..end as usize) as u64;
                if next < sections::COUNT as u64 {
                    return Ok(cursor(SECTIONS, next));
                }
                Ok(0)
            }
            _ => Err(Error::BadArgument),
        }
    }

    /// What its devices reached is zeros again: they have been reset, and whatever content the next life has finds it so.
    fn release_dma(&self, instance: InstanceId, at: u64) -> Result<u64, Error> {
        let record = self.record(instance)?;
        if !self.has_dma(record) {
            return Ok(cursor(PAGES, 0));
        }
        let next = self.make_anew(record, at, |one| one.content() == CONTENT_DMA)?;
        Ok(if next == 0 { cursor(PAGES, 0) } else { cursor(DMA, next) })
    }

    fn release_pages(&self, instance: InstanceId, at: u64) -> Result<u64, Error> {
        let record = self.record(instance)?;
        let root = self.root_of(record)?;
        let (start, base) = (record.start_address(), self.base(instance)?);
        let mut offset = at.max(base);
        let mut left = ENTRIES_OF_STEP;
        let hands_over = self.hands_over(instance)?;
        while self.has_more_than_laid_out(instance)? && offset < DEVICES_OFFSET {
            if left == 0 {
                return Ok(cursor(PAGES, offset));
            }
            left -= 1;
            let Some(entry) = self.tables.find(root, start + offset) else {
                // Where there is no table, nothing is mapped.
                offset = (offset + 1).next_multiple_of(LEAF_SPAN);
                continue;
            };
            // What it has lent is a section's.
            let is_lent = tables::is_lent(entry);
            if hands_over && !is_lent && tables::mapped(entry).is_some() {
                offset += PAGE_SIZE;
                continue;
            }
            if let Some(physical) = tables::unmap(entry) {
                if hands_over {
                    self.lose_page(instance, physical);
                }
                if !is_lent {
                    self.give_frame(physical, Settled::by_death());
                }
                self.refund(instance, 1);
            }
            offset += PAGE_SIZE;
        }
        // What it has grown by counts, too.
        let next = if self.has_more_than_laid_out(instance)? { GROWTH } else { SECTIONS };
        Ok(cursor(next, 0))
    }

    /// One step of making the memory of a dead instance, after [`Manager::release`], as it was at the start.
    /// 0 first, then what it answers, until 0. `but_stacks`: those on which clients' threads run stay as they are.
    pub fn renew(&self, instance: InstanceId, at: u64, but_stacks: bool) -> Result<u64, Error> {
        self.make_anew(self.record(instance)?, at, |segment| match segment.content() {
            CONTENT_CLIENT_STACK => !but_stacks,
            // [`Manager::release`] has done that.
            content => content != CONTENT_DMA,
        })
    }

    /// The same of the other place of an instance, in which nobody is.
    pub(crate) fn renew_place(&self, other: Entry<Instance>, at: u64) -> Result<u64, Error> {
        self.make_anew(other, at, |_| true)
    }

    /// One step of making those segments that are chosen as they were at the start.
    fn make_anew(
        &self,
        record: Entry<Instance>,
        at: u64,
        is_chosen: impl Fn(&Entry<Segment>) -> bool,
    ) -> Result<u64, Error> {
        let (from, mut done) = ((at >> 32) as usize, at & 0xffff_ffff);
        let mut left = WORDS_OF_STEP;
        let (instance, root) = (record.number(), self.root_of(record)?);
        // It goes on where it was, and not with all that are before.
        let renewed = self
            .placed_segments(instance, from)
            .filter(|(_, segment)| segment.flags() & WRITE as u32 != 0 && is_chosen(segment));
        for (number, segment) in renewed {
            let segment = segment.read();
            done = if number == from { done } else { 0 };
            while left > 0 && done * 8 < segment.size {
                let words = (segment.size / 8 - done).min(left);
                let words = self.renew_words(root, &segment, done, words);
                (done, left) = (done + words, left - words);
            }
            if done * 8 < segment.size {
                return Ok((number as u64) << 32 | done);
            }
        }
        Ok(0)
    }

    /// Makes words as they were at first, as many as lie together; how many.
    fn renew_words(&self, root: Root, segment: &Segment, from: u64, words: u64) -> u64 {
        let target = self.content(root, segment, from, words);
        if target.is_empty() {
            // There is no page.
            return words;
        }
        match self.initial(segment, from, target.len() as u64) {
            // Content that begins as zero has no copy.
            [] => zero(target),
            source => copy(source, target),
        }
        target.len() as u64
    }

    /// The next life of an instance begins, after [`Manager::renew`]: its page table is whole. `Busy`: other content than was renewed has become its own, or does just now
    /// ([`Manager::keep_state`]), and it is to be renewed once more.
    pub fn revive(&self, instance: InstanceId) -> Result<(), Error> {
        let record = self.record(instance)?;
        let account = self.account(instance)?;
        if account.exchanged.load(Relaxed) {
            account.exchanged.store(self.is_exchanged(instance), Relaxed);
            return Err(Error::Busy);
        }
        let root = self.root_of(record)?;
        let startup = self
            .tables
            .find(root, record.start_address() + STARTUP_OFFSET)
            .and_then(tables::mapped);
        let generation = startup.map(|page| page + offset_of!(Startup, generation) as u64);
        if let Some([generation]) = generation.map(|physical| self.words(physical, 8)) {
            generation.fetch_add(1, Relaxed);
        }
        if record.callers_wait() != 0
            && let Some(ready) = self.tables.find(root, record.start_address() + READY_OFFSET)
        {
            tables::unmap(ready);
        }
        account.is_released.store(false, Relaxed);
        tables::set_reachable(self.reach(instance)?, true);
        self.settle();
        Ok(())
    }

    /// Maps the page by which an instance says that it serves: its startup page once more.
    pub fn serves(&self, instance: InstanceId) -> Result<(), Error> {
        let record = self.record(instance)?;
        let root = self.root_of(record)?;
        let entry = |offset| self.tables.find(root, record.start_address() + offset);
        let (Some(startup), Some(ready)) = (entry(STARTUP_OFFSET), entry(READY_OFFSET)) else {
            return Err(Error::BadArgument);
        };
        ready.store(startup.load(Relaxed), Relaxed);
        if record.callers_wait() == CALLERS_WAIT_ONCE {
            record.set(offset_of!(Instance, callers_wait), 0u8);
        }
        self.settle();
        Ok(())
    }
}

pub(crate) fn copy(source: &[AtomicI64], target: &[AtomicI64]) {
    for (target, source) in target.iter().zip(source) {
        target.store(source.load(Relaxed), Relaxed);
    }
}

/// Several stores a round: most of what a restart costs.
pub(crate) fn zero(words: &[AtomicI64]) {
    let (words, rest) = words.as_chunks::<16>();
    for words in words {
        for word in words {
            word.store(0, Relaxed);
        }
    }
    for word in rest {
        word.store(0, Relaxed);
    }
}
