//! The routine with which a component copies to and from what its callers pass. Where it lies, a fault in it is known as one of
//! what a caller passed.

use crate::relink::put;
use crate::{Component, Segment, notes};
use alloc::format;
use alloc::string::String;
use cairn_abi::arch::call::{jump, link};
use core::ops::Range;

const SECTION: &str = ".cairn.copy";

/// The copy routine, as linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copying {
    /// Its instructions that read and write, and those between. The first has four bytes; behind the last is the way in of
    /// components in the kernel domain.
    pub code: Range<u64>,
    /// Where it goes on when it cannot reach its memory.
    pub landing: u64,
}

impl<File: AsRef<[u8]>> Component<File> {
    /// Makes the copy routine one of the kernel domain in `memory`, which [`Component::fill`] has made the segment's content.
    pub fn copy_in_place(&self, segment: &Segment, memory: &mut [u8]) -> Result<(), String> {
        self.begin_copy(segment, memory, |code| {
            let jump = jump(code.end - code.start).ok_or("the copy routine is too long")?;
            Ok([jump])
        })
    }

    /// Makes it a jump to another's, whose address is in the word at this address: of the instances of one domain there, the
    /// nucleus knows the routine of one. `image` as for [`Component::fill`].
    pub fn copy_elsewhere(
        &self,
        segment: &Segment,
        image: u64,
        memory: &mut [u8],
        word: u64,
    ) -> Result<(), String> {
        self.begin_copy(segment, memory, |code| {
            let from = image.wrapping_add(code.start);
            link(word.wrapping_sub(from) as i64).ok_or("the word is out of reach".into())
        })
    }

    /// Writes instructions where the routine begins, if that is in this segment.
    fn begin_copy<const COUNT: usize>(
        &self,
        segment: &Segment,
        memory: &mut [u8],
        instructions: impl FnOnce(&Range<u64>) -> Result<[u32; COUNT], String>,
    ) -> Result<(), String> {
        let code = self.copying.as_ref().map(|copying| &copying.code);
        let Some(code) = code.filter(|code| segment.range().contains(&code.start)) else {
            return Ok(());
        };
        let size = 4 * COUNT;
        if code.end - code.start < size as u64 {
            return Err("the copy routine is too short".into());
        }
        let at = (code.start - segment.offset) as usize;
        let place = memory.get_mut(at..at + size).ok_or("the memory is not the segment's")?;
        put(place, &instructions(code)?);
        Ok(())
    }
}

/// The copy routine that `elf`, which is `file`, notes: that of a library of Cairn's, once, or none.
pub(crate) fn noted(
    elf: &object::File,
    file: &[u8],
    segments: &[Segment],
) -> Result<Option<Copying>, String> {
    routine(&notes::addresses(elf, SECTION)?, |address| {
        notes::code(file, segments, address).is_some_and(|code| !code.is_empty())
    })
}

fn routine(addresses: &[u64], is_code: impl Fn(u64) -> bool) -> Result<Option<Copying>, String> {
    let &[start, end, landing] = addresses else {
        return match addresses.len() {
            0 => Ok(None),
            count => Err(format!("`{SECTION}` has {count} addresses, expected 3")),
        };
    };
    // The segment that has both ends has all between: segments do not overlap, and code is one of them.
    let is_good = start < end && end <= landing && addresses.iter().all(|at| is_code(*at));
    match is_good && addresses.iter().all(|at| at.is_multiple_of(2)) {
        true => Ok(Some(Copying { code: start..end, landing })),
        false => Err(format!(
            "`{SECTION}` names {start:#x}, {end:#x} and {landing:#x}, expected addresses of code, in order"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_names_code_in_order() {
        let routine = |addresses: &[u64]| routine(addresses, |at| (0x100..0x200).contains(&at));
        assert_eq!(routine(&[]), Ok(None));
        let good = Copying { code: 0x100..0x180, landing: 0x182 };
        assert_eq!(routine(&[0x100, 0x180, 0x182]), Ok(Some(good)));
        for wrong in [
            [0x180, 0x100, 0x182],
            [0x100, 0x182, 0x180],
            [0x100, 0x100, 0x182],
            [0x101, 0x180, 0x182],
            [0x100, 0x180, 0x183],
            [0xfe, 0x180, 0x182],
            [0x100, 0x180, 0x200],
            [0x100, 0x180, u64::MAX - 1],
        ] {
            assert!(routine(&wrong).unwrap_err().contains("in order"), "{wrong:x?}");
        }
        for count in [1, 2, 4, 6] {
            assert!(routine(&[0x100; 6][..count]).unwrap_err().contains("expected 3"));
        }
    }
}
