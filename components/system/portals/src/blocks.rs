//! Blocks of portals that were made at run time: what is at every index that a client was given.
//!
//! This module alone decides which indexes of a table are taken, so that it holds invariant 10: what an index
//! means to its holder never changes, but to "no portal", until the holder gives it up. A block's life:
//!
//! ```text
//!            add                      fill
//! Free ──────────────▶ Open     Reserved ──────▶ Open
//!   └─────reserve────▶ Reserved
//!
//! Open, Reserved ──end──▶ Ended           by others: no portal any more, the indexes stay taken
//! Open, Reserved, Ended ──close──▶ Free   by the holder: the indexes are free
//! ```
//!
//! The code of a block goes with its portals: no invocation stack names it (`returns.rs`).
//!
//! What the client pays for, all states but `Free`, is counted for it alone, and whatever it asks for looks at
//! its own blocks alone. What an instance made for others is a list too, so that taking it back looks at nothing else.

mod made;

use crate::entries::Entries;
use cairn_abi::domain::{BLOCKS_MAXIMUM, DOMAINS_MAXIMUM};
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::{DomainId, Error, InstanceId};
use core::num::NonZero;

/// The number of no instance.
pub const NO_INSTANCE: InstanceId = InstanceId(0);
/// No block.
const NONE: u16 = u16::MAX;
/// Bits of an index in the word that names a reservation; above them is what tells it from every other.
const INDEX_BITS: u32 = 16;

/// What a block leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An export of the description, by its index in the record.
    Export(u32),
    /// A registration made at run time, by its number.
    Registration(u64),
    /// An object of an export, with its control word; of a reservation, the word that names it.
    Object(u32, u64),
    /// A semaphore, by its index.
    Semaphore(u16),
    /// A lock, by its index.
    Lock(u16),
}

/// Where a block is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Unused.
    Free,
    /// Its indexes are the client's, and lead nowhere yet: only the object that they were reserved for can be
    /// put there.
    Reserved,
    /// Its entries are in the client's table.
    Open,
    /// Its entries are cleared, its indexes still the client's.
    Ended,
}

/// Portal code, and the stack queue that it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// First granule.
    pub start: u16,
    /// Granules.
    pub granules: u16,
    /// Stack queue, or `u16::MAX`.
    pub queue: u16,
}

impl Code {
    /// None.
    pub const NONE: Code = Code { start: 0, granules: 0, queue: u16::MAX };
    /// None, in zeros.
    const UNUSED: Code = Code { start: 0, granules: 0, queue: 0 };
}

/// The code of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forms {
    /// Of calls of its server where that is, or, if that moves, while it is where it begins.
    pub code: Code,
    /// Of one whose server moves: while that is in its other place.
    pub elsewhere: Code,
}

impl Forms {
    /// None.
    pub const NONE: Forms = Forms::of(Code::NONE);

    /// Of calls of a server that stays where it is.
    pub const fn of(code: Code) -> Forms {
        Forms { code, elsewhere: Code::NONE }
    }
}

/// A block.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    state: State,
    /// What it leads to.
    pub kind: Kind,
    /// The instance that holds it.
    pub client: InstanceId,
    /// The client's domain: it is in the table of that.
    pub domain: DomainId,
    /// The instance that serves it.
    pub server: InstanceId,
    /// The instance with whose death it ends, beside the client's, or [`NO_INSTANCE`].
    pub owner: InstanceId,
    /// What its holder knows it by, if it does.
    label: Option<NonZero<u32>>,
    /// An import of an instance that was loaded leads here: its holder keeps it from one life to the next, and does not close it.
    pub is_import: bool,
    /// Number of its entries.
    pub count: u8,
    /// The first of them.
    first: u16,
    forms: Forms,
    /// The client's next block, or the next free one.
    next: u16,
    /// Its neighbours among the blocks of the same maker.
    next_made: u16,
    previous_made: u16,
}

impl Block {
    const FREE: Block = Block {
        state: State::Free,
        kind: Kind::Export(u32::MAX),
        client: NO_INSTANCE,
        domain: DomainId(0),
        server: NO_INSTANCE,
        owner: NO_INSTANCE,
        label: None,
        is_import: false,
        count: 0,
        first: 0,
        forms: Forms::NONE,
        next: NONE,
        next_made: NONE,
        previous_made: NONE,
    };

