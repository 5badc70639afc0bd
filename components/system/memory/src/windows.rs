//! Pages that an instance has, and lends or gives away: lasting windows, and windows that tear pages off.
//!
//! Both are sections made at run time whose pages are not new: those that the owner got by `allocate`. All that holds of sections holds of
//! them: who may take part, who pays, what an end of one leaves to the others.
//!
//! **Lent** pages stay where their owner has them, and others map them as a section. They are in no window of a call meanwhile, nor given
//! back. Either side can close the window at any time, and neither waits for the other, nor faults: if its owner closes it while another
//! has it, the owner goes on with a copy, and the pages are the other's until it closes, which has paid for them. A page that both
//! reach is then one no more.
//!
//! **Torn** pages leave their owner at once, and are nobody's until somebody takes them: who they are for, or their owner again. They are
//! not copied. Until then the owner pays for them. Who takes them decides one exchange of the section's word, and who gives
//! their price back one of the bit that says who pays, so whoever dies or comes in between, both are done once.

use crate::death::copy;
use crate::manager::Manager;
use crate::section_word::{Kind, Word};
use crate::sections::address;
use crate::settled::Settled;
use crate::tables::{self, OWN, READ, USER, WRITE};
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Most pages of a lasting window: as many are copied at most when it closes.
pub const LENT_MAXIMUM: u64 = 16;
/// Most pages that are torn off at once.
pub const TORN_MAXIMUM: u64 = 64;

