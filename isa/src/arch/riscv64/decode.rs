//! From an instruction word to what it means. What no manual names is not an instruction, nor is what computes with
//! floating-point numbers: of those extensions there are loads, stores and moves.

/// A register number, 0 to 31.
pub type Register = u8;

/// Operations of the integer and multiplication instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the operations
pub enum Arithmetic {
    Add,
    Sub,
    ShiftLeft,
    SetLess,
    SetLessUnsigned,
    Xor,
    ShiftRight,
    ShiftRightSigned,
    Or,
    And,
    Mul,
    MulHigh,
    MulHighMixed,
    MulHighUnsigned,
    Div,
    DivUnsigned,
    Rem,
    RemUnsigned,
}

/// Operations of the atomic instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the operations
pub enum Atomic {
    Swap,
    Add,
    Xor,
    Or,
    And,
    Min,
    Max,
    MinUnsigned,
    MaxUnsigned,
}

/// Conditions of the branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the conditions
pub enum Condition {
    Equal,
    NotEqual,
    Less,
    GreaterOrEqual,
    LessUnsigned,
    GreaterOrEqualUnsigned,
}

/// How a CSR instruction changes the register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the operations
pub enum CsrChange {
    Write,
    Set,
    Clear,
}

/// Operand of a CSR instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub enum CsrOperand {
    Register(Register),
    Immediate(u8),
}

impl Arithmetic {
    /// Whether it belongs to the extension M: cores take very different times for these.
    pub const fn multiplies_or_divides(self) -> bool {
        use Arithmetic::*;
        matches!(
            self,
            Mul | MulHigh | MulHighMixed | MulHighUnsigned | Div | DivUnsigned | Rem | RemUnsigned
        )
    }
}

/// An instruction. `size` is in bytes, `word` selects the 32-bit form of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are the operands
pub enum Instruction {
    LoadUpperImmediate {
        to: Register,
        value: u64,
    },
    AddUpperImmediate {
        to: Register,
        value: u64,
    },
    Jump {
        to: Register,
        offset: u64,
    },
    JumpRegister {
        to: Register,
        base: Register,
        offset: u64,
    },
    Branch {
        condition: Condition,
        left: Register,
        right: Register,
        offset: u64,
    },
    Load {
        size: usize,
        signed: bool,
        to: Register,
        base: Register,
        offset: u64,
    },
    Store {
        size: usize,
        from: Register,
        base: Register,
        offset: u64,
    },
    ComputeImmediate {
        operation: Arithmetic,
        word: bool,
        to: Register,
        left: Register,
        right: u64,
    },
    Compute {
        operation: Arithmetic,
        word: bool,
        to: Register,
        left: Register,
        right: Register,
    },
    LoadReserved {
        size: usize,
        to: Register,
        base: Register,
    },
    StoreConditional {
        size: usize,
        to: Register,
        base: Register,
        from: Register,
    },
    Atomic {
        operation: Atomic,
        size: usize,
        to: Register,
        base: Register,
        from: Register,
    },
    Csr {
        change: CsrChange,
        number: u16,
        to: Register,
        operand: CsrOperand,
    },
    /// `to` is a floating-point register.
    FloatLoad {
        size: usize,
        to: Register,
        base: Register,
        offset: u64,
    },
    /// `from` is a floating-point register.
    FloatStore {
        size: usize,
        from: Register,
        base: Register,
        offset: u64,
    },
    /// The bits of an integer register, all 64 of them, in a floating-point register.
    FloatFromBits {
        to: Register,
        from: Register,
    },
    /// The bits of a floating-point register, all 64 of them, in an integer register.
    FloatToBits {
        to: Register,
        from: Register,
    },
    Fence,
    FenceInstruction,
    FenceTranslation {
        address: Register,
        space: Register,
    },
    EnvironmentCall,
    Breakpoint,
    SupervisorReturn,
    WaitForInterrupt,
}

