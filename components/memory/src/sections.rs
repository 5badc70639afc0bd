//! Sections made at run time: memory at the same address in every domain that maps it.
//!
//! A section's pages are found in the page tables of the domains that map it; it ends when the last
//! of them is gone, so that the death of its owner takes nothing from the others.

use crate::manager::Manager;
use crate::tables::{self, READ, USER, WRITE};
use cairn_abi::Error;
use cairn_abi::address::{LEAF_SPAN, PAGE_SIZE, SECTION_STRIDE, SECTIONS};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Most sections at a time.
pub const COUNT: usize = 64;
/// Most sections that one domain owns.
pub const OF_DOMAIN: usize = 8;
/// Most pages of a section: the last page of its addresses stays unmapped.
pub const PAGES_MAXIMUM: u64 = LEAF_SPAN / PAGE_SIZE - 1;
/// Sections of the layout lie before this one.
const FIRST: u64 = 4096;

/// The owner of a section whose owner died.
const NOBODY: u64 = 0xffff;
/// A thread is at work on the section.
const BUSY: u64 = 1 << 16;

/// Of each section: the owner, and the number of pages above; zero: there is no such section.
pub struct Sections {
    slots: [AtomicU64; COUNT],
}

impl Sections {
    /// No section.
    pub const NEW: Sections = Sections { slots: [const { AtomicU64::new(0) }; COUNT] };
}

const fn word(owner: u64, pages: u64) -> u64 {
    owner | pages << 32
}

const fn owner_of(word: u64) -> u64 {
    word & 0xffff
}

fn address(slot: usize) -> u64 {
    SECTIONS + (FIRST + slot as u64) * SECTION_STRIDE
}

impl Manager<'_> {
    /// Marks a section, which must be `owner`'s, as busy: its slot and pages. Without that, one thread
    /// of a hostile owner could drop pages that another one is sharing.
    fn claim(&self, owner: u64, at: u64) -> Result<(usize, u64), Error> {
        let slot = (at.checked_sub(address(0)).ok_or(Error::NotFound)? / SECTION_STRIDE) as usize;
        let place = self.state.sections.slots.get(slot).ok_or(Error::NotFound)?;
        let found = place.load(Relaxed);
        if at != address(slot) || found == 0 {
            return Err(Error::NotFound);
        }
        if owner_of(found) != owner {
            return Err(Error::NotAllowed);
        }
        let idle = found & !BUSY;
        place.compare_exchange(idle, idle | BUSY, Relaxed, Relaxed).map_err(|_| Error::Busy)?;
        Ok((slot, found >> 32))
    }

    /// Makes a section; its address.
    pub fn make_section(&self, domain: u64, pages: u64) -> Result<u64, Error> {
        if pages == 0 || pages > PAGES_MAXIMUM {
            return Err(Error::BadArgument);
        }
        let slots = &self.state.sections.slots;
        if slots.iter().filter(|slot| owner_of(slot.load(Relaxed)) == domain).count() >= OF_DOMAIN {
            return Err(Error::Exhausted);
        }
        self.charge(domain, pages)?;
        let busy = word(domain, pages) | BUSY;
        let free =
            slots.iter().position(|slot| slot.compare_exchange(0, busy, Relaxed, Relaxed).is_ok());
        let Some(slot) = free else {
            self.refund(domain, pages);
            return Err(Error::Exhausted);
        };
        let made = self.fill(domain, address(slot), pages);
        if made.is_err() {
            self.leave(domain, slot, pages, true);
            self.refund(domain, pages);
        }
        (self.fence)();
        slots[slot].store(if made.is_ok() { word(domain, pages) } else { 0 }, Relaxed);
        made.map(|()| address(slot))
    }

    fn fill(&self, domain: u64, at: u64, pages: u64) -> Result<(), Error> {
        for page in 0..pages {
            let entry = self.grow(domain, at + page * PAGE_SIZE)?;
            if !tables::reserve(entry) {
                return Err(Error::Busy);
            }
            self.map_frame(entry)?;
        }
        Ok(())
    }

    /// Maps a section into another domain.
    pub fn share(&self, owner: u64, at: u64, domain: u64, writable: bool) -> Result<(), Error> {
        if domain == owner {
            return Err(Error::BadArgument);
        }
        let (slot, pages) = self.claim(owner, at)?;
        let shared = self.map_section(owner, at, pages, domain, writable);
        if shared.is_err() {
            self.leave(domain, slot, pages, false);
        }
        (self.fence)();
        self.state.sections.slots[slot].store(word(owner, pages), Relaxed);
        shared
    }

    fn map_section(
        &self,
        owner: u64,
        at: u64,
        pages: u64,
        domain: u64,
        writable: bool,
    ) -> Result<(), Error> {
        let root = self.root(owner)?;
        let rights = USER | READ | if writable { WRITE } else { 0 };
        for page in 0..pages {
            let own = self.tables.find(root, at + page * PAGE_SIZE).and_then(tables::mapped);
            tables::map_over(
                self.grow(domain, at + page * PAGE_SIZE)?,
                own.ok_or(Error::Dead)?,
                rights,
            );
        }
        Ok(())
    }

    /// Unmaps a section everywhere and gives its memory back.
    pub fn drop_section(&self, owner: u64, at: u64) -> Result<(), Error> {
        let (slot, pages) = self.claim(owner, at)?;
        let others = self.instances.iter().map(|instance| u64::from(instance.number));
        for other in others.filter(|other| *other != owner) {
            self.leave(other, slot, pages, false);
        }
        self.leave(owner, slot, pages, true);
        self.refund(owner, pages);
        self.state.sections.slots[slot].store(0, Relaxed);
        Ok(())
    }

    /// Unmaps a section from one domain; `last`: no other maps it, so its pages go back.
    fn leave(&self, domain: u64, slot: usize, pages: u64, last: bool) {
        let Ok(root) = self.root(domain) else { return };
        for page in 0..pages {
            let entry = self.tables.find(root, address(slot) + page * PAGE_SIZE);
            if let Some(physical) = entry.and_then(tables::unmap)
                && last
            {
                (self.fence)();
                self.give_frame(physical);
            }
        }
        (self.fence)();
    }

    fn is_mapped_beside(&self, domain: u64, slot: usize) -> bool {
        let others = self.instances.iter().filter(|instance| u64::from(instance.number) != domain);
        let mut roots = others.filter_map(|instance| self.tables.root(instance.satp));
        roots.any(|root| self.tables.find(root, address(slot)).and_then(tables::mapped).is_some())
    }

    /// A domain died: it leaves all sections; its own live on while others map them.
    pub(crate) fn leave_all_sections(&self, domain: u64) {
        for (slot, place) in self.state.sections.slots.iter().enumerate() {
            let found = place.load(Relaxed);
            let (owner, pages) = (owner_of(found), found >> 32);
            if found == 0 {
                continue;
            }
            // While its owner lives, the owner gives the pages back.
            let last = (owner == domain || owner == NOBODY) && !self.is_mapped_beside(domain, slot);
            self.leave(domain, slot, pages, last);
            if owner == domain {
                self.refund(domain, pages);
            }
            if last {
                place.store(0, Relaxed);
            } else if owner == domain {
                place.store(word(NOBODY, pages), Relaxed);
            }
        }
    }
}
