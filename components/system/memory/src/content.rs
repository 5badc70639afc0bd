//! Where the content of a segment lies, and that with which it begins: in a row, as the layout has it, or page by page, as an instance
//! has it that was loaded.

use crate::manager::Manager;
use crate::settled::Settled;
use crate::tables::{self, Root};
use cairn_abi::Error;
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::record::Segment;
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Words of a page that lists copies: of each page of a segment where its first content is, or zero if that is zeros. The last word says
/// where the next page of the list is.
const LISTED: u64 = PAGE_SIZE / 8 - 1;

impl<'a> Manager<'a> {
    /// Words of a segment's content from one on: so many, or as many as lie together; none if there is no page.
    pub(crate) fn content(
        &self,
        root: Root,
        segment: &Segment,
        from: u64,
        words: u64,
    ) -> &'a [AtomicI64] {
        if segment.physical != 0 {
            return self.words(segment.physical + from * 8, words * 8);
        }
        match self.tables.find(root, segment.address + from * 8).map(tables::page) {
            None | Some(0) => &[],
            Some(page) => self.of_page(page, from, words),
        }
    }

    /// Words with which a segment begins, all in one page if its pages lie apart; none, if they are zeros.
    pub(crate) fn initial(&self, segment: &Segment, from: u64, words: u64) -> &'a [AtomicI64] {
        if segment.initial == 0 {
            return &[];
        }
        if segment.physical != 0 {
            return self.words(segment.initial + from * 8, words * 8);
        }
        match self.in_list(segment.initial, from * 8 / PAGE_SIZE).map_or(0, load) {
            0 => &[],
            page => self.of_page(page, from, words),
        }
    }

    /// Words of a page from where one of a segment is, up to its end at most.
    fn of_page(&self, page: u64, from: u64, words: u64) -> &'a [AtomicI64] {
        let offset = from * 8 % PAGE_SIZE;
        self.words(page + offset, (words * 8).min(PAGE_SIZE - offset))
    }

    /// The word of a list that says where the copy of a page is.
    fn in_list(&self, mut list: u64, mut page: u64) -> Option<&'a AtomicI64> {
        while page >= LISTED {
            list = load(self.words(list, PAGE_SIZE).last()?);
            page -= LISTED;
        }
        self.words(list, PAGE_SIZE).get(page as usize)
    }

    /// Keeps what a page of a segment begins with in a list, which grows; `take` gives pages. `list` is where it begins, zero at first.
    pub(crate) fn keep(
        &self,
        list: &mut u64,
        page: u64,
        content: &[AtomicI64],
        take: impl Fn() -> Result<u64, Error>,
    ) -> Result<(), Error> {
        if content.iter().all(|word| word.load(Relaxed) == 0) {
            return Ok(());
        }
        if *list == 0 {
            *list = take()?;
        }
        let mut last = *list;
        for _ in 0..page / LISTED {
            let next = self.words(last, PAGE_SIZE).last().ok_or(Error::Malformed)?;
            if load(next) == 0 {
                next.store(take()? as i64, Relaxed);
            }
            last = load(next);
        }
        let copy = take()?;
        crate::death::copy(content, self.words(copy, PAGE_SIZE));
        let place = self.words(last, PAGE_SIZE).get((page % LISTED) as usize);
        place.ok_or(Error::Malformed)?.store(copy as i64, Relaxed);
        Ok(())
    }

    /// Gives back a list and what it lists.
    pub(crate) fn give_list(&self, mut list: u64, settled: Settled) {
        while list != 0 {
            let words = self.words(list, PAGE_SIZE);
            let Some((next, pages)) = words.split_last() else { return };
            let next = load(next);
            for page in pages.iter().map(load).filter(|page| *page != 0) {
                self.give_frame(page, settled);
            }
            self.give_frame(list, settled);
            list = next;
        }
    }
}

fn load(word: &AtomicI64) -> u64 {
    word.load(Relaxed) as u64
}
