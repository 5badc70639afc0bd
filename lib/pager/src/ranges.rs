//! The ranges of a pager that has a page for each place where a client wrote: which places of its pool are whose, in which life.
//!
//! Those of the description have their places for good. For clients that are loaded a number of equal parts is kept: each has one from
//! its first fault on until it is gone and another needs it.

use crate::handover::{bytes, words};
use crate::pool::Pool;
use cairn::Error;
use cairn::abi::address::PAGE_SIZE;
use cairn::abi::identifier::INSTANCES_MAXIMUM;
use cairn::abi::record::RANGES_MAXIMUM;
use cairn::successor::Writer;
use cairn_interfaces::{PageFault, PagingProxy, RangeClient};
use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// A range; it changes while its client's threads are nowhere in the pager, or come for the first time.
struct Range {
    /// The place of its first page in the pool.
    first: AtomicU32,
    /// Its pages; none: this pager does not serve it.
    pages: AtomicU32,
    /// The client's life whose pages the pool has, and 1.
    life: AtomicU64,
}

/// Kinds of records for a successor: what is kept, a range that has places, and which part is whose.
const KEPT: u8 = 1;
const RANGE: u8 = 2;
const PART: u8 = 3;

/// The places of a part that nobody has.
const NOBODY: u32 = u32::MAX;

/// What is kept for clients that are loaded.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// How many there can be at a time.
    pub clients: u64,
    /// The pages that each can have; what is behind them in its range it does not get.
    pub pages: u64,
}

/// All ranges, by their numbers. One thread at a time may call what is not [`Ranges::place`].
// Relaxed: what a range has is stored before its life, with Release, and that it is another one's only while nobody asks.
pub struct Ranges {
    ranges: [Range; RANGES_MAXIMUM],
    /// The first place that is kept, how many parts there are, and how many pages each has.
    kept: [AtomicU32; 3],
    /// Of each part the range that has it.
    owners: [AtomicU32; INSTANCES_MAXIMUM],
}

impl Ranges {
    /// None.
    pub const fn new() -> Self {
        Ranges {
            ranges: [const {
                Range {
                    first: AtomicU32::new(0),
                    pages: AtomicU32::new(0),
                    life: AtomicU64::new(0),
                }
            }; RANGES_MAXIMUM],
            kept: [const { AtomicU32::new(0) }; 3],
            owners: [const { AtomicU32::new(NOBODY) }; INSTANCES_MAXIMUM],
        }
    }

    /// Gives the ranges of the description, each by its number with its pages, their places behind the first so many; how many
    /// places there are with these and those that are kept.
    pub fn begin(
        &self,
        before: usize,
        described: impl Iterator<Item = (u64, u64)>,
        kept: Kept,
    ) -> Result<usize, Error> {
        let mut places = before as u32;
        for (number, pages) in described {
            let range = self.ranges.get(number as usize).ok_or(Error::NotSupported)?;
            range.first.store(places, Relaxed);
            range.pages.store(pages as u32, Relaxed);
            places += pages as u32;
        }
        let (clients, pages) =
            (kept.clients.min(INSTANCES_MAXIMUM as u64), kept.pages.min(1 << 16));
        for (word, value) in self.kept.iter().zip([places, clients as u32, pages as u32]) {
            word.store(value, Relaxed);
        }
        Ok(places as usize + (clients * pages) as usize)
    }

    /// The place of a page that was missed; `None`: it is the first of its client's life, or not of the range.
    #[inline(always)]
    pub fn place(&self, fault: &PageFault) -> Option<usize> {
        let range = self.ranges.get(fault.range as usize)?;
        let page = (fault.offset / PAGE_SIZE) as u32;
        let is_known = range.life.load(Acquire) == fault.life + 1;
        (is_known && page < range.pages.load(Relaxed))
            .then(|| (range.first.load(Relaxed) + page) as usize)
    }

