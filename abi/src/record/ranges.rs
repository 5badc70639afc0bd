//! Ranges of addresses that have a pager.

use super::{Header, Range};
use crate::identifier::{INSTANCES_MAXIMUM, InstanceId};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Ranges of a system that have a pager: those of the description, and one of each number that is loadable.
pub const RANGES_MAXIMUM: usize = RANGES_DESCRIBED + INSTANCES_MAXIMUM;
/// Those of the description.
pub const RANGES_DESCRIBED: usize = 128;
/// In place of a section: the range is one client's alone.
pub const NO_SECTION: u16 = u16::MAX;

impl Header {
    /// Where in the table of ranges the place of a loadable number is, behind those of the description.
    pub const fn loadable_range(&self, number: InstanceId) -> Option<usize> {
        let Range { start, end } = self.loadable;
        let number = number.0 as u64;
        if start <= number && number < end {
            Some(self.ranges_described() + (number - start) as usize)
        } else {
            None
        }
    }

    /// Ranges of the description.
    pub const fn ranges_described(&self) -> usize {
        (self.ranges.count as usize)
            .saturating_sub((self.loadable.end - self.loadable.start) as usize)
    }
}

/// Addresses in one domain whose pages a pager provides: a section, or a range of one that is loaded.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct PagedRange {
    /// The domain's first instance that maps it; 0: there is no such range.
    pub client: InstanceId,
    /// The pager; 0: there is none any more.
    pub pager: InstanceId,
    /// The section's place in the description: the same for all that map it; or [`NO_SECTION`].
    pub section: u16,
    /// 1 if writable.
    pub writable: u16,
    /// First address.
    pub address: u64,
    /// Bytes, whole pages.
    pub size: u64,
    /// Kernel address of the page-table entry of its first page in that domain; those of the next pages follow.
    pub entries: u64,
}
