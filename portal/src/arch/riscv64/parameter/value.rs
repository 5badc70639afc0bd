//! What is known of a register in a fragment: whether it is a place in the type's private data, and how far in them.

use super::Why;
use cairn_isa::riscv64::decode::{Arithmetic, Instruction, Register};
use cairn_isa::riscv64::register::ZERO;

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Nothing of the parameter.
    Nothing,
    /// Any word.
    Anything,
    /// A word of at most `most`, and a multiple of two to the `step`.
    Number { most: u64, step: u32 },
    /// An address as far behind the beginning of the data.
    Place { most: u64, step: u32 },
}

use Value::{Anything, Nothing, Number, Place};

/// Multiples of all that there is.
const ZERO_STEP: u32 = 63;

impl Value {
    pub(super) const ZERO: Value = Number { most: 0, step: ZERO_STEP };
    /// The beginning of the data, which is at a multiple of 8.
    pub(super) const DATA: Value = Place { most: 0, step: 3 };

    fn of_constant(word: u64) -> Value {
        Number { most: word, step: word.trailing_zeros().min(ZERO_STEP) }
    }

    /// A sum. A place with what has no bound leads anywhere, and two places nowhere.
    fn plus(self, other: Value) -> Result<Value, Why> {
        Ok(match (self, other) {
            (Number { most, step }, Number { most: more, step: other }) => {
                let sum = most.checked_add(more);
                sum.map_or(Anything, |most| Number { most, step: step.min(other) })
            }
            (Place { most, step }, Number { most: more, step: other })
            | (Number { most, step }, Place { most: more, step: other }) => {
                let most = most.checked_add(more).ok_or(Why::Bounds)?;
                Place { most, step: step.min(other) }
            }
            (Place { .. }, _) | (_, Place { .. }) => return Err(Why::Bounds),
            _ => Anything,
        })
    }
}

/// What registers hold, by their numbers.
pub(super) struct Values([Value; 32]);

impl Values {
    pub(super) fn new() -> Values {
        let mut values = Values([Nothing; 32]);
        values.set(ZERO, Value::ZERO);
        values
    }

    pub(super) fn set(&mut self, register: Register, value: Value) {
        if let Some(place) = self.0.get_mut(usize::from(register)) {
            *place = value;
        }
    }

    /// What a register holds; [`Why::Unset`] if nothing.
    pub(super) fn get(&self, register: Register) -> Result<Value, Why> {
        match self.0.get(usize::from(register)) {
            None | Some(Nothing) => Err(Why::Unset),
            Some(value) => Ok(*value),
        }
    }

    /// The same of a word that is no place in the data: where these are is nobody's to know.
    pub(super) fn word(&self, register: Register) -> Result<Value, Why> {
        match self.get(register)? {
            Place { .. } => Err(Why::Bounds),
            word => Ok(word),
        }
    }

    /// What arithmetic of a register with a constant leaves.
    pub(super) fn with_constant(&self, instruction: &Instruction) -> Result<Value, Why> {
        let &Instruction::ComputeImmediate { operation, word, left, right, .. } = instruction
        else {
            return Err(Why::Instruction);
        };
        let value = self.get(left)?;
        // Sign-extended: what is negative has the highest bit.
        let is_positive = right >> 63 == 0;
        match (operation, word) {
            (Arithmetic::Add, false) if is_positive => value.plus(Value::of_constant(right)),
            _ => Ok(match (self.word(left)?, operation, word) {
                (_, Arithmetic::And, false) if is_positive => Value::of_constant(right),
                (Number { most, step }, Arithmetic::ShiftLeft, false) => {
                    let by = right as u32 % 64;
                    let most = (most << by >> by == most).then_some(most << by);
                    most.map_or(Anything, |most| Number { most, step: (step + by).min(ZERO_STEP) })
                }
                (_, Arithmetic::ShiftRight, false) => {
                    Number { most: u64::MAX >> (right as u32 % 64), step: 0 }
                }
                _ => Anything,
            }),
        }
    }

    /// What arithmetic of two registers leaves.
    pub(super) fn with_register(&self, instruction: &Instruction) -> Result<Value, Why> {
        let &Instruction::Compute { operation, word, left, right, .. } = instruction else {
            return Err(Why::Instruction);
        };
        if (operation, word) == (Arithmetic::Add, false) {
            return self.get(left)?.plus(self.get(right)?);
        }
        self.word(left)?;
        self.word(right)?;
        Ok(Anything)
    }

    /// Whether a load from a place reads whole words of so many bytes of data.
    pub(super) fn reads(
        &self,
        size: usize,
        base: Register,
        offset: u64,
        bytes: u64,
    ) -> Result<(), Why> {
        let Place { most, step } = self.get(base)? else { return Err(Why::Memory) };
        let size = size as u64;
        let end = most.checked_add(offset).and_then(|from| from.checked_add(size));
        let is_inside = offset >> 63 == 0 && end.is_some_and(|end| end <= bytes);
        let is_whole = offset.is_multiple_of(size) && (1 << step.min(3)) >= size;
        if is_inside && is_whole { Ok(()) } else { Err(Why::Bounds) }
    }
}