    /// The same for a page that may be the first of a life, which has none of the pages of the life before. `client` says whose a range is.
    #[cold]
    pub fn begin_life(
        &self,
        pool: &Pool,
        fault: &PageFault,
        client: impl Fn(u64) -> Result<RangeClient, Error>,
    ) -> Result<usize, Error> {
        let range = self.ranges.get(fault.range as usize).ok_or(Error::NotFound)?;
        if range.life.load(Relaxed) < fault.life + 1 {
            self.clear(pool, range);
            if !self.is_described(range) {
                self.take_part(pool, fault.range as u32, client)?;
            }
            range.life.store(fault.life + 1, Release);
        }
        self.place(fault).ok_or(Error::NotFound)
    }

    /// Gives back the pages of clients that do not live, and have none before their next lives.
    #[cold]
    pub fn clean(&self, pool: &Pool, client: impl Fn(u64) -> Result<RangeClient, Error>) {
        for (number, range) in (0..).zip(&self.ranges) {
            if range.pages.load(Relaxed) > 0 && !client(number).is_ok_and(|client| client.lives) {
                self.clear(pool, range);
            }
        }
    }

    /// Writes for a successor whose the places are.
    pub fn write(&self, writer: &mut Writer) -> Result<(), Error> {
        let kept = self.kept.each_ref().map(|word| word.load(Relaxed).into());
        writer.record(KEPT, &[bytes(kept).as_flattened()])?;
        for (part, owner) in self.owners.iter().enumerate() {
            let owner = owner.load(Relaxed);
            if owner != NOBODY {
                writer.record(PART, &[bytes([part as u64, owner.into()]).as_flattened()])?;
            }
        }
        for (number, range) in self.ranges.iter().enumerate() {
            let life = range.life.load(Relaxed);
            if life != 0 {
                writer.record(RANGE, &[bytes([number as u64, life]).as_flattened()])?;
            }
        }
        Ok(())
    }

    /// Takes a record over; the ranges of the description and what is kept are those of this life already. `VersionMismatch`: its places are others'.
    pub fn take(&self, kind: u8, content: &[u8]) -> Result<(), Error> {
        let kept = self.kept.each_ref().map(|word| word.load(Relaxed).into());
        match kind {
            KEPT if words(content)? == kept => Ok(()),
            PART => {
                let [part, owner] = words(content)?;
                let [first, parts, pages] = kept;
                let range = self.ranges.get(owner as usize).ok_or(Error::Malformed)?;
                // One range has one part, and each part one range.
                if part >= parts
                    || self.owners[part as usize].load(Relaxed) != NOBODY
                    || range.pages.load(Relaxed) != 0
                {
                    return Err(Error::Malformed);
                }
                self.owners[part as usize].store(owner as u32, Relaxed);
                range.first.store((first + part * pages) as u32, Relaxed);
                range.pages.store(pages as u32, Relaxed);
                Ok(())
            }
            RANGE => {
                let [number, life] = words(content)?;
                let range = self.ranges.get(number as usize).ok_or(Error::Malformed)?;
                if range.pages.load(Relaxed) == 0 {
                    return Err(Error::Malformed);
                }
                range.life.store(life, Release);
                Ok(())
            }
            _ => Err(Error::VersionMismatch),
        }
    }

    fn is_described(&self, range: &Range) -> bool {
        range.pages.load(Relaxed) > 0 && range.first.load(Relaxed) < self.kept[0].load(Relaxed)
    }

    /// Nobody has the pages of a range any more.
    fn clear(&self, pool: &Pool, range: &Range) {
        let first = range.first.load(Relaxed);
        let places = first..first + range.pages.load(Relaxed);
        places.for_each(|place| pool.release(place as usize));
    }

