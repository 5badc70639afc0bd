//! Sections made at run time: memory at the same address in every domain that maps it.
//!
//! Each domain maps and unmaps for itself: the owner offers, another accepts. So nobody changes another's
//! page tables or uses up the number of them that it may have, and no mapping goes away unless its
//! domain wants that. The pages of a section are listed in one page more, its index, and go back when the last domain
//! has left. Until then they count for the owner, also when that has left or died: otherwise a component
//! that dies again and again would have more than its quota.

use crate::manager::Manager;
use crate::tables::{self, READ, USER, WRITE};
use cairn_abi::Error;
use cairn_abi::address::{LEAF_SPAN, PAGE_SIZE, SECTION_STRIDE, SECTIONS};
use cairn_abi::domain::DOMAINS_MAXIMUM;
use core::sync::atomic::{AtomicU16, AtomicU64, Ordering::Relaxed};

/// Most sections at a time.
pub const COUNT: usize = 64;
/// Most sections that count for one domain.
pub const OF_DOMAIN: usize = 8;
/// Most pages of a section: the last page of its addresses stays unmapped.
pub const PAGES_MAXIMUM: u64 = LEAF_SPAN / PAGE_SIZE - 1;
/// Sections of the layout lie before this one.
const FIRST: u64 = 4096;

/// One more domain maps the section.
const MAPPER: u64 = 1 << 8;

/// A section in a word; zero: there is none.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Word(u64);

impl Word {
    /// A section that its owner maps. `life` tells it from an earlier one of the same shape.
    fn new(owner: u64, pages: u64, index: u64, life: u16) -> Word {
        Word(owner | MAPPER | pages << 20 | index << 32 | u64::from(life) << 48)
    }

    fn owner(self) -> u64 {
        self.0 & 0xff
    }

    fn mappers(self) -> u64 {
        self.0 >> 8 & 0xfff
    }

    fn pages(self) -> u64 {
        self.0 >> 20 & 0xfff
    }

    /// Number of the page that lists the others.
    fn index(self) -> u64 {
        self.0 >> 32 & 0xffff
    }

    /// The same section, however many map it.
    fn is(self, other: Word) -> bool {
        let but_mappers = |word: Word| word.0 & !(0xfff * MAPPER);
        but_mappers(self) == but_mappers(other)
    }
}

/// A bit for each domain.
struct Domains([AtomicU64; DOMAINS_MAXIMUM / 64]);

impl Domains {
    const NONE: Domains = Domains([const { AtomicU64::new(0) }; DOMAINS_MAXIMUM / 64]);

    fn place(&self, domain: u64) -> (&AtomicU64, u64) {
        (&self.0[domain as usize / 64 % self.0.len()], 1 << (domain % 64))
    }

    /// What it was before.
    fn set(&self, domain: u64, value: bool) -> bool {
        let (word, bit) = self.place(domain);
        let before = match value {
            true => word.fetch_or(bit, Relaxed),
            false => word.fetch_and(!bit, Relaxed),
        };
        before & bit != 0
    }

    fn contains(&self, domain: u64) -> bool {
        let (word, bit) = self.place(domain);
        word.load(Relaxed) & bit != 0
    }

    fn clear(&self) {
        self.0.iter().for_each(|word| word.store(0, Relaxed));
    }
}

struct Slot {
    word: AtomicU64,
    /// To whom it is offered, and to whom of them for writing too.
    offered: Domains,
    writable: Domains,
}

impl Slot {
    fn load(&self) -> Word {
        Word(self.word.load(Relaxed))
    }
}

/// All sections.
pub struct Sections {
    slots: [Slot; COUNT],
    made: AtomicU16,
}

impl Sections {
    /// No section.
    pub const NEW: Sections = Sections {
        slots: [const {
            Slot { word: AtomicU64::new(0), offered: Domains::NONE, writable: Domains::NONE }
        }; COUNT],
        made: AtomicU16::new(0),
    };
}

const fn address(slot: usize) -> u64 {
    SECTIONS + (FIRST + slot as u64) * SECTION_STRIDE
}

