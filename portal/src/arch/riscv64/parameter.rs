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
//!
//! A type can have *private data* of the server that registered it, words in the kernel's half that only this server changes. Then a fragment may read them: it
//! finds their address in `t6`, and loads from there, or from as far behind as it can be seen to lead: an index is bounded by
//! `andi` or `srli` before it is added. The address itself goes nowhere but into loads.

mod value;

use cairn_isa::riscv64::decode::{Instruction, Register, decode};
use cairn_isa::riscv64::register::{T2, T3, T4, T5, T6};
use core::fmt;
use value::{Value, Values};

/// Most instructions of a fragment.
pub const FRAGMENT_MAXIMUM: usize = 16;
/// As many of them put the address of private data into `t6`, of a fragment that reads them.
pub const PREPARATION: usize = 4;

/// Private data of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Where portals find them: in the kernel's half, at a multiple of 8.
    pub address: u64,
    /// How many words.
    pub words: u64,
}

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
    /// It leads behind the private data, or may, or not to a whole word; or passes on where they are.
    Bounds,
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
            Why::Length => {
                return write!(formatter, "expected at most 16 instructions, 12 if they read data");
            }
            Why::Jump => "a branch or jump; a fragment runs straight through",
            Why::System => "a system instruction; a fragment only computes",
            Why::Memory => "a load or store of other than the type's own data",
            Why::Instruction => "not a 32-bit arithmetic instruction of RV64I",
            Why::Written => "writes another register than t2 to t6",
            Why::Unset => "reads a register that holds nothing of the parameter",
            Why::Bounds => {
                "uses the address of the data for more than a load of a whole word inside"
            }
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

    /// Checks a fragment that finds something in these registers, and leaves words in those of `left`.
    fn new(
        code: &[u32],
        given: &[Register],
        left: &[Register],
        data: Option<Data>,
    ) -> Result<Fragment, ParameterError> {
        let is_load = |one: &u32| matches!(decode(*one), Some(Instruction::Load { .. }));
        let data = data.filter(|_| code.iter().any(is_load));
        let mut fragment = Fragment::EMPTY;
        let preparation = data.map(|data| prepare(data.address));
        let parts = [preparation.as_ref().map_or(&[][..], |code| code), code];
        for part in parts {
            let end = fragment.length + part.len();
            let room = fragment.code.get_mut(fragment.length..end);
            room.ok_or(ParameterError { why: Why::Length, at: FRAGMENT_MAXIMUM })?
                .copy_from_slice(part);
            fragment.length = end;
        }
        let mut values = Values::new();
        given.iter().for_each(|register| values.set(*register, Value::Anything));
        if data.is_some() {
            values.set(T6, Value::DATA);
        }
        let bytes = data.map_or(0, |data| data.words * 8);
        for (at, instruction) in code.iter().enumerate() {
            let wrong = |why| ParameterError { why, at };
            let (to, value) = check(*instruction, &values, bytes).map_err(wrong)?;
            values.set(to, value);
        }
        let end = |why| ParameterError { why, at: code.len().saturating_sub(1) };
        left.iter().try_for_each(|register| values.word(*register).map(drop)).map_err(end)?;
        Ok(fragment)
    }

    /// Its instructions.
    pub fn code(&self) -> &[u32] {
        &self.code[..self.length]
    }
}

/// Puts an address of the kernel's half into `t6`, always in as many instructions: `lui`, `addiw`, `slli`, `addi`.
fn prepare(address: u64) -> [u32; PREPARATION] {
    const LOW: u32 = 0xfff;
    let to = u32::from(T6);
    let with = |low: u32, function: u32, opcode: u32| {
        (low & LOW) << 20 | to << 15 | function << 12 | to << 7 | opcode
    };
    let low = address as u32 & LOW;
    // What the lower parts add is signed, and the upper ones make up for it.
    let upper = (address.wrapping_add(0x800) as i64 >> 12) as u32;
    let highest = upper.wrapping_add(0x800) >> 12;
    [highest << 12 | to << 7 | 0x37, with(upper, 0, 0x1b), with(12, 1, 0x13), with(low, 0, 0x13)]
}

/// Checks one instruction, when registers hold these values; the register that it writes, and what that holds then.
fn check(instruction: u32, values: &Values, bytes: u64) -> Result<(Register, Value), Why> {
    use Instruction::*;
    let decoded = decode(instruction).ok_or(Why::Instruction)?;
    let to = match decoded {
        LoadUpperImmediate { to, .. } | ComputeImmediate { to, .. } => to,
        Compute { operation, to, .. } if !operation.multiplies_or_divides() => to,
        Load { to, .. } if bytes > 0 => to,
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
    let value = match decoded {
        ComputeImmediate { .. } => values.with_constant(&decoded)?,
        Compute { .. } => values.with_register(&decoded)?,
        Load { size, base, offset, .. } => {
            values.reads(size, base, offset, bytes)?;
            Value::Anything
        }
        _ => Value::Anything,
    };
    Ok((to, value))
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
    /// Checks a type without data.
    pub fn new(
        letter: u8,
        words: u64,
        call: &[u32],
        back: &[u32],
    ) -> Result<Parameter, ParameterError> {
        Parameter::with_data(letter, words, (call, back), None)
    }

    /// Checks a type, whose fragments may read these data.
    pub fn with_data(
        letter: u8,
        words: u64,
        (call, back): (&[u32], &[u32]),
        data: Option<Data>,
    ) -> Result<Parameter, ParameterError> {
        if !letter.is_ascii_uppercase() {
            return Err(ParameterError { why: Why::Letter, at: 0 });
        }
        let (words, given) = match words {
            1 => (1, &[T2][..]),
            2 => (2, &[T2, T3][..]),
            _ => return Err(ParameterError { why: Why::Words, at: 0 }),
        };
        let behind = |error: ParameterError| ParameterError { at: error.at + call.len(), ..error };
        Ok(Parameter {
            letter,
            words,
            call: Fragment::new(call, given, given, data)?,
            back: Fragment::new(back, &[T2], &[T2], data).map_err(behind)?,
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