/// The meaning of a 32-bit instruction word; none: illegal.
pub fn decode(word: u32) -> Option<Instruction> {
    let to = bits(word, 7, 5) as Register;
    let left = bits(word, 15, 5) as Register;
    let right = bits(word, 20, 5) as Register;
    let function = bits(word, 12, 3);
    let immediate = i64::from(word as i32 >> 20) as u64;
    Some(match word & 0x7f {
        0x37 => Instruction::LoadUpperImmediate { to, value: upper(word) },
        0x17 => Instruction::AddUpperImmediate { to, value: upper(word) },
        0x6f => Instruction::Jump { to, offset: jump_offset(word) },
        0x67 if function == 0 => Instruction::JumpRegister { to, base: left, offset: immediate },
        0x63 => {
            let condition = match function {
                0 => Condition::Equal,
                1 => Condition::NotEqual,
                4 => Condition::Less,
                5 => Condition::GreaterOrEqual,
                6 => Condition::LessUnsigned,
                7 => Condition::GreaterOrEqualUnsigned,
                _ => return None,
            };
            Instruction::Branch { condition, left, right, offset: branch_offset(word) }
        }
        // Function 7 would be an unsigned 8-byte load, which is none.
        0x03 if function != 7 => Instruction::Load {
            size: 1 << (function & 3),
            signed: function & 4 == 0,
            to,
            base: left,
            offset: immediate,
        },
        0x23 if function < 4 => Instruction::Store {
            size: 1 << function,
            from: right,
            base: left,
            offset: store_offset(word),
        },
        0x07 if function == 2 || function == 3 => {
            Instruction::FloatLoad { size: 1 << function, to, base: left, offset: immediate }
        }
        0x27 if function == 2 || function == 3 => Instruction::FloatStore {
            size: 1 << function,
            from: right,
            base: left,
            offset: store_offset(word),
        },
        // Of the computations only moves of bits: this is what privileged code has.
        0x53 if word >> 20 == 0xf20 && function == 0 => {
            Instruction::FloatFromBits { to, from: left }
        }
        0x53 if word >> 20 == 0xe20 && function == 0 => Instruction::FloatToBits { to, from: left },
        0x13 | 0x1b => {
            let wide = word & 0x7f == 0x13;
            let (operation, right) = compute_immediate(function, wide, immediate)?;
            Instruction::ComputeImmediate { operation, word: !wide, to, left, right }
        }
        0x33 | 0x3b => {
            let wide = word & 0x7f == 0x33;
            let operation = compute(word >> 25, function, wide)?;
            Instruction::Compute { operation, word: !wide, to, left, right }
        }
        0x2f if function == 2 || function == 3 => atomic(word, 1 << function)?,
        0x0f if function == 0 => Instruction::Fence,
        0x0f if function == 1 => Instruction::FenceInstruction,
        0x73 => system(word)?,
        _ => return None,
    })
}

fn compute_immediate(function: u32, wide: bool, immediate: u64) -> Option<(Arithmetic, u64)> {
    // A shift's distance has 6 bits, of a 32-bit form 5; the bits above tell the kind of shift.
    let distance_mask = if wide { 63 } else { 31 };
    let distance = immediate & distance_mask;
    let kind = (immediate & 0xfff) & !distance_mask;
    Some(match (function, kind) {
        (0, _) => (Arithmetic::Add, immediate),
        (1, 0) => (Arithmetic::ShiftLeft, distance),
        (5, 0) => (Arithmetic::ShiftRight, distance),
        (5, 0x400) => (Arithmetic::ShiftRightSigned, distance),
        (2, _) if wide => (Arithmetic::SetLess, immediate),
        (3, _) if wide => (Arithmetic::SetLessUnsigned, immediate),
        (4, _) if wide => (Arithmetic::Xor, immediate),
        (6, _) if wide => (Arithmetic::Or, immediate),
        (7, _) if wide => (Arithmetic::And, immediate),
        _ => return None,
    })
}

fn compute(group: u32, function: u32, wide: bool) -> Option<Arithmetic> {
    Some(match (group, function) {
        (0x00, 0) => Arithmetic::Add,
        (0x20, 0) => Arithmetic::Sub,
        (0x00, 1) => Arithmetic::ShiftLeft,
        (0x00, 5) => Arithmetic::ShiftRight,
        (0x20, 5) => Arithmetic::ShiftRightSigned,
        (0x01, 0) => Arithmetic::Mul,
        (0x01, 4) => Arithmetic::Div,
        (0x01, 5) => Arithmetic::DivUnsigned,
        (0x01, 6) => Arithmetic::Rem,
        (0x01, 7) => Arithmetic::RemUnsigned,
        (0x00, 2) if wide => Arithmetic::SetLess,
        (0x00, 3) if wide => Arithmetic::SetLessUnsigned,
        (0x00, 4) if wide => Arithmetic::Xor,
        (0x00, 6) if wide => Arithmetic::Or,
        (0x00, 7) if wide => Arithmetic::And,
        (0x01, 1) if wide => Arithmetic::MulHigh,
        (0x01, 2) if wide => Arithmetic::MulHighMixed,
        (0x01, 3) if wide => Arithmetic::MulHighUnsigned,
        _ => return None,
    })
}

