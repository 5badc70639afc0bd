//! Where a component reads the run clock: instructions that read the time, and that the layout makes reads of the hart's cycles on
//! boards that say so.

use crate::segment::Segment;
use crate::{Component, notes};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use cairn_abi::arch::counter::by_cycles;

/// The addresses in the section `.cairn.run_clock`, as linked.
pub(crate) fn reads(
    elf: &object::File,
    file: &[u8],
    segments: &[Segment],
) -> Result<Vec<u64>, String> {
    let reads = notes::addresses(elf, ".cairn.run_clock")?;
    for read in &reads {
        let word = notes::code(file, segments, *read).and_then(<[u8]>::first_chunk);
        if word.and_then(|word| by_cycles(u32::from_le_bytes(*word))).is_none() {
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