impl Manager<'_> {
    /// Makes a section of pages that the owner allocated, which stay there; its address, by which others find it. `Busy`: one of them is in
    /// a window, or another thread of the instance is at work on a section. No thread may use them meanwhile.
    pub fn lend(&self, owner: InstanceId, at: u64, pages: u64) -> Result<u64, Error> {
        if pages > LENT_MAXIMUM {
            return Err(Error::BadArgument);
        }
        self.alone_in_sections(owner, || {
            let (number, section) = self.part_with(Kind::Lent, owner, at, pages)?;
            let root = self.root(owner)?;
            for page in 0..pages {
                if let Some(entry) = self.tables.find(root, at + page * PAGE_SIZE) {
                    tables::lend(entry);
                }
            }
            self.slot(number).home.store(at, Relaxed);
            self.settle();
            self.publish(number, section);
            Ok(address(number))
        })
    }

    /// Takes pages off that the owner allocated, for another instance to take; their name. They are unmapped at once. `Busy` as with
    /// [`Manager::lend`].
    pub fn tear(
        &self,
        owner: InstanceId,
        at: u64,
        pages: u64,
        with_whom: InstanceId,
    ) -> Result<u64, Error> {
        if pages > TORN_MAXIMUM || with_whom == owner {
            return Err(Error::BadArgument);
        }
        self.account(with_whom)?;
        self.alone_in_sections(owner, || {
            let (number, section) = self.part_with(Kind::Torn, owner, at, pages)?;
            let root = self.root(owner)?;
            for page in 0..pages {
                if let Some(entry) = self.tables.find(root, at + page * PAGE_SIZE) {
                    entry.store(0, Relaxed);
                }
            }
            self.publish(number, section);
            // If there is no such instance any more, its owner can take them again.
            let _ = self.offer(number, with_whom, true, || {});
            Ok(address(number))
        })
    }

    /// Makes a section of pages of the owner's, which are unreachable then; it is not published yet. The owner pays for one page more.
    fn part_with(
        &self,
        kind: Kind,
        owner: InstanceId,
        at: u64,
        pages: u64,
    ) -> Result<(usize, Word), Error> {
        let (record, root) = (self.record(owner)?, self.root(owner)?);
        if record.in_kernel() != 0 {
            return Err(Error::NotSupported);
        }
        self.pay(owner, 0)?;
        let begun = self.begin_section(kind, owner, pages);
        let (number, section) = begun.inspect_err(|_| self.pay_back(owner, 0))?;
        let withdrawn = self.withdraw(owner, at, pages);
        withdrawn.inspect_err(|_| {
            self.end_section(number, section);
            self.pay_back(owner, 0);
        })?;
        for (page, place) in self.list(section).iter().enumerate() {
            let entry = self.tables.find(root, at + page as u64 * PAGE_SIZE);
            place.store(entry.map_or(0, tables::page) as i64, Relaxed);
        }
        self.slot(number).mapped.set(owner, true);
        Ok((number, section))
    }

    /// Maps pages that were torn off, for an instance that they are for, or for their owner: their address, and how many. `from` is whom
    /// it expects them of. `NotAllowed`: they are another's, or for another; `NotFound`: they are gone.
    pub fn take(
        &self,
        instance: InstanceId,
        at: u64,
        from: InstanceId,
    ) -> Result<(u64, u64), Error> {
        self.alone_in_sections(instance, || {
            let number = self.section(at)?;
            let (slot, owner) = (self.slot(number), self.slot(number).load().owner());
            let section = slot.load();
            if section.kind() != Kind::Torn {
                return Err(Error::BadArgument);
            }
            let is_for_it = owner == instance || self.is_offered(number, instance)?;
            if owner != from || !is_for_it || self.record(instance)?.in_kernel() != 0 {
                return Err(Error::NotAllowed);
            }
            let pages = section.pages();
            // Its owner pays for them already.
            let price = if owner == instance { 0 } else { pages };
            if price > 0 {
                self.charge(instance, price)?;
            }
            let room = self.reserve(instance, pages);
            let room = room.inspect_err(|_| self.refund(instance, price))?;
            if !slot.claim(section) {
                self.clear(instance, room, pages);
                self.refund(instance, price);
                return Err(Error::NotFound);
            }
            let root = self.root(instance)?;
            for (page, physical) in self.listed(section).enumerate() {
                if let Some(entry) = self.tables.find(root, room + page as u64 * PAGE_SIZE) {
                    tables::map_over(entry, physical, OWN | USER | READ | WRITE);
                }
            }
            self.settle();
            self.pay_torn(owner, number, price);
            self.end_section(number, section);
            Ok((room, pages))
        })
    }

    /// The owner of pages that were torn off pays for them no more, unless it did not before.
    fn pay_torn(&self, owner: InstanceId, number: usize, pages: u64) {
        if self.slot(number).mapped.set(owner, false) {
            self.pay_back(owner, pages);
        }
    }

    /// The owner of pages that were torn off and not taken dies: they go back.
    pub(crate) fn give_up(&self, owner: InstanceId, number: usize) -> Result<(), Error> {
        let section = self.slot(number).load();
        self.pay_torn(owner, number, section.pages());
        if self.slot(number).claim(section) {
            self.give_pages(section, Settled::by_death());
            self.end_section(number, section);
        }
        Ok(())
    }

    /// The owner of lent pages closes their window, or died: if others have it, the owner goes on with copies.
    pub(crate) fn take_home(&self, owner: InstanceId, number: usize) -> Result<(), Error> {
        let slot = self.slot(number);
        let (section, home) = (slot.load(), slot.home.load(Relaxed));
        let root = self.root(owner)?;
        // Of one that died they are gone.
        let entry = |page: usize| {
            let entry = self.tables.find(root, home + page as u64 * PAGE_SIZE)?;
            tables::is_lent(entry).then_some(entry)
        };
        slot.offered.clear();
        if slot.claim(section) {
            for (page, physical) in self.listed(section).enumerate() {
                match entry(page) {
                    Some(entry) => tables::map_over(entry, physical, OWN | USER | READ | WRITE),
                    None => self.give_frame(physical, Settled::by_death()),
                }
            }
            self.settle();
            slot.mapped.set(owner, false);
            self.end_section(number, section);
        } else {
            self.copy_home(section, entry)?;
            slot.mapped.set(owner, false);
            let settled = self.settle();
            self.leave_pages(number, section, settled);
        }
        self.pay_back(owner, 0);
        Ok(())
    }

    /// Copies pages that others have, and maps the copies in their places.
    fn copy_home<'a>(
        &self,
        section: Word,
        entry: impl Fn(usize) -> Option<&'a AtomicI64>,
    ) -> Result<(), Error> {
        let mut copies = [0; LENT_MAXIMUM as usize];
        let wanted = (0..section.pages() as usize).filter(|page| entry(*page).is_some());
        let taken = wanted.zip(&mut copies).try_for_each(|(_, copy)| {
            *copy = self.take_frame()?;
            Ok(())
        });
        let copies = copies.iter().filter(|copy| **copy != 0);
        taken.inspect_err(|_| {
            copies.clone().for_each(|copy| self.give_frame(*copy, Settled::never_reached()));
        })?;
        for ((page, lent), copied) in self.listed(section).enumerate().zip(copies) {
            if let Some(entry) = entry(page) {
                copy(self.words(lent, PAGE_SIZE), self.words(*copied, PAGE_SIZE));
                tables::map_over(entry, *copied, OWN | USER | READ | WRITE);
            }
        }
        Ok(())
    }
}