    /// One that was never in use: zeros, so that it takes no room in the image.
    const UNUSED: Block = Block {
        kind: Kind::Export(0),
        forms: Forms { code: Code::UNUSED, elsewhere: Code::UNUSED },
        next: 0,
        next_made: 0,
        previous_made: 0,
        ..Block::FREE
    };

    /// The instance that can end it for its holder.
    fn maker(&self) -> InstanceId {
        if self.owner == NO_INSTANCE { self.server } else { self.owner }
    }

    /// Where it is in its life.
    pub fn state(&self) -> State {
        self.state
    }

    /// Its code.
    pub fn forms(&self) -> Forms {
        self.forms
    }

    /// The first of its indexes.
    pub fn first(&self) -> usize {
        self.first.into()
    }

    /// Its indexes.
    pub fn indexes(&self) -> core::ops::Range<usize> {
        self.first()..self.first() + usize::from(self.count)
    }

    /// Whether it leads somewhere.
    pub fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// Whether it leads to an object of its server, or will.
    pub fn is_object(&self) -> bool {
        matches!(self.kind, Kind::Object(..))
    }

    /// Whether others can end it: it leads somewhere, or will.
    pub fn is_live(&self) -> bool {
        matches!(self.state, State::Open | State::Reserved)
    }
}

/// A block that is wanted: its two ends, and what it leads to.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// What it leads to.
    pub kind: Kind,
    /// The instance that holds it.
    pub client: InstanceId,
    /// The client's domain: it is in the table of that.
    pub domain: DomainId,
    /// The instance that serves it.
    pub server: InstanceId,
    /// The instance with whose death it ends, beside the client's, or [`NO_INSTANCE`].
    pub owner: InstanceId,
    /// Number of its entries.
    pub count: usize,
    /// An import leads here.
    pub is_import: bool,
}

/// What is counted for each client.
#[derive(Clone, Copy)]
struct Account {
    /// Its blocks, as a list.
    first: u16,
    held: u16,
    /// The blocks of which it is the maker, as a list.
    first_made: u16,
}

/// All blocks.
pub struct Blocks {
    slots: [Block; BLOCKS_MAXIMUM],
    /// Below it, every block is or was in use.
    end: usize,
    /// The free ones below `end`, as a list.
    free: u16,
    accounts: [Account; INSTANCES_MAXIMUM],
    entries: [Entries; DOMAINS_MAXIMUM],
    /// Reservations that were ever made.
    reservations: u64,
}

impl Blocks {
    /// No blocks, and no domains.
    pub const EMPTY: Blocks = Blocks {
        slots: [Block::UNUSED; BLOCKS_MAXIMUM],
        end: 0,
        free: NONE,
        accounts: [Account { first: NONE, held: 0, first_made: NONE }; INSTANCES_MAXIMUM],
        entries: [Entries::TAKEN; DOMAINS_MAXIMUM],
        reservations: 0,
    };

    /// Takes over the table of a domain, of so many entries, of which these indexes are taken for good.
    pub fn add_table(&mut self, domain: DomainId, size: usize, taken: impl Iterator<Item = usize>) {
        let entries = &mut self.entries[domain.index()];
        *entries = Entries::of(size);
        taken.for_each(|index| entries.take(index, 1));
    }

    /// Forgets the table of a domain, of which no block is left.
    pub fn remove_table(&mut self, domain: DomainId) {
        self.entries[domain.index()] = Entries::TAKEN;
    }

    /// A block, by its place.
    pub fn get(&self, place: usize) -> &Block {
        &self.slots[place]
    }

    /// Below this place every block is or was in use.
    pub fn end_of_used(&self) -> usize {
        self.end
    }

    /// Blocks that a client pays for.
    pub fn held(&self, client: InstanceId) -> usize {
        self.accounts[client.index()].held.into()
    }

