//! What pagers have in common. Which page of which range is where is decided by code that touches no page, so that it is tested on
//! the host.
#![cfg_attr(target_os = "none", no_std)]
#![forbid(unsafe_code)]

pub mod answers;
pub mod cache;
pub mod handover;
pub mod pool;
pub mod ranges;
pub mod stored;

use cairn::Error;
use cairn::abi::address::PAGE_SIZE;
use cairn::abi::record::NO_SECTION;
use cairn::environment::startup;
use cairn::section::Section;
use cairn_interfaces::{MemoryProxy, MemoryStatisticsProxy, PagingProxy, ServedRange};

/// All pages that the quota has left, but at most so many: nobody else gets them.
pub fn memory(
    memory: &MemoryProxy,
    statistics: &MemoryStatisticsProxy,
    most: u64,
) -> Result<Section, Error> {
    let (used, quota) = statistics.usage_of(startup().instance)?;
    let pages = quota.saturating_sub(used).min(most);
    Section::of_pages(memory.allocate(pages)?, pages).ok_or(Error::Malformed)
}

/// The ranges of the description that this instance serves. Those of who is loaded come and go.
pub fn ranges(paging: PagingProxy) -> impl Iterator<Item = ServedRange> {
    let ranges = (0..).map_while(move |at| paging.range(at).ok());
    ranges.filter(|range| range.section != NO_SECTION.into())
}

/// The same, in a row; `TooLarge`, which the log says, if it does not hold them.
pub fn ranges_in<const RANGES: usize>(
    paging: PagingProxy,
) -> Result<[Option<ServedRange>; RANGES], Error> {
    let mut row = [None; RANGES];
    for (at, range) in ranges(paging).enumerate() {
        let Some(place) = row.get_mut(at) else {
            cairn::log::error!("more than {RANGES} ranges have this pager");
            return Err(Error::TooLarge);
        };
        *place = Some(range);
    }
    Ok(row)
}

/// Bytes of a page.
pub const PAGE: usize = PAGE_SIZE as usize;
