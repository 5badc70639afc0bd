//! What there is to know of a section made at run time, in one word, so that one exchange decides whose it is.

use crate::sections::PAGES_MAXIMUM;
use cairn_abi::InstanceId;
use cairn_abi::identifier::INSTANCES_MAXIMUM;

/// Bits of a section's owner, and of how many map it; above them are its pages, and from bit 32 its index and life.
const INSTANCE_BITS: u32 = 11;
const INSTANCE_MASK: u64 = (1 << INSTANCE_BITS) - 1;
/// One more instance maps the section.
pub(crate) const MAPPER: u64 = 1 << INSTANCE_BITS;
const PAGES_SHIFT: u32 = 2 * INSTANCE_BITS;
const _: () = assert!(INSTANCES_MAXIMUM <= 1 << INSTANCE_BITS);
const _: () = assert!(PAGES_MAXIMUM < 1 << (32 - PAGES_SHIFT));

/// Where a section's pages come from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// They were made for it.
    Made,
    /// Its owner has them in its region as well ([`crate::windows`]).
    Lent,
    /// Its owner had them, and who takes them has them then. Nobody maps it.
    Torn,
}

/// The kind is in the uppermost bits, above the life.
const KIND_SHIFT: u32 = 62;
const LIFE_BITS: u32 = KIND_SHIFT - 48;

/// A section in a word; zero: there is none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word(pub(crate) u64);

impl Word {
    /// A section that its owner maps. `life` tells it from an earlier one of the same shape.
    pub(crate) fn new(kind: Kind, owner: InstanceId, pages: u64, index: u64, life: u16) -> Word {
        let life = u64::from(life) & ((1 << LIFE_BITS) - 1);
        let shape = pages << PAGES_SHIFT | index << 32 | life << 48 | (kind as u64) << KIND_SHIFT;
        Word(u64::from(owner) | MAPPER | shape)
    }

    pub(crate) fn kind(self) -> Kind {
        match self.0 >> KIND_SHIFT {
            1 => Kind::Lent,
            2 => Kind::Torn,
            _ => Kind::Made,
        }
    }

    pub(crate) fn owner(self) -> InstanceId {
        InstanceId((self.0 & INSTANCE_MASK) as u16)
    }

    pub(crate) fn mappers(self) -> u64 {
        self.0 >> INSTANCE_BITS & INSTANCE_MASK
    }

    pub(crate) fn pages(self) -> u64 {
        (self.0 & u64::from(u32::MAX)) >> PAGES_SHIFT
    }

    /// Number of the page that lists the others.
    pub(crate) fn index(self) -> u64 {
        self.0 >> 32 & 0xffff
    }

    /// The same section, however many map it.
    pub(crate) fn is(self, other: Word) -> bool {
        let but_mappers = |word: Word| word.0 & !(INSTANCE_MASK * MAPPER);
        but_mappers(self) == but_mappers(other)
    }
}