    /// Where the next block of so many entries would begin in the table of a domain.
    pub fn room(&self, domain: DomainId, count: usize) -> Result<usize, Error> {
        if self.free == NONE && self.end == BLOCKS_MAXIMUM {
            return Err(Error::Exhausted);
        }
        self.entries[domain.index()].find(count).ok_or(Error::Exhausted)
    }

    /// Adds an open block where there is [room](Blocks::room), or entries [are free](Blocks::are_free); the caller then writes the entries.
    /// The value is its place.
    pub fn add(&mut self, first: usize, wanted: &Wanted, forms: Forms) -> usize {
        self.take(first, wanted, State::Open, forms)
    }

    /// Takes entries of what [`Blocks::room`] answered for what is no block.
    pub fn take_entries(&mut self, domain: DomainId, first: usize, count: usize) {
        self.entries[domain.index()].take(first, count);
    }

    /// Gives them back.
    pub fn release_entries(&mut self, domain: DomainId, first: usize, count: usize) {
        self.entries[domain.index()].release(first, count);
    }

    /// Reserves a block; the value names it: the first index, and what tells this reservation from every
    /// other at the same index.
    pub fn reserve(&mut self, wanted: &Wanted) -> Result<u64, Error> {
        let Kind::Object(export, _) = wanted.kind else { return Err(Error::BadArgument) };
        let first = self.room(wanted.domain, wanted.count)?;
        self.reservations += 1;
        let word = first as u64 | self.reservations << INDEX_BITS;
        let wanted = Wanted { kind: Kind::Object(export, word), ..*wanted };
        self.take(first, &wanted, State::Reserved, Forms::NONE);
        Ok(word)
    }

    fn take(&mut self, first: usize, wanted: &Wanted, state: State, forms: Forms) -> usize {
        let place = match self.free {
            NONE => {
                self.end += 1;
                self.end - 1
            }
            place => {
                self.free = self.slots[usize::from(place)].next;
                place.into()
            }
        };
        let Wanted { kind, client, domain, server, owner, count, is_import } = *wanted;
        self.entries[domain.index()].take(first, count);
        let account = &mut self.accounts[client.index()];
        let (first, count, next) = (first as u16, count as u8, account.first);
        account.first = place as u16;
        account.held += 1;
        let ends = Block { client, domain, server, owner, ..Block::FREE };
        let block = Block { state, kind, count, is_import, ..ends };
        self.slots[place] = Block { first, forms, next, ..block };
        self.enter_made(place);
        place
    }

    /// A list of blocks, by their places.
    fn list(&self, first: u16, next: impl Fn(&Block) -> u16) -> impl Iterator<Item = usize> {
        let mut at = first;
        core::iter::from_fn(move || {
            let place = usize::from(at);
            at = next(self.slots.get(place)?);
            Some(place)
        })
    }

    /// The blocks of a client, by their places.
    fn of_client(&self, client: InstanceId) -> impl Iterator<Item = usize> {
        self.list(self.accounts[client.index()].first, |block| block.next)
    }

    /// The first open block of a client that `which` accepts.
    pub fn find_of(&self, client: InstanceId, which: impl Fn(&Block) -> bool) -> Option<&Block> {
        let mut open = self.of_client(client).map(|place| &self.slots[place]);
        open.find(|block| block.is_open() && which(block))
    }

    /// Place of a block that ends with an instance: one that it holds, or a live one of its own that another holds; `but_objects`: of
    /// these only what is no object.
    pub fn ending_with(&self, instance: InstanceId, but_objects: bool) -> Option<usize> {
        let mut held = self.of_client(instance).filter(|place| !self.slots[*place].is_import);
        held.next().or_else(|| {
            let stays = |block: &Block| but_objects && block.is_object();
            let ends = |block: &Block| block.owner == instance && block.is_live() && !stays(block);
            self.made_by(instance, None, ends)
        })
    }

    /// Place of the block of an instance's import.
    pub fn import_of(&self, instance: InstanceId) -> Option<usize> {
        self.of_client(instance).find(|place| self.slots[*place].is_import)
    }

    /// Whether so many entries of a domain's table from `first` on are free.
    pub fn are_free(&self, domain: DomainId, first: usize, count: usize) -> bool {
        (self.free != NONE || self.end < BLOCKS_MAXIMUM)
            && self.entries[domain.index()].are_free(first, count)
    }

