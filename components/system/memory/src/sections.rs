//! Sections made at run time: memory at the same address in every instance that maps it.
//!
//! Each instance maps and unmaps for itself: the owner offers, another accepts. So none changes another's
//! page tables, and no mapping goes away unless its instance wants that.
//!
//! **Each instance pays for what it maps, as long as it maps it**: the pages, one page more that lists them (the
//! section's index), and one of the sections that it can map at a time. A section lives while an instance maps it,
//! so all that exist are paid for, several times where they are shared; no instance pays for what another keeps; and
//! since their parts add up to what there is, no set of others can take the part of one. A page table is
//! there only as long as the section that it maps.

use crate::death::zero;
use crate::frames::Frames;
use crate::instances::Instances;
use crate::instant;
use crate::manager::Manager;
use crate::section_word::{Kind, MAPPER, Word};
use crate::settled::Settled;
use crate::tables::{self, READ, USER, WRITE};
use cairn_abi::address::{LEAF_SPAN, PAGE_SIZE, SECTION_STRIDE};
use cairn_abi::memory::{SECTIONS_AT_RUN_TIME, SECTIONS_MAXIMUM};
use cairn_abi::{Error, InstanceId};
use core::ops::Range;
use core::sync::atomic::{AtomicI64, AtomicU16, AtomicU64, Ordering::Relaxed};

/// Most sections at a time.
pub const COUNT: usize = SECTIONS_MAXIMUM;
/// Most pages of a section: the last page of its addresses stays unmapped.
pub const PAGES_MAXIMUM: u64 = LEAF_SPAN / PAGE_SIZE - 1;

pub(crate) struct Slot {
    word: AtomicU64,
    /// Of pages that are lent, where their owner has them.
    pub(crate) home: AtomicU64,
    /// The instances that map it, and pay for it. Their domain's table does not say which of its instances it is.
    pub(crate) mapped: Instances,
    /// The instances to which it is offered, and those of them that may write.
    pub(crate) offered: Instances,
    writable: Instances,
    /// The instance to which its owner's thread is about to offer it, or 0; from bit 16 on, how many had retired under that
    /// number before.
    offering: AtomicU64,
}

impl Slot {
    pub(crate) fn load(&self) -> Word {
        Word(self.word.load(Relaxed))
    }

    /// The section, which nobody but its owner has, is nobody's from now on: false, if it is another's as well, or was.
    pub(crate) fn claim(&self, section: Word) -> bool {
        let (alone, nobody) = (section.0, section.0 - MAPPER);
        section.mappers() == 1
            && self.word.compare_exchange(alone, nobody, Relaxed, Relaxed).is_ok()
    }
}

/// All sections.
pub struct Sections {
    slots: [Slot; COUNT],
    /// Slots without a section.
    free: Frames<{ COUNT.div_ceil(64) }>,
    made: AtomicU16,
}

impl Sections {
    /// No section.
    pub const fn empty() -> Sections {
        Sections {
            slots: [const {
                Slot {
                    word: AtomicU64::new(0),
                    home: AtomicU64::new(0),
                    mapped: Instances::new(),
                    offered: Instances::new(),
                    writable: Instances::new(),
                    offering: AtomicU64::new(0),
                }
            }; COUNT],
            free: Frames::new(),
            made: AtomicU16::new(0),
        }
    }

    /// Done once more, it changes nothing.
    pub(crate) fn begin(&self) {
        self.free.limit(COUNT);
    }
}

// A leaf table belongs to one section, and one directory leads to all of them.
const _: () = assert!(SECTION_STRIDE == LEAF_SPAN);
const _: () = assert!(
    address(0) / (512 * LEAF_SPAN) == address(COUNT - 1) / (512 * LEAF_SPAN),
    "sections for so many domains need a second directory"
);

pub(crate) const fn address(slot: usize) -> u64 {
    SECTIONS_AT_RUN_TIME + slot as u64 * SECTION_STRIDE
}

