//! What a component's file notes of its machine code: sections of addresses, which are not loaded.

use crate::segment::{Rights, Segment};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use object::{Object, ObjectSection};

/// The addresses in a section, as linked. The linker leaves 0 for what was not linked.
pub(crate) fn addresses(elf: &object::File, section: &str) -> Result<Vec<u64>, String> {
    let Some(found) = elf.section_by_name(section) else { return Ok(Vec::new()) };
    let bytes = found.data().map_err(|error| format!("`{section}`: {error}"))?;
    let (words, _) = bytes.as_chunks();
    let addresses = words.iter().map(|word| u64::from_le_bytes(*word));
    Ok(addresses.filter(|address| *address != 0).collect())
}

/// Machine code from an address on.
pub(crate) fn code<'file>(
    file: &'file [u8],
    segments: &[Segment],
    address: u64,
) -> Option<&'file [u8]> {
    let found = segments.iter().find(|segment| segment.range().contains(&address));
    let segment = found.filter(|segment| segment.rights == Rights::Code)?;
    let at = (address - segment.offset).checked_sub(segment.content_at)? as usize;
    file.get(segment.content.clone())?.get(at..)
}