    /// A client that is loaded has a part: its own, or one that nobody has, or whose client is gone.
    fn take_part(
        &self,
        pool: &Pool,
        number: u32,
        client: impl Fn(u64) -> Result<RangeClient, Error>,
    ) -> Result<(), Error> {
        let [first, parts, pages] = self.kept.each_ref().map(|word| word.load(Relaxed));
        let owners = &self.owners[..parts as usize];
        let of = |wanted: u32| owners.iter().position(|owner| owner.load(Relaxed) == wanted);
        let is_gone = |owner: &AtomicU32| {
            let number = owner.load(Relaxed).into();
            client(number).map_or(true, |client| client.pages == 0)
        };
        let found = of(number).or_else(|| of(NOBODY)).or_else(|| owners.iter().position(is_gone));
        let Some(part) = found else {
            cairn::log::warn!(target: "refused", "no part is left for one more client that is loaded: raise `loaded`");
            return Err(Error::Exhausted);
        };
        let before = owners[part].swap(number, Relaxed);
        if before != number
            && let Some(range) = self.ranges.get(before as usize)
        {
            self.clear(pool, range);
            range.pages.store(0, Relaxed);
            range.life.store(0, Relaxed);
        }
        let range = &self.ranges[number as usize];
        range.first.store(first + part as u32 * pages, Relaxed);
        range.pages.store(pages, Relaxed);
        Ok(())
    }
}

impl Default for Ranges {
    fn default() -> Self {
        Self::new()
    }
}

