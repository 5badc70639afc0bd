//! Sections made at run time: memory at the same address in every domain that maps it.
//!
//! Each domain maps and unmaps for itself: the owner offers, another accepts. So no domain changes another's
//! page tables, and no mapping goes away unless its domain wants that.
//!
//! **Each domain pays for what it maps, as long as it maps it**: the pages, one page more that lists them (the
//! section's index), and one of the sections that it can map at a time. A section lives while anybody maps it,
//! so all that exist are paid for, several times where they are shared; no domain pays for what another keeps; and
//! since the domains' parts add up to what there is, no set of others can take a domain's part. A page table is
//! there only as long as the section that it maps.

use crate::frames::Frames;
use crate::manager::Manager;
use crate::tables::{self, READ, USER, WRITE};
use cairn_abi::Error;
use cairn_abi::address::{LEAF_SPAN, PAGE_SIZE, SECTION_STRIDE, SECTIONS};
use cairn_abi::domain::DOMAINS_MAXIMUM;
use cairn_abi::page_table::TABLES_AT_RUN_TIME;
use core::ops::Range;
use core::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Most sections at a time: one at least for each domain.
pub const COUNT: usize = 256;
/// Most sections that one domain maps at a time, if there are enough for all.
pub const OF_DOMAIN: u32 = TABLES_AT_RUN_TIME - 1;
/// Most pages of a section: the last page of its addresses stays unmapped.
pub const PAGES_MAXIMUM: u64 = LEAF_SPAN / PAGE_SIZE - 1;
/// Sections of the layout lie before this one. It is chosen so that one directory leads to all of them.
const FIRST: u64 = 4096 + 240;

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
    const fn new() -> Domains {
        Domains([const { AtomicU64::new(0) }; DOMAINS_MAXIMUM / 64])
    }

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
    /// Slots without a section.
    free: Frames<{ COUNT / 64 }>,
    made: AtomicU16,
    /// How many each domain can map at a time.
    part: AtomicU32,
}

impl Sections {
    /// No section.
    pub const fn empty() -> Sections {
        Sections {
            slots: [const {
                Slot { word: AtomicU64::new(0), offered: Domains::new(), writable: Domains::new() }
            }; COUNT],
            free: Frames::new(),
            made: AtomicU16::new(0),
            part: AtomicU32::new(0),
        }
    }

    /// Divides slots and page tables among the domains. Each needs a table for a section that it maps, and a
    /// directory above.
    pub(crate) fn begin(&self, domains: usize, tables: usize) {
        let domains = domains.max(1);
        self.free.fill(COUNT);
        let part = (COUNT / domains).min((tables / domains).saturating_sub(1));
        self.part.store(OF_DOMAIN.min(part as u32), Relaxed);
    }

    /// How many sections a domain can map at a time.
    pub fn part(&self) -> u32 {
        self.part.load(Relaxed)
    }
}

// A leaf table belongs to one section, and one directory leads to all of them.
const _: () = assert!(SECTION_STRIDE == LEAF_SPAN);
const _: () = assert!(address(0) / (512 * LEAF_SPAN) == address(COUNT - 1) / (512 * LEAF_SPAN));

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

    /// A domain pays for a section that it is going to map.
    fn pay(&self, domain: u64, pages: u64) -> Result<(), Error> {
        let sections = &self.account(domain)?.sections;
        if sections.load(Relaxed) >= self.state.sections.part() {
            return Err(Error::Exhausted);
        }
        self.charge(domain, pages + 1)?;
        sections.fetch_add(1, Relaxed);
        Ok(())
    }

    /// It does not map it any more.
    fn pay_back(&self, domain: u64, pages: u64) {
        if let Ok(account) = self.account(domain) {
            account.sections.fetch_sub(1, Relaxed);
        }
        self.refund(domain, pages + 1);
    }

    /// Makes a section; its address. `Busy` here and below: another thread of the domain is at work on
    /// a section.
    pub fn make_section(&self, domain: u64, pages: u64) -> Result<u64, Error> {
        if pages == 0 || pages > PAGES_MAXIMUM {
            return Err(Error::BadArgument);
        }
        self.alone_in_sections(domain, || {
            self.pay(domain, pages)?;
            let made = self.fill(domain, pages);
            let (number, section) = made.inspect_err(|_| self.pay_back(domain, pages))?;
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
        let number = filled.and_then(|()| self.state.sections.free.take().ok_or(Error::Exhausted));
        let number = number.inspect_err(|_| self.give_listed(section))?;
        self.slot(number).word.store(section.0, Relaxed);
        Ok((number, section))
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
            self.tables.grow(root, address(number))?;
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
            if !slot.offered.contains(domain) {
                return Err(Error::NotAllowed);
            }
            self.pay(domain, section.pages())?;
            let writable = slot.writable.contains(domain);
            let join = |word| {
                let now = Word(word);
                (now.is(section) && now.mappers() != 0).then_some(word + MAPPER)
            };
            // An offer holds once. The section's last domain may leave meanwhile, and another take its place.
            let joined = match slot.offered.set(domain, false) {
                true => slot.word.fetch_update(Relaxed, Relaxed, join).map_err(|_| Error::NotFound),
                false => Err(Error::NotAllowed),
            };
            joined.inspect_err(|_| self.pay_back(domain, section.pages()))?;
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

    /// A domain that counts as one that maps a section does so no more. Its pages and page tables go back, and
    /// only then what it paid: what is paid for is always there.
    fn leave(&self, domain: u64, number: usize) {
        let slot = self.slot(number);
        let section = slot.load();
        let leaf = self.root(domain).ok().and_then(|root| self.tables.leaf(root, address(number)));
        for entry in leaf.unwrap_or(&[]).iter().take(section.pages() as usize) {
            tables::unmap(entry);
        }
        let cut = |whole| self.tables.cut(self.root(domain).ok()?, address(number), whole);
        let is_only = self.account(domain).is_ok_and(|account| account.sections.load(Relaxed) == 1);
        let tables = [cut(false), if is_only { cut(true) } else { None }];
        (self.fence)();
        tables.into_iter().flatten().for_each(|table| self.tables.give(table));
        if section.owner() == domain {
            slot.offered.clear();
        }
        if Word(slot.word.fetch_sub(MAPPER, Relaxed)).mappers() == 1 {
            slot.offered.clear();
            self.give_listed(section);
            slot.word.store(0, Relaxed);
            self.state.sections.free.give(number);
        }
        self.pay_back(domain, section.pages());
    }

    /// A domain died: it leaves the next of these sections that it maps, and nothing is offered to its successor;
    /// what is to be looked at next.
    pub(crate) fn leave_next_section(&self, domain: u64, mut numbers: Range<usize>) -> usize {
        // A domain pays for what it maps.
        let maps_any = self.has_more_than_laid_out(domain).unwrap_or(true);
        for number in &mut numbers {
            self.slot(number).offered.set(domain, false);
            if maps_any && self.maps(domain, number) {
                self.leave(domain, number);
                return number + 1;
            }
        }
        numbers.end
    }
}
