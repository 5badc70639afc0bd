//! Where a component reads the run clock: instructions that read the time, and that the layout makes reads of the hart's cycles on
//! boards that say so.

use crate::Component;
use crate::segment::{Rights, Segment};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use cairn_abi::arch::counter::by_cycles;
use object::{Object, ObjectSection};

/// The addresses in the section `.cairn.run_clock`, as linked.
pub(crate) fn reads(
    elf: &object::File,
    file: &[u8],
    segments: &[Segment],
) -> Result<Vec<u64>, String> {
    let Some(section) = elf.section_by_name(".cairn.run_clock") else { return Ok(Vec::new()) };
    let bytes = section.data().map_err(|error| format!("`.cairn.run_clock`: {error}"))?;
    let (words, _) = bytes.as_chunks();
    // Of functions that were not linked, zeros are left.
    let reads = words.iter().map(|word| u64::from_le_bytes(*word)).filter(|read| *read != 0);
    let reads: Vec<u64> = reads.collect();
    for read in &reads {
        let found = segments.iter().find(|segment| segment.range().contains(read));
        let instruction = found.filter(|segment| segment.rights == Rights::Code).and_then(|code| {
            let at = (read - code.offset).checked_sub(code.content_at)? as usize;
            Some(u32::from_le_bytes(*file.get(code.content.clone())?.get(at..)?.first_chunk()?))
        });
        if instruction.and_then(by_cycles).is_none() {
            return Err(format!(
                "`.cairn.run_clock` names {read:#x}, where no instruction reads the time"
            ));
        }
    }
    Ok(reads)
}

impl<File: AsRef<[u8]>> Component<File> {
    /// Makes the run clock the hart's cycles, in `memory`, which [`Component::fill`] has made the segment's content.
    pub fn count_by_cycles(&self, segment: &Segment, memory: &mut [u8]) {
        for read in self.clock_reads.iter().filter(|read| segment.range().contains(read)) {
            let at = (read - segment.offset) as usize;
            if let Some(place) = memory.get_mut(at..).and_then(<[u8]>::first_chunk_mut)
                && let Some(instruction) = by_cycles(u32::from_le_bytes(*place))
            {
                *place = instruction.to_le_bytes();
            }
        }
    }
}
