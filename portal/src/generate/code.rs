//! The buffer that stencils are put into, with the numbers and labels that fill their holes.

use super::{Crossing, Generated};
use crate::literal::LITERALS_SIZE;
use crate::parameter::Fragment;
use crate::stencil::{self, Fill, Form, Label, Stencil, Value};
use core::slice::SliceIndex;

/// Why nothing was generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GenerateError {
    /// The buffer is too small.
    NoSpace,
    /// A number does not fit its instruction: a table's index or a domain's number is too large.
    DoesNotFit,
}

/// Words of the shortest cache line of a core.
const LINE: usize = 4;

/// Most branches to labels: one for each entry of `stencil_process_map_several`, and what stands before them.
const PENDING: usize = 20;

/// A buffer that is being filled; `address` is where its first word will be executed.
pub(super) struct Code<'a> {
    words: &'a mut [u32],
    /// Words that are filled.
    pub at: usize,
    pub address: u64,
    // Small, since the buffer is on a stack of the kernel domain.
    labels: [Option<u32>; Label::COUNT],
    values: [i64; Value::COUNT],
    pending: [(u32, Label, Form); PENDING],
    pending_count: usize,
}

impl<'a> Code<'a> {
    pub fn new(words: &'a mut [u32], address: u64) -> Code<'a> {
        Code {
            words,
            at: 0,
            address,
            labels: [None; Label::COUNT],
            values: [0; Value::COUNT],
            pending: [(0, Label::Overflow, Form::Jump); PENDING],
            pending_count: 0,
        }
    }

    pub fn value(&mut self, value: Value, number: i64) {
        self.values[value as usize] = number;
    }

    pub fn label(&mut self, label: Label) {
        self.labels[label as usize] = Some(self.at as u32);
    }

    /// Zeros up to the next multiple of 16 bytes.
    pub fn align(&mut self) -> Result<(), GenerateError> {
        self.zeros(self.at.next_multiple_of(4) - self.at)
    }

    pub fn zeros(&mut self, count: usize) -> Result<(), GenerateError> {
        let end = self.at + count;
        self.words.get_mut(self.at..end).ok_or(GenerateError::NoSpace)?.fill(0);
        self.at = end;
        Ok(())
    }

    /// Leaves room for literals and returns where the code begins.
    pub fn literals(&mut self) -> Result<usize, GenerateError> {
        self.align()?;
        self.zeros(LITERALS_SIZE as usize / 4)?;
        Ok(self.at)
    }

    /// Puts literals before the code at `code`; the last one lies directly before it.
    pub fn literals_at(&mut self, code: usize, literals: &[u64]) {
        for (literal, word) in (1..).zip(literals.iter().rev()) {
            self.literal(code, -8 * literal, *word);
        }
    }

    pub fn literal(&mut self, code: usize, literal: i64, word: u64) {
        let at = (code as i64 + literal / 4) as usize;
        self.words[at] = word as u32;
        self.words[at + 1] = (word >> 32) as u32;
    }

    pub fn emit(&mut self, stencil: &Stencil) -> Result<(), GenerateError> {
        let end = self.at + stencil.code.len();
        self.words
            .get_mut(self.at..end)
            .ok_or(GenerateError::NoSpace)?
            .copy_from_slice(stencil.code);
        for hole in stencil.holes {
            let at = self.at + hole.at;
            match hole.fill {
                Fill::Value(value) => {
                    let number = self.values[value as usize] + hole.addend;
                    self.words[at] =
                        hole.form.fill(self.words[at], number).ok_or(GenerateError::DoesNotFit)?;
                }
                Fill::Label(label) => {
                    *self.pending.get_mut(self.pending_count).ok_or(GenerateError::NoSpace)? =
                        (at as u32, label, hole.form);
                    self.pending_count += 1;
                }
            }
        }
        self.at = end;
        Ok(())
    }

    /// Some instructions of a stencil without holes.
    pub fn emit_part(
        &mut self,
        stencil: &Stencil,
        part: impl SliceIndex<[u32], Output = [u32]>,
    ) -> Result<(), GenerateError> {
        self.straight(&stencil.code[part])
    }

    /// The end, which begins with `before` words before its `sret`: not in the last word of a line of 16 bytes,
    /// because the jump behind it (see the stencils) has to be in the same line.
    pub fn leave(&mut self, before: usize, end: &Stencil) -> Result<(), GenerateError> {
        if (self.at + before) % LINE == LINE - 1 {
            self.emit(&stencil::NO_OPERATION)?;
        }
        self.emit(end)
    }

    /// The same behind the last two registers that are cleared, which take one word or two.
    pub fn scrub_and_leave(&mut self) -> Result<(), GenerateError> {
        let long = &stencil::SCRUB_LAST;
        let fits = (self.at + long.code.len()) % LINE != LINE - 1;
        self.emit(if fits { long } else { &stencil::SCRUB_LAST_SHORT })?;
        self.emit(&stencil::LEAVE)
    }

    /// A registered type's fragment.
    pub fn checked(&mut self, fragment: &Fragment) -> Result<(), GenerateError> {
        self.straight(fragment.code())
    }

    fn straight(&mut self, code: &[u32]) -> Result<(), GenerateError> {
        let end = self.at + code.len();
        self.words.get_mut(self.at..end).ok_or(GenerateError::NoSpace)?.copy_from_slice(code);
        self.at = end;
        Ok(())
    }

    /// Fills the distances to labels, which are those of one portal: a new portal starts without.
    pub fn resolve(&mut self) -> Result<(), GenerateError> {
        for (at, label, form) in &self.pending[..self.pending_count] {
            let target = self.labels[*label as usize].ok_or(GenerateError::DoesNotFit)?;
            let distance = (i64::from(target) - i64::from(*at)) * 4;
            let word = &mut self.words[*at as usize];
            *word = form.fill(*word, distance).ok_or(GenerateError::DoesNotFit)?;
        }
        self.pending_count = 0;
        self.labels = [None; Label::COUNT];
        Ok(())
    }

    pub fn finish(mut self, call: usize, back: usize) -> Result<Generated, GenerateError> {
        self.align()?;
        let address = |word: usize| if word == 0 { 0 } else { self.address + word as u64 * 4 };
        let (call, back) = (address(call), address(back));
        Ok(Generated { call, back, size: self.at * 4, fence: 0 })
    }
}

/// Enters a domain; where ASIDs do not tell domains apart, all domains' translations go. Returns the place of the
/// fence, or zero.
pub(super) fn enter(
    code: &mut Code,
    crossing: &Crossing,
    first: &Stencil,
) -> Result<usize, GenerateError> {
    code.emit(first)?;
    if crossing.asids {
        return Ok(0);
    }
    code.emit(&stencil::FENCE_DOMAINS)?;
    Ok(code.at - 1)
}
