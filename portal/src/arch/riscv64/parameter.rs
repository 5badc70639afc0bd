//! Parameter types that are registered beside the built-in letters: a letter `A` to `Z`, with a fragment
//! of machine code that the portal executes on the parameter.
//!
//! A fragment computes: on the way in, from the words that the client passes (`t2`, and `t3` of a type
//! of two words) the words that the server finds; on the way back, from the server's value (`t2`) the
//! value that the client gets. `t4` to `t6` are free. It is checked to be straight-line arithmetic on
//! these registers: no memory, no jump, nothing that can trap, and nothing read that was not passed to it
//! or written by it before. So it adds a bounded time to a portal and can spoil nothing but its own
//! parameter. The generator moves the argument registers to `t2` and `t3` and back, so one fragment
//! serves every position.

use cairn_isa::riscv64::decode::{Instruction, Register, decode};
use cairn_isa::riscv64::register::{T2, T3, T4, T5, T6, ZERO};
use core::fmt;

/// Most instructions of a fragment.
pub const FRAGMENT_MAXIMUM: usize = 16;

/// Why an instruction, or a type, is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The letter is not `A` to `Z`.
    Letter,
    /// The letter is another type's.
    Taken,
    /// A type has one or two words.
    Words,
    /// More instructions than fit.
    Length,
    /// A branch or a jump.
    Jump,
    /// A system instruction or a fence.
    System,
    /// A load, a store or an atomic operation.
    Memory,
    /// No instruction of 32 bits that a fragment may have.
    Instruction,
    /// It writes another register than `t2` to `t6`.
    Written,
    /// It reads a register that nothing was put into.
    Unset,
}

/// A refused fragment or type: why, and at which instruction (the back fragment's follow those of the
/// call fragment).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterError {
    /// Why.
    pub why: Why,
    /// Instruction, from 0.
    pub at: usize,
}

impl fmt::Display for ParameterError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.why {
            Why::Letter => return write!(formatter, "expected a letter from A to Z"),
            Why::Taken => return write!(formatter, "the letter has another meaning already"),
            Why::Words => return write!(formatter, "expected a parameter of one or two words"),
            Why::Length => return write!(formatter, "expected at most 16 instructions"),
            Why::Jump => "a branch or jump; a fragment runs straight through",
            Why::System => "a system instruction; a fragment only computes",
            Why::Memory => "a load or store; a fragment only computes",
            Why::Instruction => "not a 32-bit arithmetic instruction of RV64I",
            Why::Written => "writes another register than t2 to t6",
            Why::Unset => "reads a register that holds nothing of the parameter",
        };
        write!(formatter, "instruction {}: {text}", self.at + 1)
    }
}

/// A checked fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    code: [u32; FRAGMENT_MAXIMUM],
    length: usize,
}

impl Fragment {
    const EMPTY: Fragment = Fragment { code: [0; FRAGMENT_MAXIMUM], length: 0 };

    /// Checks a fragment that finds something in the registers of `given` (a bit for each).
    fn new(code: &[u32], given: u32) -> Result<Fragment, ParameterError> {
        let mut fragment = Fragment { length: code.len(), ..Fragment::EMPTY };
        let room = fragment.code.get_mut(..code.len());
        room.ok_or(ParameterError { why: Why::Length, at: FRAGMENT_MAXIMUM })?
            .copy_from_slice(code);
        let mut set = given | 1;
        for (at, instruction) in code.iter().enumerate() {
            let written = check(*instruction, set).map_err(|why| ParameterError { why, at })?;
            set |= 1 << written;
        }
        Ok(fragment)
    }

    /// Its instructions.
    pub fn code(&self) -> &[u32] {
        &self.code[..self.length]
    }
}

/// Checks one instruction, when the registers of `set` hold something; the register that it writes.
fn check(instruction: u32, set: u32) -> Result<Register, Why> {
    use Instruction::*;
    let (to, reads) = match decode(instruction).ok_or(Why::Instruction)? {
        LoadUpperImmediate { to, .. } => (to, [ZERO; 2]),
        ComputeImmediate { to, left, .. } => (to, [left, ZERO]),
        Compute { operation, to, left, right, .. } if !operation.multiplies_or_divides() => {
            (to, [left, right])
        }
        // The first tells where the code is, the others take a time that depends on the core.
        AddUpperImmediate { .. } | Compute { .. } => return Err(Why::Instruction),
        Jump { .. } | JumpRegister { .. } | Branch { .. } => return Err(Why::Jump),
        Load { .. } | Store { .. } => return Err(Why::Memory),
        LoadReserved { .. } | StoreConditional { .. } | Atomic { .. } => return Err(Why::Memory),
        FloatLoad { .. } | FloatStore { .. } => return Err(Why::Memory),
        FloatFromBits { .. } | FloatToBits { .. } => return Err(Why::Instruction),
        Csr { .. } | Fence | FenceInstruction | FenceTranslation { .. } => return Err(Why::System),
        EnvironmentCall | Breakpoint | SupervisorReturn | WaitForInterrupt => {
            return Err(Why::System);
        }
    };
    if !matches!(to, T2 | T3 | T4 | T5 | T6) {
        return Err(Why::Written);
    }
    if reads.iter().any(|register| set >> register & 1 == 0) { Err(Why::Unset) } else { Ok(to) }
}

/// A registered parameter type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// `A` to `Z`.
    pub letter: u8,
    /// Argument registers.
    pub words: u8,
    /// On the way in.
    pub call: Fragment,
    /// On the way back; empty: the value stays what it is.
    pub back: Fragment,
}

impl Parameter {
    /// Checks a type.
    pub fn new(
        letter: u8,
        words: u64,
        call: &[u32],
        back: &[u32],
    ) -> Result<Parameter, ParameterError> {
        if !letter.is_ascii_uppercase() {
            return Err(ParameterError { why: Why::Letter, at: 0 });
        }
        let (words, given) = match words {
            1 => (1, 1 << T2),
            2 => (2, 1 << T2 | 1 << T3),
            _ => return Err(ParameterError { why: Why::Words, at: 0 }),
        };
        let behind = |error: ParameterError| ParameterError { at: error.at + call.len(), ..error };
        Ok(Parameter {
            letter,
            words,
            call: Fragment::new(call, given)?,
            back: Fragment::new(back, 1 << T2).map_err(behind)?,
        })
    }
}

/// The registered types, by letter. A type is never changed or taken back: portals of the same letters have
/// the same code.
#[derive(Clone, Debug)]
pub struct Parameters([Option<Parameter>; 26]);

impl Parameters {
    /// None.
    pub const NONE: Parameters = Parameters([None; 26]);

    fn place(letter: u8) -> Option<usize> {
        letter.is_ascii_uppercase().then(|| usize::from(letter - b'A'))
    }

    /// The type of a letter.
    pub fn get(&self, letter: u8) -> Option<&Parameter> {
        self.0[Self::place(letter)?].as_ref()
    }

    /// Takes a type in. The same once more changes nothing; another one of its letter is refused.
    pub fn register(&mut self, parameter: Parameter) -> Result<(), ParameterError> {
        let place =
            Self::place(parameter.letter).ok_or(ParameterError { why: Why::Letter, at: 0 })?;
        match &self.0[place] {
            Some(found) if *found != parameter => Err(ParameterError { why: Why::Taken, at: 0 }),
            _ => {
                self.0[place] = Some(parameter);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests;
