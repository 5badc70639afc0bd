//! What instances passed on of what they hold: a tree below each block that was not passed on itself.
//!
//! ```text
//! block of the granter ──▶ grant ──▶ block of its receiver ──▶ grant ──▶ ...
//!                      └─▶ grant (offered: its receiver has not accepted it yet)
//! ```
//!
//! A grant is made of an open block, for one receiver, and is accepted once. Whoever granted the first of a tree bears all of
//! it: with a grant it gives up how many more may come of it ([`Rights::passes`]), and who passes on gives these up in turn.
//! So nobody else makes a tree larger than that says, and the parts of all clients add up to the grants that there are.

use crate::blocks::NO_INSTANCE;
use cairn_abi::domain::BLOCKS_MAXIMUM;
use cairn_abi::grant::{GRANTS_MAXIMUM, Rights};
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::{Error, InstanceId};
use core::num::NonZero;

/// Bits of a place in the word that names a grant; above them is what tells it from every other.
const PLACE_BITS: u32 = 16;

/// A grant, by its place and one: tables of zeros have none, and take no room in the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant(NonZero<u16>);

impl Grant {
    fn at(place: usize) -> Option<Grant> {
        NonZero::new(place as u16 + 1).map(Grant)
    }

    /// Its place among all.
    pub fn place(self) -> usize {
        usize::from(self.0.get()) - 1
    }
}

/// What is known of a grant.
#[derive(Clone, Copy)]
pub struct Node {
    /// What no other ever had; zero: unused.
    number: u64,
    /// What its receiver may do with it. Passes are those that are left.
    pub rights: Rights,
    /// Who granted the first of its tree.
    bearer: InstanceId,
    /// Who may accept it, or did.
    pub receiver: InstanceId,
    /// The block of which it was made.
    from: u16,
    /// The receiver's block, and one; zero: it is offered.
    to: u16,
    /// Neighbours among those of the same block.
    next: Option<Grant>,
    previous: Option<Grant>,
    /// Neighbours among those that are offered to the same receiver.
    next_offer: Option<Grant>,
    previous_offer: Option<Grant>,
}

impl Node {
    const UNUSED: Node = Node {
        number: 0,
        rights: Rights { methods: 0, passes: 0, uses: 0, until: 0 },
        bearer: NO_INSTANCE,
        receiver: NO_INSTANCE,
        from: 0,
        to: 0,
        next: None,
        previous: None,
        next_offer: None,
        previous_offer: None,
    };

    /// Place of the block of which it was made.
    pub fn from(&self) -> usize {
        self.from.into()
    }

    /// Place of its receiver's block, once it was accepted.
    pub fn to(&self) -> Option<usize> {
        usize::from(self.to).checked_sub(1)
    }
}

/// What a block has to do with grants.
#[derive(Clone, Copy)]
struct Edges {
    /// The first of those that were made of it.
    first: Option<Grant>,
    /// The one by which its client has it.
    by: Option<Grant>,
}

/// All grants.
pub struct Grants {
    nodes: [Node; GRANTS_MAXIMUM],
    /// Below it, every place is or was in use.
    end: usize,
    /// The free places below `end`, as a list.
    free: Option<Grant>,
    edges: [Edges; BLOCKS_MAXIMUM],
    /// The first that is offered to each instance.
    offers: [Option<Grant>; INSTANCES_MAXIMUM],
    /// Grants that each instance bears, those that may still come of others included.
    borne: [u16; INSTANCES_MAXIMUM],
    /// Grants that were ever made.
    made: u64,
}

impl Grants {
    /// None.
    pub const EMPTY: Grants = Grants {
        nodes: [Node::UNUSED; GRANTS_MAXIMUM],
        end: 0,
        free: None,
        edges: [Edges { first: None, by: None }; BLOCKS_MAXIMUM],
        offers: [None; INSTANCES_MAXIMUM],
        borne: [0; INSTANCES_MAXIMUM],
        made: 0,
    };

    /// A grant.
    pub fn get(&self, grant: Grant) -> &Node {
        &self.nodes[grant.place()]
    }

    /// The word that names it to granter and receiver.
    pub fn word(&self, grant: Grant) -> u64 {
        grant.place() as u64 | self.get(grant).number << PLACE_BITS
    }

    /// The grant that a word names.
    pub fn find(&self, word: u64) -> Result<Grant, Error> {
        let place = (word & ((1 << PLACE_BITS) - 1)) as usize;
        let number = word >> PLACE_BITS;
        let is_it = |node: &&Node| number != 0 && node.number == number;
        self.nodes.get(place).filter(is_it).and_then(|_| Grant::at(place)).ok_or(Error::NotFound)
    }

    /// The first of those that were made of a block.
    pub fn first_of(&self, block: usize) -> Option<Grant> {
        self.edges[block].first
    }