impl Manager<'_> {
    fn slot(&self, number: usize) -> &Slot {
        &self.state.sections.slots[number % COUNT]
    }

    /// The section at an address: its number.
    fn section(&self, at: u64) -> Result<usize, Error> {
        let number = at.checked_sub(address(0)).ok_or(Error::NotFound)? / SECTION_STRIDE;
        let exists = number < COUNT as u64
            && at == address(number as usize)
            && self.slot(number as usize).load().mappers() != 0;
        if exists { Ok(number as usize) } else { Err(Error::NotFound) }
    }

    fn maps(&self, domain: u64, number: usize) -> bool {
        let entry = self.root(domain).ok().and_then(|root| self.tables.find(root, address(number)));
        entry.and_then(tables::mapped).is_some()
    }

    /// The places of the index of a section's pages.
    fn listed(&self, section: Word) -> impl Iterator<Item = u64> {
        let list = self.words(self.frame(section.index()), section.pages() * 8);
        list.iter().map(|place| place.load(Relaxed) as u64)
    }

    /// Makes a section; its address. `Busy` here and below: another thread of the domain is at work on
    /// a section.
    pub fn make_section(&self, domain: u64, pages: u64) -> Result<u64, Error> {
        if pages == 0 || pages > PAGES_MAXIMUM {
            return Err(Error::BadArgument);
        }
        self.alone_in_sections(domain, || {
            let slots = &self.state.sections.slots;
            if slots.iter().filter(|slot| slot.load().owner() == domain).count() >= OF_DOMAIN {
                return Err(Error::Exhausted);
            }
            self.charge(domain, pages + 1)?;
            let made = self.fill(domain, pages);
            let (number, section) = made.inspect_err(|_| self.refund(domain, pages + 1))?;
            self.map(domain, number, section, true)?;
            Ok(address(number))
        })
    }

    /// Takes a section's pages, and a slot for it.
    fn fill(&self, domain: u64, pages: u64) -> Result<(usize, Word), Error> {
        let index = self.take_frame()?;
        let life = self.state.sections.made.fetch_add(1, Relaxed);
        let section = Word::new(domain, pages, self.frame_number(index), life);
        let filled = self.words(index, pages * 8).iter().try_for_each(|place| {
            place.store(self.take_frame()? as i64, Relaxed);
            Ok(())
        });
        let free = |slot: &Slot| slot.word.compare_exchange(0, section.0, Relaxed, Relaxed).is_ok();
        let number = filled
            .and_then(|()| self.state.sections.slots.iter().position(free).ok_or(Error::Exhausted));
        if number.is_err() {
            self.give_listed(section);
        }
        Ok((number?, section))
    }

    /// Gives a section's pages back, as far as they were taken.
    fn give_listed(&self, section: Word) {
        for physical in self.listed(section).filter(|physical| *physical != 0) {
            self.give_frame(physical);
        }
        self.give_frame(self.frame(section.index()));
    }

    /// Maps a section into a domain, which counts as one that maps it; on failure it does so no more.
    fn map(&self, domain: u64, number: usize, section: Word, writable: bool) -> Result<(), Error> {
        let rights = USER | READ | if writable { WRITE } else { 0 };
        let mapped = self.root(domain).and_then(|root| {
            // All its entries lie in one table.
            self.grow(domain, address(number))?;
            for (page, physical) in self.listed(section).enumerate() {
                let entry = self.tables.find(root, address(number) + page as u64 * PAGE_SIZE);
                tables::map_over(entry.ok_or(Error::Dead)?, physical, rights);
            }
            Ok(())
        });
        if mapped.is_err() {
            self.leave(domain, number);
        }
        (self.fence)();
        mapped
    }

    /// Offers a section to another domain, which may accept it from now on.
    pub fn share(&self, owner: u64, at: u64, domain: u64, writable: bool) -> Result<(), Error> {
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
            if domain == owner {
                return Err(Error::BadArgument);
            }
            self.root(domain)?;
            slot.writable.set(domain, writable);
            slot.offered.set(domain, true);
            Ok(())
        })
    }

    /// Maps a section that was offered: its number of pages, and its owner in the upper 32 bits.
    pub fn accept(&self, domain: u64, at: u64) -> Result<u64, Error> {
        self.alone_in_sections(domain, || {
            let number = self.section(at)?;
            let slot = self.slot(number);
            let section = slot.load();
            if self.maps(domain, number) {
                return Err(Error::BadArgument);
            }
            let writable = slot.writable.contains(domain);
            if !slot.offered.set(domain, false) {
                return Err(Error::NotAllowed);
            }
            let join = |word| {
                let now = Word(word);
                (now.is(section) && now.mappers() != 0).then_some(word + MAPPER)
            };
            // Its last domain may leave, and another section take its place.
            slot.word.fetch_update(Relaxed, Relaxed, join).map_err(|_| Error::NotFound)?;
            self.map(domain, number, section, writable)?;
            Ok(section.pages() | section.owner() << 32)
        })
    }

    /// Unmaps a section from a domain; its memory goes back when the last has left.
    pub fn drop_section(&self, domain: u64, at: u64) -> Result<(), Error> {
        self.alone_in_sections(domain, || {
            let number = self.section(at)?;
            if !self.maps(domain, number) {
                return Err(Error::NotFound);
            }
            self.leave(domain, number);
            Ok(())
        })
    }

    /// A domain that counts as one that maps a section does so no more.
    fn leave(&self, domain: u64, number: usize) {
        let slot = self.slot(number);
        let section = slot.load();
        if let Ok(root) = self.root(domain) {
            for page in 0..section.pages() {
                self.tables.find(root, address(number) + page * PAGE_SIZE).map(tables::unmap);
            }
        }
        (self.fence)();
        if section.owner() == domain {
            slot.offered.clear();
        }
        if Word(slot.word.fetch_sub(MAPPER, Relaxed)).mappers() == 1 {
            slot.offered.clear();
            self.give_listed(section);
            self.refund(section.owner(), section.pages() + 1);
            slot.word.store(0, Relaxed);
        }
    }

    /// A domain died: it leaves all sections, and nothing is offered to its successor.
    pub(crate) fn leave_all_sections(&self, domain: u64) {
        for number in 0..COUNT {
            self.slot(number).offered.set(domain, false);
            if self.maps(domain, number) {
                self.leave(domain, number);
            }
        }
    }
}