    /// Place of the block of a client that begins at an index of its table, and that the client may give up.
    pub fn at(&self, client: InstanceId, first: u64) -> Result<usize, Error> {
        let begins = |place: &usize| {
            let block = &self.slots[*place];
            block.first() as u64 == first && !block.is_import
        };
        self.of_client(client).find(begins).ok_or(Error::NotFound)
    }

    /// Place of the live block of a client that begins at an index of its table.
    pub fn live_at(&self, client: InstanceId, first: usize) -> Option<usize> {
        let begins = |place: &usize| {
            let block = &self.slots[*place];
            block.first() == first && block.is_live()
        };
        self.of_client(client).find(begins)
    }

    /// The first index of the open block that a client knows by a label: a walk along all that it holds, which is at most what its
    /// description says and its equal part, and which no other client makes longer.
    pub fn labelled(&self, client: InstanceId, label: NonZero<u32>) -> Option<usize> {
        let block = self.of_client(client).map(|place| &self.slots[place]);
        block
            .filter(|block| block.is_open())
            .find(|block| block.label == Some(label))
            .map(Block::first)
    }

    /// Gives the block of a client that begins at an index of its table a label.
    pub fn label(
        &mut self,
        client: InstanceId,
        first: u64,
        label: NonZero<u32>,
    ) -> Result<(), Error> {
        let place = self.at(client, first)?;
        self.slots[place].label = Some(label);
        Ok(())
    }

    /// The open block of a client that has this index of its table.
    pub fn open_at(&self, client: InstanceId, index: usize) -> Option<&Block> {
        self.of_client(client)
            .map(|place| &self.slots[place])
            .find(|block| block.state == State::Open && block.indexes().contains(&index))
    }

    /// Place of the reservation that `word` names in a client's table.
    pub fn reserved(&self, client: InstanceId, word: u64) -> Result<usize, Error> {
        let place = self.at(client, word & ((1 << INDEX_BITS) - 1))?;
        let block = &self.slots[place];
        match block.kind {
            Kind::Object(_, named) if block.state == State::Reserved && named == word => Ok(place),
            _ => Err(Error::NotFound),
        }
    }

    /// Puts an object into a reservation; the caller then writes the entries.
    pub fn fill(&mut self, place: usize, kind: Kind, forms: Forms) {
        let block = &mut self.slots[place];
        debug_assert_eq!(block.state, State::Reserved);
        (block.state, block.kind, block.forms) = (State::Open, kind, forms);
    }

    /// Takes the code of a block whose server moves for calls into its other place: the caller has cleared its entries.
    pub fn take_elsewhere(&mut self, place: usize) -> Code {
        core::mem::replace(&mut self.slots[place].forms.elsewhere, Code::NONE)
    }

    /// Ends a block for others' reasons: the caller has cleared its entries, the client keeps the indexes. The value is
    /// its code, which no thread can enter any more.
    pub fn end(&mut self, place: usize) -> Code {
        let block = &mut self.slots[place];
        block.state = State::Ended;
        core::mem::replace(&mut block.forms.code, Code::NONE)
    }

    /// Gives a block up for its holder, with its indexes: the caller has cleared its entries.
    pub fn close(&mut self, place: usize) -> Code {
        let code = self.end(place);
        let Block { domain, first, count, .. } = self.slots[place];
        self.entries[domain.index()].release(first.into(), count.into());
        self.release(place);
        code
    }

    /// Makes a block free that nothing knows any more.
    fn release(&mut self, place: usize) {
        self.leave_made(place);
        let Block { client, next, .. } = self.slots[place];
        let account = &mut self.accounts[client.index()];
        account.held -= 1;
        if usize::from(account.first) == place {
            account.first = next;
        } else {
            let before = |other: &usize| usize::from(self.slots[*other].next) == place;
            let before = self.of_client(client).find(before);
            if let Some(before) = before {
                self.slots[before].next = next;
            }
        }
        self.slots[place] = Block { next: self.free, ..Block::FREE };
        self.free = place as u16;
    }
}

#[cfg(test)]
#[path = "blocks_tests.rs"]
mod tests;
