//! Content that is exchanged while its instance lives: the successor's is mapped beside it ([`Manager::join`]), becomes the instance's
//! together with the pages of its state ([`Manager::keep_state`]), and the former content goes when nobody is in it any more.
//!
//! Both can be executed all the time in between. So whoever does this may be the one that is exchanged, this manager too, and whatever
//! becomes of who asked for it, portals lead to content that there is.

use crate::account::Said;
use crate::domains::allowed;
use crate::instant;
use crate::live::Entry;
use crate::manager::Manager;
use crate::numbers::Stage;
use crate::tables::{WRITE, is_reachable};
use cairn_abi::address::{PAGE_SIZE, REGION_SIZE};
use cairn_abi::record::{CONTENT_GROWTH, Instance};
use cairn_abi::{Error, InstanceId};
use core::ops::Range;
use core::sync::atomic::{
    AtomicI64,
    Ordering::{Relaxed, SeqCst},
    fence,
};

impl Manager<'_> {
    /// Maps the content of a whole successor beside that of its instance, which no portal leads to yet. `Busy`: there is something
    /// already; `NotSupported`: the instance has pages that it allocated.
    pub fn join(&self, successor: InstanceId) -> Result<(), Error> {
        let number = self.state.numbers.get(successor)?;
        number.take(Stage::Made)?;
        let joined = self.join_pages(successor);
        number.set(if joined.is_ok() { Stage::Beside } else { Stage::Made });
        joined
    }

    fn join_pages(&self, successor: InstanceId) -> Result<(), Error> {
        let theirs = self.place(successor)?;
        if theirs.successor_of() == InstanceId(0) || theirs.memory_used() == 0 {
            return Err(Error::BadArgument);
        }
        let ours = self.record(theirs.successor_of())?;
        let account = self.account(ours.number())?;
        let base = account.said().base.into();
        account.renew(self.said_of_both(ours, theirs));
        // A thread that was about to allocate before both claims first, and looks where it may then ([`Manager::reserve`]): one of the two sees the other.
        fence(SeqCst);
        let moved = self.check_allocated(ours, base).and_then(|()| self.move_beside(successor));
        if moved.is_err() {
            account.renew(self.said(ours));
        }
        self.settle();
        moved
    }

    /// All pages of a successor's content, or, if there is something where one of them would be, none.
    fn move_beside(&self, successor: InstanceId) -> Result<(), Error> {
        let mut moved = 0;
        let result = self.each_beside(successor, |ours, theirs| {
            let page = theirs.load(Relaxed);
            ours.compare_exchange(0, page, Relaxed, Relaxed).map_err(|_| Error::Busy)?;
            theirs.store(0, Relaxed);
            moved += 1;
            Ok(())
        });
        result.inspect_err(|_| {
            let _ = self.each_beside(successor, |ours, theirs| {
                if moved == 0 {
                    return Err(Error::Busy);
                }
                theirs.store(ours.swap(0, Relaxed), Relaxed);
                moved -= 1;
                Ok(())
            });
        })
    }

    /// What is said of an instance while both contents are there: what it allocates lies behind both, and what lies before that is not
    /// its own to give back, nor is it taken from it by its death.
    fn said_of_both(&self, ours: Entry<Instance>, theirs: Entry<Instance>) -> Said {
        let (own, other) = (self.said(ours), self.said(theirs));
        Said { base: own.base.max(other.base), ..own }
    }

    /// What an instance has allocated, from this offset on, would lie between the two contents, where nothing is taken back.
    fn check_allocated(&self, ours: Entry<Instance>, base: u64) -> Result<(), Error> {
        let (root, start) = (self.root_of(ours)?, ours.start_address());
        // Most have nothing.
        let has_more = self.has_more_than_laid_out(ours.number())?;
        let mut pages = (base..ours.entries_span()).step_by(PAGE_SIZE as usize);
        let is_there = |offset: u64| {
            self.tables.find(root, start + offset).is_some_and(|entry| entry.load(Relaxed) != 0)
        };
        if has_more && pages.any(is_there) { Err(Error::NotSupported) } else { Ok(()) }
    }

    /// Whether something is mapped beside the content of an instance, or a thread is about to.
    pub(super) fn has_beside(&self, instance: InstanceId) -> bool {
        self.has_successor_among(instance, self.state.numbers.beside())
    }

    /// Whether the content of an instance is being exchanged just now.
    pub(crate) fn is_exchanged(&self, instance: InstanceId) -> bool {
        self.has_successor_among(instance, self.state.numbers.changing())
    }

    fn has_successor_among(
        &self,
        instance: InstanceId,
        mut numbers: impl Iterator<Item = InstanceId>,
    ) -> bool {
        numbers.any(|number| self.place(number).is_ok_and(|one| one.successor_of() == instance))
    }

    /// The pages of state from the first of these addresses on are at the second one as well, and all that the record says of the content is
    /// the joined successor's. `BadArgument`: they are not data of the two; `Dead`: the instance is, and its next life begins without it.
    pub fn keep_state(
        &self,
        successor: InstanceId,
        (from, to): (u64, u64),
        pages: u64,
    ) -> Result<(), Error> {
        let number = self.state.numbers.get(successor)?;
        number.take(Stage::Beside)?;
        let kept = self.keep_pages(successor, (from, to), pages);
        number.set(if kept.is_ok() { Stage::Former } else { Stage::Beside });
        kept
    }

    fn keep_pages(
        &self,
        successor: InstanceId,
        (from, to): (u64, u64),
        pages: u64,
    ) -> Result<(), Error> {
        let theirs = self.place(successor)?;
        let ours = self.record(theirs.successor_of())?;
        // Should it die from here on, its next life waits until all is its own that is to be.
        let (account, reach) = (self.account(ours.number())?, self.reach(ours.number())?);
        account.exchanged.store(true, Relaxed);
        fence(SeqCst);
        let kept = match is_reachable(reach) {
            true => self.keep_pages_of((ours, theirs), (from, to), pages),
            false => Err(Error::Dead),
        };
        fence(SeqCst);
        if kept.is_err() || is_reachable(reach) {
            account.exchanged.store(false, Relaxed);
        }
        kept
    }

    fn keep_pages_of(
        &self,
        (ours, theirs): (Entry<Instance>, Entry<Instance>),
        (from, to): (u64, u64),
        pages: u64,
    ) -> Result<(), Error> {
        let successor = theirs.number();
        let slots = (self.places(ours.number())?, self.places(successor)?);
        let start = ours.start_address();
        let size = pages.checked_mul(PAGE_SIZE).filter(|size| (1..=REGION_SIZE).contains(size));
        let size = size.ok_or(Error::BadArgument)?;
        // What the layout made has a segment for each row of pages that are zeros, or not.
        let is_data = |owner: Entry<Instance>, address: u64| {
            let from = address.wrapping_sub(start);
            let (mut at, end) = (from, from.saturating_add(size));
            while at < end {
                let mut own = self.content_of(owner);
                let row = own.find(|(range, flags)| range.contains(&at) && flags & WRITE != 0);
                let Some((row, _)) = row else { return false };
                at = row.end;
            }
            from.is_multiple_of(PAGE_SIZE)
        };
        if !is_data(ours, from) || !is_data(theirs, to) {
            return Err(Error::BadArgument);
        }
        let roots = (self.root_of(ours)?, self.root_of(theirs)?);
        let former = theirs.start_address().wrapping_sub(start);
        let entries = |at: u64| {
            let state = self.tables.find(roots.0, from + at)?;
            let new = self.tables.find(roots.0, to + at)?;
            Some((state, new, self.tables.find(roots.1, (from + at).wrapping_add(former))?))
        };
        let all = || (0..size).step_by(PAGE_SIZE as usize).map(entries);
        if all().any(|entries| entries.is_none()) {
            return Err(Error::BadArgument);
        }
        for (state, new, place) in all().flatten() {
            // The page that was there is the former content's, in whose place it is when the two part.
            place.store(new.load(Relaxed), Relaxed);
            new.store(state.load(Relaxed), Relaxed);
        }
        instant::passes();
        self.exchange_record((ours, theirs), slots);
        // Behind both is where it was before.
        let account = self.account(ours.number())?;
        account.renew(Said { limit: allowed(ours), ..account.said() });
        self.settle();
        Ok(())
    }

    /// What is a joined successor's, its own content or, behind [`Manager::keep_state`], the former one of its instance, is mapped beside
    /// that no longer. No thread may be in it.
    pub(super) fn part(&self, successor: InstanceId) -> Result<(), Error> {
        self.each_beside(successor, |ours, theirs| {
            let page = ours.swap(0, Relaxed);
            // Where its state was there is what its successor had instead.
            if theirs.load(Relaxed) == 0 {
                theirs.store(page, Relaxed);
            }
            Ok(())
        })?;
        let ours = self.record(self.place(successor)?.successor_of())?;
        self.account(ours.number())?.renew(self.said(ours));
        self.settle();
        Ok(())
    }

    /// The page-table entries of each page of a successor's content, in the table of its instance and in its own.
    fn each_beside(
        &self,
        successor: InstanceId,
        mut body: impl FnMut(&AtomicI64, &AtomicI64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let theirs = self.place(successor)?;
        let ours = self.record(theirs.successor_of())?;
        let roots = (self.root_of(ours)?, self.root_of(theirs)?);
        let starts = (ours.start_address(), theirs.start_address());
        let pages =
            self.content_of(theirs).flat_map(|(range, _)| range.step_by(PAGE_SIZE as usize));
        for offset in pages {
            let one = self.tables.find(roots.0, starts.0 + offset).ok_or(Error::NotSupported)?;
            let other = self.tables.find(roots.1, starts.1 + offset).ok_or(Error::NotSupported)?;
            body(one, other)?;
        }
        Ok(())
    }

    /// Where in the region the segments of an instance's content, or of a successor's, are, and what may be done there.
    fn content_of(&self, owner: Entry<Instance>) -> impl Iterator<Item = (Range<u64>, u64)> {
        let (number, start) = (owner.number(), owner.start_address());
        let slot = self.places(number).map(|slot| slot.segments).unwrap_or_default();
        let own = self.record.segments.part(slot);
        let own = own.filter(move |one| one.instance() == number);
        own.filter(|one| one.content() != CONTENT_GROWTH).map(move |one| {
            let from = one.address() - start;
            (from..from + one.size(), u64::from(one.flags()))
        })
    }
}
