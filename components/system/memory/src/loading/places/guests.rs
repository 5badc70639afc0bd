//! Into the page table of another, the *host*, and back: the same pages at the same addresses.
//!
//! What is exchanged are entries of directories, each of which leads to one leaf table: all of the region, and of the sections that the description shares
//! with the instance those that its host has not. So while it is away its own page table leads to nothing of its region, and when it is back that of the host does. The next
//! life begins with its content as at the start, as after a death, since these are the pages of the life before.

use crate::live::Entry;
use crate::loading::successor::word;
use crate::manager::Manager;
use crate::tables::{self, Root};
use cairn_abi::Error;
use cairn_abi::address::{LEAF_SPAN, SECTION_MAXIMUM, SECTION_STRIDE, SECTIONS};
use cairn_abi::memory::SECTIONS_AT_RUN_TIME;
use cairn_abi::record::Instance;
use cairn_abi::startup::{Mapping, SECTIONS_MAXIMUM, Startup};
use core::mem::offset_of;
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// The word of a startup page that says in which domain an instance is, in bits from this one on.
const DOMAIN: usize = offset_of!(Startup, domain);
const DOMAIN_SHIFT: usize = DOMAIN % 8 * 8;

/// Most leaf tables of a section.
const LEAVES_MAXIMUM: u64 = SECTION_MAXIMUM / SECTION_STRIDE + 1;

impl<'a> Manager<'a> {
    /// The instance, which is dead, has the page table, domain and table of portals of its other place from now on, and that one its own. All that fails does so
    /// before anything is changed.
    pub(super) fn exchange_page_tables(
        &self,
        ours: Entry<'a, Instance>,
        theirs: Entry<'a, Instance>,
    ) -> Result<(), Error> {
        let (one, other) = (ours.read(), theirs.read());
        let roots = (self.root_of(ours)?, self.root_of(theirs)?);
        let startup = self.startup(ours)?;
        let region = |root| self.tables.to_region(root, one.start_address).ok_or(Error::NotFound);
        let regions = (region(roots.0)?, region(roots.1)?);
        self.each_section_entry(startup, roots, |_| {})?;
        for (here, there) in regions.0.iter().zip(regions.1) {
            tables::exchange(here, there);
        }
        self.each_section_entry(startup, roots, |(here, there)| {
            // What both have serves both.
            if (here.load(Relaxed) == 0) != (there.load(Relaxed) == 0) {
                tables::exchange(here, there);
            }
        })?;
        if let Some(word) = startup.get(DOMAIN / 8) {
            let others = word.load(Relaxed) as u64 & !(0xffff << DOMAIN_SHIFT);
            word.store((others | u64::from(other.domain) << DOMAIN_SHIFT) as i64, Relaxed);
        }
        ours.write(&in_page_table_of(&one, &other));
        theirs.write(&in_page_table_of(&other, &one));
        Ok(())
    }

    /// The entries that lead to the sections of an instance, by its startup page, in two page tables.
    fn each_section_entry(
        &self,
        startup: &[AtomicI64],
        roots: (Root, Root),
        mut body: impl FnMut((&AtomicI64, &AtomicI64)),
    ) -> Result<(), Error> {
        let count = word(startup, offset_of!(Startup, section_count)) >> 32;
        const _: () = assert!(offset_of!(Startup, section_count) % 8 == 4);
        for place in 0..(count as usize).min(SECTIONS_MAXIMUM) {
            let at = offset_of!(Startup, sections) + place * size_of::<Mapping>();
            let address = word(startup, at + offset_of!(Mapping, address));
            let leaves = word(startup, at + offset_of!(Mapping, size)) / SECTION_STRIDE + 1;
            if !(SECTIONS..SECTIONS_AT_RUN_TIME).contains(&address) {
                continue;
            }
            for leaf in 0..leaves.min(LEAVES_MAXIMUM) {
                let entry = |root| {
                    let found = self.tables.to_leaves(root, address + leaf * LEAF_SPAN, 1);
                    found.and_then(<[_]>::first).ok_or(Error::NotFound)
                };
                body((entry(roots.0)?, entry(roots.1)?));
            }
        }
        Ok(())
    }
}

/// A row in the domain and the page table of another.
fn in_page_table_of(own: &Instance, other: &Instance) -> Instance {
    let Instance { domain, is_away, space, table, .. } = *other;
    Instance { domain, is_away, space, table, ..*own }
}
