//! What each instance made for others, as a list, so that taking it back looks at nothing else.

use super::{Block, Blocks, Forms, Kind, NONE};
use cairn_abi::InstanceId;

impl Blocks {
    /// Enters a block among those of its maker.
    pub(super) fn enter_made(&mut self, place: usize) {
        let maker = self.slots[place].maker();
        let first = &mut self.accounts[maker.index()].first_made;
        let next = core::mem::replace(first, place as u16);
        (self.slots[place].next_made, self.slots[place].previous_made) = (next, NONE);
        if let Some(next) = self.slots.get_mut(usize::from(next)) {
            next.previous_made = place as u16;
        }
    }

    /// Takes it out again.
    pub(super) fn leave_made(&mut self, place: usize) {
        let Block { next_made, previous_made, .. } = self.slots[place];
        match self.slots.get_mut(usize::from(previous_made)) {
            Some(previous) => previous.next_made = next_made,
            None => {
                let maker = self.slots[place].maker();
                self.accounts[maker.index()].first_made = next_made;
            }
        }
        if let Some(next) = self.slots.get_mut(usize::from(next_made)) {
            next.previous_made = previous_made;
        }
    }

    /// Place of the first block of which `maker` is the maker and that `which` accepts, behind the place `after`.
    pub fn made_by(
        &self,
        maker: InstanceId,
        after: Option<usize>,
        which: impl Fn(&Block) -> bool,
    ) -> Option<usize> {
        let first = match after {
            Some(place) => self.slots[place].next_made,
            None => self.accounts[maker.index()].first_made,
        };
        self.list(first, |block| block.next_made).find(|place| which(&self.slots[*place]))
    }

    /// Puts what another server serves, and ends with `owner`, into a reservation; the caller then writes the entries.
    pub fn fill_of(
        &mut self,
        place: usize,
        kind: Kind,
        (server, owner): (InstanceId, InstanceId),
        forms: Forms,
    ) {
        self.leave_made(place);
        (self.slots[place].server, self.slots[place].owner) = (server, owner);
        self.enter_made(place);
        self.fill(place, kind, forms);
    }
}
