//! Where numbers lie in instructions.

/// How a hole's number lies in its instruction (RISC-V unprivileged manual, section 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// I-type immediate, 12 bits.
    LoadOrAdd,
    /// S-type immediate, 12 bits.
    Store,
    /// B-type offset, 13 bits, relative to the instruction.
    Branch,
    /// J-type offset, 21 bits, relative to the instruction.
    Jump,
}

impl Form {
    /// `instruction` with `number` in its immediate; `None` if the number does not fit.
    pub fn fill(self, instruction: u32, number: i64) -> Option<u32> {
        let bits = match self {
            Form::LoadOrAdd | Form::Store => 12,
            Form::Branch => 13,
            Form::Jump => 21,
        };
        if number < -(1 << (bits - 1)) || number >= 1 << (bits - 1) {
            return None;
        }
        // What is there is overwritten: the assembler leaves the addend in the immediate.
        Some(instruction & !self.immediate(u32::MAX) | self.immediate(number as u32))
    }

    /// Where the bits of `n` lie in the instruction.
    fn immediate(self, n: u32) -> u32 {
        match self {
            Form::LoadOrAdd => n << 20,
            Form::Store => (n >> 5 & 0x7f) << 25 | (n & 0x1f) << 7,
            Form::Branch => {
                (n >> 12 & 1) << 31
                    | (n >> 5 & 0x3f) << 25
                    | (n >> 1 & 0xf) << 8
                    | (n >> 11 & 1) << 7
            }
            Form::Jump => {
                (n >> 20 & 1) << 31
                    | (n >> 1 & 0x3ff) << 21
                    | (n >> 11 & 1) << 20
                    | (n >> 12 & 0xff) << 12
            }
        }
    }
}
