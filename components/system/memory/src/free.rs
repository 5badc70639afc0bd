//! Pages that were allocated leave their instance, unless a window is open on one of them.

use crate::instant;
use crate::live::Entry;
use crate::manager::Manager;
use crate::settled::Settled;
use crate::tables;
use cairn_abi::address::{
    DEVICES_OFFSET, PAGE_SIZE, PAGE_TABLES, WINDOW_MAXIMUM, WINDOW_SLOT_STRIDE, WINDOW_SLOTS,
};
use cairn_abi::domain::{CLIENT_ROW_WORDS, client_row};
use cairn_abi::record::Activation;
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::{
    Ordering::{Relaxed, SeqCst},
    fence,
};

/// Pages whose places are looked up at once in the windows of the client's activations.
const PAGES_AT_ONCE: usize = 64;

#[cfg(test)]
thread_local! {
    /// Activations whose windows this thread has looked at.
    pub(crate) static LOOKS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

impl Manager<'_> {
    /// Takes pages back that [`Manager::allocate`] gave. `Busy`: one of them is in a window of a call.
    pub fn free(&self, instance: InstanceId, address: u64, pages: u64) -> Result<(), Error> {
        let account = self.account(instance)?;
        account.while_not_copied(|| self.free_pages(instance, address, pages))
    }

    fn free_pages(&self, instance: InstanceId, address: u64, pages: u64) -> Result<(), Error> {
        let settled = self.withdraw(instance, address, pages)?;
        let root = self.root(instance)?;
        for entry in
            (0..pages).filter_map(|page| self.tables.find(root, address + page * PAGE_SIZE))
        {
            let physical = tables::page(entry);
            entry.store(0, Relaxed);
            self.give_frame(physical, settled);
        }
        self.refund(instance, pages);
        Ok(())
    }

    /// Makes pages unreachable that [`Manager::allocate`] gave, so that they can be given on; each is in its entry still.
    /// `Busy`: one of them is in a window of a call, or a client of a pager has it; `NotFound`: one is not there; nothing is changed then.
    pub(crate) fn withdraw(
        &self,
        instance: InstanceId,
        address: u64,
        pages: u64,
    ) -> Result<Settled, Error> {
        let root = self.root(instance)?;
        let start = self.record(instance)?.start_address();
        let base = start + self.base(instance)?;
        let limit = start + DEVICES_OFFSET;
        let inside = address.is_multiple_of(PAGE_SIZE)
            && (base..limit).contains(&address)
            && pages > 0
            && pages <= (limit - address) / PAGE_SIZE;
        if !inside {
            return Err(Error::BadArgument);
        }
        instant::passes();
        let entry = |page: u64| self.tables.find(root, address + page * PAGE_SIZE);
        let restore = |pages: u64| {
            (0..pages).filter_map(entry).for_each(tables::restore);
            self.settle();
        };
        for page in 0..pages {
            let is_lent = entry(page).is_some_and(tables::is_lent);
            if is_lent || !entry(page).is_some_and(tables::withdraw) {
                restore(page);
                return Err(if is_lent { Error::Busy } else { Error::NotFound });
            }
        }
        let settled = self.settle();
        // As in [`Manager::reserve`]: what was found there may be content that has come since.
        fence(SeqCst);
        if address < start + self.base(instance)? {
            (0..pages).filter_map(entry).for_each(tables::give_back);
            self.settle();
            return Err(Error::BadArgument);
        }
        // Withdrawn pages cannot come into a window any more; those that are there already remain.
        let mut in_use = false;
        for from in (0..pages).step_by(PAGES_AT_ONCE) {
            let mut places = [0; PAGES_AT_ONCE];
            let count = PAGES_AT_ONCE.min((pages - from) as usize);
            let places = &mut places[..count];
            let batch = (from..pages).filter_map(entry).map(tables::page);
            places.iter_mut().zip(batch).for_each(|(place, physical)| *place = physical);
            // So that a page in a window, which may be any instance's, is compared with few.
            places.sort_unstable();
            let is_one = |physical| places.binary_search(&physical).is_ok();
            in_use |= self.any_window(instance, is_one) || self.is_provided(instance, is_one);
        }
        if in_use {
            restore(pages);
            return Err(Error::Busy);
        }
        Ok(settled)
    }

    /// Whether a window that an instance's threads opened maps a page of which `which` holds. They take activations of the
    /// instance's stack queues only, so no others are looked at.
    fn any_window(&self, instance: InstanceId, which: impl Fn(u64) -> bool) -> bool {
        let row = self
            .words(self.header.clients + client_row(instance.into()), CLIENT_ROW_WORDS as u64 * 8);
        row.is_empty()
            || row.iter().enumerate().any(|(place, word)| {
                let mut own = word.load(Relaxed) as u64;
                while own != 0 {
                    let place = place * 64 + own.trailing_zeros() as usize;
                    let activation = self.record.activations.get(place);
                    if activation.is_some_and(|activation| self.maps_any(activation, &which)) {
                        return true;
                    }
                    own &= own - 1;
                }
                false
            })
    }

    /// Whether a window slot of an activation maps such a page.
    fn maps_any(&self, activation: Entry<Activation>, which: impl Fn(u64) -> bool) -> bool {
        #[cfg(test)]
        LOOKS.with(|looks| looks.set(looks.get() + 1));
        const PAGES: usize = (WINDOW_MAXIMUM / PAGE_SIZE) as usize;
        const STRIDE: usize = (WINDOW_SLOT_STRIDE / PAGE_SIZE) as usize;
        let first = (activation.windows().wrapping_sub(PAGE_TABLES) / 8) as usize;
        let slots = first..first.saturating_add(WINDOW_SLOTS * STRIDE);
        let Some(slots) = self.tables.words.get(slots) else { return true };
        slots.chunks(STRIDE).any(|slot| {
            slot.iter().take(PAGES).any(|entry| tables::mapped(entry).is_some_and(&which))
        })
    }
}