impl Manager<'_> {
    pub(crate) fn slot(&self, number: usize) -> &Slot {
        &self.state.sections.slots[number % COUNT]
    }

    /// The section at an address: its number.
    pub(crate) fn section(&self, at: u64) -> Result<usize, Error> {
        let number = at.checked_sub(address(0)).ok_or(Error::NotFound)? / SECTION_STRIDE;
        let exists = number < COUNT as u64
            && at == address(number as usize)
            && self.slot(number as usize).load().mappers() != 0;
        if exists { Ok(number as usize) } else { Err(Error::NotFound) }
    }

    pub(crate) fn maps(&self, instance: InstanceId, number: usize) -> bool {
        self.slot(number).mapped.contains(instance)
    }

    /// Whether the instance or a fellow in its domain maps it.
    fn reaches(&self, instance: InstanceId, number: usize) -> bool {
        let entry =
            self.root(instance).ok().and_then(|root| self.tables.find(root, address(number)));
        entry.and_then(tables::mapped).is_some()
    }

    /// The places of the index of a section's pages.
    pub(crate) fn listed(&self, section: Word) -> impl Iterator<Item = u64> {
        self.list(section).iter().map(|place| place.load(Relaxed) as u64)
    }

    /// The index itself.
    pub(crate) fn list(&self, section: Word) -> &[AtomicI64] {
        self.words(self.frame(section.index()), section.pages() * 8)
    }

    /// The pages of the section at an address; of none 0.
    pub fn pages_of(&self, at: u64) -> u64 {
        self.section(at).map_or(0, |number| self.slot(number).load().pages())
    }

    /// Whether an instance maps as many sections as it may.
    pub fn maps_all(&self, instance: InstanceId) -> bool {
        match (self.account(instance), self.record(instance)) {
            (Ok(account), Ok(record)) => {
                u64::from(account.sections.load(Relaxed)) >= record.sections()
            }
            _ => true,
        }
    }

    /// An instance pays for a section that it is going to map.
    pub(crate) fn pay(&self, instance: InstanceId, pages: u64) -> Result<(), Error> {
        let sections = &self.account(instance)?.sections;
        if self.maps_all(instance) {
            return Err(Error::Exhausted);
        }
        self.charge(instance, pages + 1)?;
        sections.fetch_add(1, Relaxed);
        Ok(())
    }

    /// It does not map it any more.
    pub(crate) fn pay_back(&self, instance: InstanceId, pages: u64) {
        if let Ok(account) = self.account(instance) {
            account.sections.fetch_sub(1, Relaxed);
        }
        self.refund(instance, pages + 1);
    }

    /// Makes a section; its address. `Busy` here and below: another thread of the instance is at work on
    /// a section.
    pub fn make_section(&self, instance: InstanceId, pages: u64) -> Result<u64, Error> {
        if pages == 0 || pages > PAGES_MAXIMUM {
            return Err(Error::BadArgument);
        }
        self.alone_in_sections(instance, || {
            self.pay(instance, pages)?;
            let made = self.fill(instance, pages);
            let (number, section) = made.inspect_err(|_| self.pay_back(instance, pages))?;
            self.map(instance, number, section, true)?;
            Ok(address(number))
        })
    }

    /// Takes a section's pages, and a slot for it.
    fn fill(&self, instance: InstanceId, pages: u64) -> Result<(usize, Word), Error> {
        let (number, section) = self.begin_section(Kind::Made, instance, pages)?;
        let filled = self.list(section).iter().try_for_each(|place| {
            place.store(self.take_frame()? as i64, Relaxed);
            Ok(())
        });
        filled.inspect_err(|_| {
            self.give_listed(section, Settled::never_reached());
            self.state.sections.free.give(number);
        })?;
        self.publish(number, section);
        Ok((number, section))
    }

    /// Takes a slot for a section, and the page that lists its pages, which are none yet.
    pub(crate) fn begin_section(
        &self,
        kind: Kind,
        owner: InstanceId,
        pages: u64,
    ) -> Result<(usize, Word), Error> {
        // By its number, which those that came back from the image do not have.
        let index = self.state.frames.take().ok_or(Error::Exhausted)? as u64;
        zero(self.words(self.frame(index), PAGE_SIZE));
        let life = self.state.sections.made.fetch_add(1, Relaxed);
        match self.state.sections.free.take() {
            Some(number) => Ok((number, Word::new(kind, owner, pages, index, life))),
            None => {
                self.give_frame(self.frame(index), Settled::never_reached());
                Err(Error::Exhausted)
            }
        }
    }

    /// Others find the section from now on.
    pub(crate) fn publish(&self, number: usize, section: Word) {
        self.slot(number).word.store(section.0, Relaxed);
    }

    /// A section is no more, and its pages are somebody's, or were given back: what is left of it goes back.
    pub(crate) fn end_section(&self, number: usize, section: Word) {
        let slot = self.slot(number);
        slot.offered.clear();
        self.give_frame(self.frame(section.index()), Settled::never_reached());
        slot.word.store(0, Relaxed);
        self.state.sections.free.give(number);
    }

    /// Gives a section's pages back, as far as they were taken.
    pub(crate) fn give_pages(&self, section: Word, settled: Settled) {
        for physical in self.listed(section).filter(|physical| *physical != 0) {
            self.give_frame(physical, settled);
        }
    }

    /// The same, and the page that lists them.
    fn give_listed(&self, section: Word, settled: Settled) {
        self.give_pages(section, settled);
        self.give_frame(self.frame(section.index()), settled);
    }

    /// Maps a section into an instance, which counts as one that maps it; on failure it does so no more.
    fn map(
        &self,
        instance: InstanceId,
        number: usize,
        section: Word,
        writable: bool,
    ) -> Result<(), Error> {
        self.slot(number).mapped.set(instance, true);
        let rights = USER | READ | if writable { WRITE } else { 0 };
        let mapped = self.root(instance).and_then(|root| {
            // All its entries lie in one table.
            self.tables.grow(root, address(number))?;
            for (page, physical) in self.listed(section).enumerate() {
                let entry = self.tables.find(root, address(number) + page as u64 * PAGE_SIZE);
                tables::map_over(entry.ok_or(Error::Dead)?, physical, rights);
            }
            Ok(())
        });
        if mapped.is_err() {
            self.leave(instance, number);
        }
        self.settle();
        mapped
    }

    /// Offers a section to another instance, which may accept it from now on.
    pub fn share(
        &self,
        owner: InstanceId,
        at: u64,
        with_whom: InstanceId,
        writable: bool,
    ) -> Result<(), Error> {
        self.alone_in_sections(owner, || {
            let number = self.section(at)?;
            let slot = self.slot(number);
            if slot.load().owner() != owner {
                return Err(Error::NotAllowed);
            }
            // An earlier life of the owner made it.
            if !self.maps(owner, number) {
                return Err(Error::NotFound);
            }
            if with_whom == owner {
                return Err(Error::BadArgument);
            }
            self.offer(number, with_whom, writable, || {})
        })
    }

    /// What a section's owner does to offer it. Between any two steps, where `preempted` is called, the instance can be
    /// retired and another come under its number, which gets nothing of this.
    pub(crate) fn offer(
        &self,
        number: usize,
        with_whom: InstanceId,
        writable: bool,
        mut preempted: impl FnMut(),
    ) -> Result<(), Error> {
        let slot = self.slot(number);
        let account = self.account(with_whom)?;
        preempted();
        let life = account.life.load(Relaxed);
        preempted();
        slot.offering.store(u64::from(with_whom) | u64::from(life) << 16, Relaxed);
        preempted();
        slot.writable.set(with_whom, writable);
        preempted();
        slot.offered.set(with_whom, true);
        preempted();
        let is_there = account.is_present() && account.life.load(Relaxed) == life;
        if !is_there {
            slot.offered.set(with_whom, false);
        }
        slot.offering.store(0, Relaxed);
        if is_there { Ok(()) } else { Err(Error::NotFound) }
    }

    /// Whether a section is offered to an instance.
    pub(crate) fn is_offered(&self, number: usize, instance: InstanceId) -> Result<bool, Error> {
        let slot = self.slot(number);
        // What is being offered may be for who had this number before.
        let offering = slot.offering.load(Relaxed);
        let life = u64::from(self.account(instance)?.life.load(Relaxed));
        let is_anothers = offering & 0xffff == u64::from(instance) && offering >> 16 != life;
        Ok(!is_anothers && slot.offered.contains(instance))
    }

    /// Maps a section that was offered: its number of pages, and its owner.
    pub fn accept(&self, instance: InstanceId, at: u64) -> Result<(u64, InstanceId), Error> {
        self.alone_in_sections(instance, || {
            let number = self.section(at)?;
            let slot = self.slot(number);
            let section = slot.load();
            if self.reaches(instance, number) || section.kind() == Kind::Torn {
                return Err(Error::BadArgument);
            }
            if !self.is_offered(number, instance)? {
                return Err(Error::NotAllowed);
            }
            self.pay(instance, section.pages())?;
            let writable = slot.writable.contains(instance);
            let join = |word| {
                let now = Word(word);
                (now.is(section) && now.mappers() != 0).then_some(word + MAPPER)
            };
            // An offer holds once. The section's last instance may leave meanwhile, and another take its place.
            let joined = match slot.offered.set(instance, false) {
                true => slot.word.fetch_update(Relaxed, Relaxed, join).map_err(|_| Error::NotFound),
                false => Err(Error::NotAllowed),
            };
            joined.inspect_err(|_| self.pay_back(instance, section.pages()))?;
            self.map(instance, number, section, writable)?;
            Ok((section.pages(), section.owner()))
        })
    }

    /// Unmaps a section from an instance; its memory goes back when the last has left.
    pub fn drop_section(&self, instance: InstanceId, at: u64) -> Result<(), Error> {
        self.alone_in_sections(instance, || {
            let number = self.section(at)?;
            if !self.maps(instance, number) {
                return Err(Error::NotFound);
            }
            self.leave_any(instance, number)
        })
    }

    /// The same of any kind.
    fn leave_any(&self, instance: InstanceId, number: usize) -> Result<(), Error> {
        let section = self.slot(number).load();
        match section.kind() {
            Kind::Lent if section.owner() == instance => self.take_home(instance, number),
            Kind::Torn => self.give_up(instance, number),
            _ => {
                self.leave(instance, number);
                Ok(())
            }
        }
    }

    /// An instance that counts as one that maps a section does so no more. Its pages and page tables go back, and
    /// only then what it paid: what is paid for is always there.
    fn leave(&self, instance: InstanceId, number: usize) {
        let slot = self.slot(number);
        let section = slot.load();
        slot.mapped.set(instance, false);
        let root = self.root(instance).ok();
        let leaf = root.and_then(|root| self.tables.leaf(root, address(number)));
        // Before it is empty: who has the same page table, and lives while this one is dead, may map the section as soon as it is not reached.
        let table = root.and_then(|root| self.tables.cut(root, address(number)));
        instant::passes();
        for entry in leaf.unwrap_or(&[]).iter().take(section.pages() as usize) {
            tables::unmap(entry);
        }
        let settled = self.settle();
        table.into_iter().for_each(|table| self.tables.give(table, settled));
        if section.owner() == instance {
            slot.offered.clear();
        }
        self.leave_pages(number, section, settled);
        self.pay_back(instance, section.pages());
    }

    /// One instance less maps a section. Its pages go back with the last.
    pub(crate) fn leave_pages(&self, number: usize, section: Word, settled: Settled) {
        if Word(self.slot(number).word.fetch_sub(MAPPER, Relaxed)).mappers() == 1 {
            self.give_pages(section, settled);
            self.end_section(number, section);
        }
    }

    /// A section is not offered to an instance any more.
    pub(crate) fn withdraw_offer(&self, number: usize, instance: InstanceId) {
        self.slot(number).offered.set(instance, false);
    }

    /// An instance died: it leaves the next of these sections that it maps, and nothing is offered to its successor;
    /// what is to be looked at next.
    pub(crate) fn leave_next_section(
        &self,
        instance: InstanceId,
        mut numbers: Range<usize>,
    ) -> usize {
        // An instance pays for what it maps.
        let maps_any = self.has_more_than_laid_out(instance).unwrap_or(true);
        for number in &mut numbers {
            self.withdraw_offer(number, instance);
            if maps_any && self.maps(instance, number) {
                // Of what was lent its pages are gone already, so no copies are lacking.
                let _ = self.leave_any(instance, number);
                return number + 1;
            }
        }
        numbers.end
    }
}