    /// The one by which a block is held.
    pub fn by(&self, block: usize) -> Option<Grant> {
        self.edges[block].by
    }

    /// Whether the end of a block is the end of grants.
    pub fn concern(&self, block: usize) -> bool {
        let Edges { first, by } = self.edges[block];
        first.is_some() || by.is_some()
    }

    /// The first that is offered to an instance.
    pub fn offered_to(&self, receiver: InstanceId) -> Option<Grant> {
        self.offers[receiver.index()]
    }

    /// The first grant at `place` or behind it.
    pub fn from_place(&self, place: usize) -> Option<Grant> {
        let used = self.nodes.get(place..self.end)?;
        Grant::at(place + used.iter().position(|node| node.number != 0)?)
    }

    /// Who bears a grant of a client's block, if it can be made. `part` is how many the client may bear.
    fn bearer(
        &self,
        (client, block): (InstanceId, usize),
        passes: u16,
        part: usize,
    ) -> Result<InstanceId, Error> {
        let wanted = usize::from(passes) + 1;
        match self.by(block).map(|grant| self.get(grant)) {
            None if usize::from(self.borne[client.index()]) + wanted <= part => Ok(client),
            Some(Node { rights, bearer, .. }) if usize::from(rights.passes) >= wanted => {
                Ok(*bearer)
            }
            // It may not be passed on.
            Some(Node { rights: Rights { passes: 0, .. }, .. }) => Err(Error::NotAllowed),
            _ => Err(Error::Exhausted),
        }
    }

    /// Whether a grant of a client's block can be made.
    pub fn check(&self, of: (InstanceId, usize), passes: u16, part: usize) -> Result<(), Error> {
        self.bearer(of, passes, part).map(drop)
    }

    /// Makes a grant of a client's block, as [`Grants::check`] allows.
    pub fn make(
        &mut self,
        (client, block): (InstanceId, usize),
        receiver: InstanceId,
        rights: Rights,
        part: usize,
    ) -> Result<Grant, Error> {
        let bearer = self.bearer((client, block), rights.passes, part)?;
        let grant = match self.free {
            Some(grant) => grant,
            None => {
                Grant::at(self.end).filter(|_| self.end < GRANTS_MAXIMUM).ok_or(Error::Exhausted)?
            }
        };
        match self.free {
            Some(_) => self.free = self.get(grant).next,
            None => self.end += 1,
        }
        match self.by(block) {
            Some(above) => self.nodes[above.place()].rights.passes -= rights.passes + 1,
            None => self.borne[client.index()] += rights.passes + 1,
        }
        self.made += 1;
        let next = self.edges[block].first.replace(grant);
        let next_offer = self.offers[receiver.index()].replace(grant);
        let (number, from) = (self.made, block as u16);
        self.nodes[grant.place()] =
            Node { number, rights, bearer, receiver, from, next, next_offer, ..Node::UNUSED };
        if let Some(next) = next {
            self.nodes[next.place()].previous = Some(grant);
        }
        if let Some(next) = next_offer {
            self.nodes[next.place()].previous_offer = Some(grant);
        }
        Ok(grant)
    }

    /// Its receiver has it from now on, as this block.
    pub fn accept(&mut self, grant: Grant, block: usize) {
        self.withdraw(grant);
        self.nodes[grant.place()].to = block as u16 + 1;
        self.edges[block].by = Some(grant);
    }

    /// Takes an offered one off its receiver's list.
    fn withdraw(&mut self, grant: Grant) {
        let Node { receiver, next_offer, previous_offer, .. } = *self.get(grant);
        match previous_offer {
            Some(previous) => self.nodes[previous.place()].next_offer = next_offer,
            None => self.offers[receiver.index()] = next_offer,
        }
        if let Some(next) = next_offer {
            self.nodes[next.place()].previous_offer = previous_offer;
        }
    }

    /// Forgets a grant. Of its receiver's block there is none any more. What it took goes back to the grant above it, or to its bearer.
    pub fn remove(&mut self, grant: Grant) {
        let Node { rights, bearer, from, next, previous, .. } = *self.get(grant);
        match self.get(grant).to() {
            Some(block) => self.edges[block].by = None,
            None => self.withdraw(grant),
        }
        match previous {
            Some(previous) => self.nodes[previous.place()].next = next,
            None => self.edges[usize::from(from)].first = next,
        }
        if let Some(next) = next {
            self.nodes[next.place()].previous = previous;
        }
        match self.by(from.into()) {
            Some(above) => self.nodes[above.place()].rights.passes += rights.passes + 1,
            None => self.borne[bearer.index()] -= rights.passes + 1,
        }
        self.nodes[grant.place()] = Node { next: self.free, ..Node::UNUSED };
        self.free = Some(grant);
    }

    /// Grants that an instance bears.
    #[cfg(test)]
    pub fn borne(&self, client: InstanceId) -> usize {
        self.borne[client.index()].into()
    }
}