/// Who has a range, as the memory manager says.
pub fn client(paging: PagingProxy) -> impl Fn(u64) -> Result<RangeClient, Error> + Copy {
    move |number| paging.client(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn::InstanceId;
    use core::sync::atomic::AtomicI64;

    fn words(pages: usize) -> Vec<AtomicI64> {
        (0..pages * 512).map(|_| AtomicI64::new(0)).collect()
    }

    fn fault(range: u64, page: u64, life: u64) -> PageFault {
        PageFault { range, offset: page * PAGE_SIZE + 5, rights: 1, life }
    }

    fn there(lives: bool, pages: u64) -> RangeClient {
        RangeClient { instance: InstanceId(1), lives, ended: 0, pages }
    }

    /// Two ranges of the description, of 3 and 2 pages, and two parts of 4 pages, behind one place.
    fn ranges() -> (Ranges, usize) {
        let ranges = Ranges::new();
        let kept = Kept { clients: 2, pages: 4 };
        let places = ranges.begin(1, [(0, 3), (7, 2)].into_iter(), kept).unwrap();
        (ranges, places)
    }

    #[test]
    fn each_page_of_a_range_has_its_place_and_each_life_new_pages() {
        let words = words(8);
        let (ranges, places) = ranges();
        assert_eq!(places, 1 + 5 + 8);
        let pool = Pool::new(&words, places).unwrap();
        pool.begin();
        let client = |_| Ok(there(true, 9));
        let begin = |fault| ranges.begin_life(&pool, &fault, client);
        assert_eq!(ranges.place(&fault(0, 2, 0)), None, "a new life");
        assert_eq!(begin(fault(0, 2, 0)), Ok(3));
        assert_eq!(ranges.place(&fault(0, 0, 0)), Some(1));
        assert_eq!(begin(fault(0, 3, 0)), Err(Error::NotFound), "it has three");
        assert_eq!(begin(fault(7, 1, 5)), Ok(5));
        assert_eq!(begin(fault(u64::MAX, 0, 0)), Err(Error::NotFound));
        let free = pool.free();
        pool.page(3).unwrap();
        assert_eq!(begin(fault(0, 2, 1)), Ok(3));
        assert_eq!(pool.free(), free, "the page of the life before is free");
        assert_eq!(ranges.place(&fault(0, 2, 0)), None);
        pool.page(3).unwrap();
        ranges.clean(&pool, |number| Ok(there(number != 0, 9)));
        assert_eq!(pool.free(), free);
        let too_many =
            Ranges::new().begin(0, [(u64::MAX, 1)].into_iter(), Kept { clients: 0, pages: 0 });
        assert_eq!(too_many, Err(Error::NotSupported));
    }

    /// The records that one writes, as the other takes them.
    fn hand_over(from: &Ranges, to: &Ranges) -> Result<(), Error> {
        let mut records = Vec::new();
        let put = |_: usize, bytes: &[u8]| {
            records.extend_from_slice(bytes);
            Ok(bytes.len())
        };
        cairn::successor::export(0, 1 << 16, put, |writer| from.write(writer)).unwrap();
        cairn::successor::Reader::new().take(&records, |kind, content| to.take(kind, content))
    }

    #[test]
    fn a_successor_knows_whose_the_places_are() {
        let words = words(8);
        let (before, places) = ranges();
        let pool = Pool::new(&words, places).unwrap();
        pool.begin();
        let client = |_| Ok(there(true, 9));
        for (fault, place) in [(fault(0, 2, 3), 3), (fault(200, 1, 0), 7), (fault(201, 0, 7), 10)] {
            assert_eq!(before.begin_life(&pool, &fault, client), Ok(place));
        }
        let (next, _) = ranges();
        assert_eq!(hand_over(&before, &next), Ok(()));
        for one in
            [fault(0, 2, 3), fault(200, 3, 0), fault(201, 0, 7), fault(0, 0, 4), fault(7, 0, 0)]
        {
            assert_eq!(next.place(&one), before.place(&one));
        }
        let more = fault(202, 0, 0);
        assert_eq!(next.begin_life(&pool, &more, client), Err(Error::Exhausted), "none is left");
        // Other arguments, or records that say a thing twice.
        let other = Ranges::new();
        let kept = Kept { clients: 3, pages: 4 };
        other.begin(1, [(0, 3), (7, 2)].into_iter(), kept).unwrap();
        assert_eq!(hand_over(&before, &other), Err(Error::VersionMismatch));
        assert_eq!(hand_over(&before, &next), Err(Error::Malformed), "it has them");
        let (kind, record) = (PART, |words: [u64; 2]| bytes(words));
        for wrong in [[0, 201], [1, 200], [2, 202], [0, u64::MAX], [0, 7]] {
            let (next, _) = ranges();
            hand_over(&before, &next).unwrap();
            assert_eq!(next.take(kind, record(wrong).as_flattened()), Err(Error::Malformed));
        }
        assert_eq!(next.take(RANGE, record([99, 1]).as_flattened()), Err(Error::Malformed));
        assert_eq!(next.take(9, &[]), Err(Error::VersionMismatch));
    }

    #[test]
    fn who_is_loaded_has_a_part_until_it_is_gone_and_another_needs_it() {
        let words = words(8);
        let (ranges, places) = ranges();
        let pool = Pool::new(&words, places).unwrap();
        pool.begin();
        let begin = |fault, gone: &[u64]| {
            let client = |number| match gone.contains(&number) {
                true => Err(Error::NotFound),
                false => Ok(there(true, 9)),
            };
            ranges.begin_life(&pool, &fault, client)
        };
        assert_eq!(begin(fault(200, 3, 4), &[]), Ok(1 + 5 + 3));
        assert_eq!(begin(fault(200, 4, 4), &[]), Err(Error::NotFound), "behind its part");
        assert_eq!(begin(fault(201, 0, 0), &[]), Ok(1 + 5 + 4));
        assert_eq!(begin(fault(202, 0, 0), &[]), Err(Error::Exhausted));
        assert_eq!(begin(fault(200, 0, 5), &[]), Ok(1 + 5), "its next life has the same");
        let free = pool.free();
        pool.page(6).unwrap();
        assert_eq!(begin(fault(202, 1, 9), &[200]), Ok(1 + 5 + 1), "of one that is gone");
        assert_eq!(pool.free(), free, "with nothing of it");
        assert_eq!(ranges.place(&fault(200, 0, 5)), None);
        assert_eq!(begin(fault(200, 0, 6), &[]), Err(Error::Exhausted));
        assert_eq!(ranges.place(&fault(201, 0, 0)), Some(10), "the others are where they were");
    }
}