fn atomic(word: u32, size: usize) -> Option<Instruction> {
    let to = bits(word, 7, 5) as Register;
    let base = bits(word, 15, 5) as Register;
    let from = bits(word, 20, 5) as Register;
    let operation = match word >> 27 {
        0x02 if from == 0 => return Some(Instruction::LoadReserved { size, to, base }),
        0x03 => return Some(Instruction::StoreConditional { size, to, base, from }),
        0x00 => Atomic::Add,
        0x01 => Atomic::Swap,
        0x04 => Atomic::Xor,
        0x08 => Atomic::Or,
        0x0c => Atomic::And,
        0x10 => Atomic::Min,
        0x14 => Atomic::Max,
        0x18 => Atomic::MinUnsigned,
        0x1c => Atomic::MaxUnsigned,
        _ => return None,
    };
    Some(Instruction::Atomic { operation, size, to, base, from })
}

fn system(word: u32) -> Option<Instruction> {
    let to = bits(word, 7, 5) as Register;
    let source = bits(word, 15, 5) as Register;
    let function = bits(word, 12, 3);
    let change = match function & 3 {
        1 => CsrChange::Write,
        2 => CsrChange::Set,
        3 => CsrChange::Clear,
        _ => {
            return match word {
                0x0000_0073 => Some(Instruction::EnvironmentCall),
                0x0010_0073 => Some(Instruction::Breakpoint),
                0x1020_0073 => Some(Instruction::SupervisorReturn),
                0x1050_0073 => Some(Instruction::WaitForInterrupt),
                _ if word & 0xfe00_7fff == 0x1200_0073 => Some(Instruction::FenceTranslation {
                    address: source,
                    space: bits(word, 20, 5) as Register,
                }),
                _ => None,
            };
        }
    };
    let operand = if function & 4 == 0 {
        CsrOperand::Register(source)
    } else {
        CsrOperand::Immediate(source)
    };
    Some(Instruction::Csr { change, number: (word >> 20) as u16, to, operand })
}

fn bits(word: u32, first: u32, count: u32) -> u32 {
    word >> first & ((1 << count) - 1)
}

fn upper(word: u32) -> u64 {
    i64::from((word & 0xffff_f000) as i32) as u64
}

fn store_offset(word: u32) -> u64 {
    sign_extend(bits(word, 25, 7) << 5 | bits(word, 7, 5), 12)
}

fn branch_offset(word: u32) -> u64 {
    let offset = bits(word, 31, 1) << 12
        | bits(word, 7, 1) << 11
        | bits(word, 25, 6) << 5
        | bits(word, 8, 4) << 1;
    sign_extend(offset, 13)
}

fn jump_offset(word: u32) -> u64 {
    let offset = bits(word, 31, 1) << 20
        | bits(word, 12, 8) << 12
        | bits(word, 20, 1) << 11
        | bits(word, 21, 10) << 1;
    sign_extend(offset, 21)
}

/// The low `width` bits of `value` as a signed number.
pub(super) fn sign_extend(value: u32, width: u32) -> u64 {
    let unused = 32 - width;
    i64::from((value << unused) as i32 >> unused) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_words_are_no_instructions() {
        for (word, why) in [
            (0x0000_0000, "all zeros"),
            (0xffff_ffff, "all ones"),
            (0x0000_7003, "unsigned 8-byte load"),
            (0x0000_4023, "store of 16 bytes"),
            (0x0000_2063, "branch condition 2"),
            (0x0200_101b, "slliw by 32"),
            (0x0400_1013, "slli with a stray bit"),
            (0x0000_203b, "sltw"),
            (0x0200_103b, "mulhw"),
            (0x0000_102f, "16-bit atomic"),
            (0x1010_202f, "lr.w with a source"),
            (0x3020_0073, "mret"),
            (0x1020_00f3, "sret with a target"),
            (0x1200_00f3, "sfence.vma with a target"),
            (0x0000_4073, "CSR function 4"),
            (0x0000_1067, "jalr function 1"),
            (0x0000_1007, "flh"),
            (0x0000_4027, "fsq"),
            (0xf210_0053, "fmv.d.x with a second source"),
            (0xe200_1053, "fclass.d"),
        ] {
            assert_eq!(decode(word), None, "{why}: {word:#010x}");
        }
    }
}
