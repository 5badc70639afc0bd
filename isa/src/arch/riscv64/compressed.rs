//! The compressed instructions (unprivileged manual, chapter C), each a form of a full one.

use super::decode::{Arithmetic, Condition, Instruction, Register, sign_extend};
use super::register::{RA, SP, ZERO};

/// The meaning of a 16-bit instruction; none: illegal, as are the floating-point ones.
pub fn decode(half: u16) -> Option<Instruction> {
    let word = u32::from(half);
    match word & 3 {
        0 => quadrant_0(word),
        1 => quadrant_1(word),
        2 => quadrant_2(word),
        _ => None,
    }
}

fn quadrant_0(word: u32) -> Option<Instruction> {
    let near = short_register(word, 2);
    let base = short_register(word, 7);
    let word_offset =
        u64::from(place(word, 10, 3, 3) | place(word, 6, 1, 2) | place(word, 5, 1, 6));
    let double_offset = u64::from(place(word, 10, 3, 3) | place(word, 5, 2, 6));
    Some(match word >> 13 {
        0 => {
            let offset = place(word, 11, 2, 4)
                | place(word, 7, 4, 6)
                | place(word, 6, 1, 2)
                | place(word, 5, 1, 3);
            if offset == 0 {
                return None;
            }
            immediate(Arithmetic::Add, near, SP, u64::from(offset))
        }
        2 => Instruction::Load { size: 4, signed: true, to: near, base, offset: word_offset },
        3 => Instruction::Load { size: 8, signed: true, to: near, base, offset: double_offset },
        6 => Instruction::Store { size: 4, from: near, base, offset: word_offset },
        7 => Instruction::Store { size: 8, from: near, base, offset: double_offset },
        _ => return None,
    })
}

fn quadrant_1(word: u32) -> Option<Instruction> {
    let register = full_register(word, 7);
    let value = sign_extend(six_bits(word), 6);
    Some(match word >> 13 {
        0 => immediate(Arithmetic::Add, register, register, value),
        1 if register != ZERO => Instruction::ComputeImmediate {
            operation: Arithmetic::Add,
            word: true,
            to: register,
            left: register,
            right: value,
        },
        2 => immediate(Arithmetic::Add, register, ZERO, value),
        3 if value == 0 => return None,
        3 if register == SP => {
            let offset = place(word, 12, 1, 9)
                | place(word, 6, 1, 4)
                | place(word, 5, 1, 6)
                | place(word, 3, 2, 7)
                | place(word, 2, 1, 5);
            immediate(Arithmetic::Add, SP, SP, sign_extend(offset, 10))
        }
        3 => Instruction::LoadUpperImmediate { to: register, value: value << 12 },
        4 => return computation(word, value),
        5 => {
            let offset = place(word, 12, 1, 11)
                | place(word, 11, 1, 4)
                | place(word, 9, 2, 8)
                | place(word, 8, 1, 10)
                | place(word, 7, 1, 6)
                | place(word, 6, 1, 7)
                | place(word, 3, 3, 1)
                | place(word, 2, 1, 5);
            Instruction::Jump { to: ZERO, offset: sign_extend(offset, 12) }
        }
        6 => branch(word, Condition::Equal),
        7 => branch(word, Condition::NotEqual),
        _ => return None,
    })
}

fn computation(word: u32, value: u64) -> Option<Instruction> {
    let to = short_register(word, 7);
    let right = short_register(word, 2);
    let distance = u64::from(six_bits(word));
    let (operation, narrow) = match (word >> 10 & 3, word >> 12 & 1, word >> 5 & 3) {
        (0, _, _) => return Some(immediate(Arithmetic::ShiftRight, to, to, distance)),
        (1, _, _) => return Some(immediate(Arithmetic::ShiftRightSigned, to, to, distance)),
        (2, _, _) => return Some(immediate(Arithmetic::And, to, to, value)),
        (_, 0, 0) => (Arithmetic::Sub, false),
        (_, 0, 1) => (Arithmetic::Xor, false),
        (_, 0, 2) => (Arithmetic::Or, false),
        (_, 0, _) => (Arithmetic::And, false),
        (_, _, 0) => (Arithmetic::Sub, true),
        (_, _, 1) => (Arithmetic::Add, true),
        _ => return None,
    };
    Some(Instruction::Compute { operation, word: narrow, to, left: to, right })
}

fn branch(word: u32, condition: Condition) -> Instruction {
    let offset = place(word, 12, 1, 8)
        | place(word, 10, 2, 3)
        | place(word, 5, 2, 6)
        | place(word, 3, 2, 1)
        | place(word, 2, 1, 5);
    Instruction::Branch {
        condition,
        left: short_register(word, 7),
        right: ZERO,
        offset: sign_extend(offset, 9),
    }
}

fn quadrant_2(word: u32) -> Option<Instruction> {
    let register = full_register(word, 7);
    let from = full_register(word, 2);
    Some(match (word >> 13, word >> 12 & 1) {
        (0, _) => immediate(Arithmetic::ShiftLeft, register, register, u64::from(six_bits(word))),
        (2, _) if register != ZERO => {
            let offset = place(word, 12, 1, 5) | place(word, 4, 3, 2) | place(word, 2, 2, 6);
            Instruction::Load {
                size: 4,
                signed: true,
                to: register,
                base: SP,
                offset: u64::from(offset),
            }
        }
        (3, _) if register != ZERO => {
            let offset = place(word, 12, 1, 5) | place(word, 5, 2, 3) | place(word, 2, 3, 6);
            Instruction::Load {
                size: 8,
                signed: true,
                to: register,
                base: SP,
                offset: u64::from(offset),
            }
        }
        (4, 0) if from == ZERO && register == ZERO => return None,
        (4, 0) if from == ZERO => Instruction::JumpRegister { to: ZERO, base: register, offset: 0 },
        (4, 0) => add(register, ZERO, from),
        (4, _) if from == ZERO && register == ZERO => Instruction::Breakpoint,
        (4, _) if from == ZERO => Instruction::JumpRegister { to: RA, base: register, offset: 0 },
        (4, _) => add(register, register, from),
        (6, _) => {
            let offset = place(word, 9, 4, 2) | place(word, 7, 2, 6);
            Instruction::Store { size: 4, from, base: SP, offset: u64::from(offset) }
        }
        (7, _) => {
            let offset = place(word, 10, 3, 3) | place(word, 7, 3, 6);
            Instruction::Store { size: 8, from, base: SP, offset: u64::from(offset) }
        }
        _ => return None,
    })
}

fn immediate(operation: Arithmetic, to: Register, left: Register, right: u64) -> Instruction {
    Instruction::ComputeImmediate { operation, word: false, to, left, right }
}

fn add(to: Register, left: Register, right: Register) -> Instruction {
    Instruction::Compute { operation: Arithmetic::Add, word: false, to, left, right }
}

/// `count` bits of `word` from bit `from` on, put at bit `to`.
fn place(word: u32, from: u32, count: u32, to: u32) -> u32 {
    (word >> from & ((1 << count) - 1)) << to
}

fn six_bits(word: u32) -> u32 {
    place(word, 12, 1, 5) | place(word, 2, 5, 0)
}

fn full_register(word: u32, from: u32) -> Register {
    place(word, from, 5, 0) as Register
}

/// Three bits name the registers `s0` to `a5`.
fn short_register(word: u32, from: u32) -> Register {
    8 + place(word, from, 3, 0) as Register
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_halves_are_no_instructions() {
        for (half, why) in [
            (0x0000, "all zeros"),
            (0x2000, "c.fld"),
            (0x8000, "reserved in quadrant 0"),
            (0x2001, "c.addiw to zero"),
            (0x6101, "c.addi16sp by 0"),
            (0x6081, "c.lui of 0"),
            (0x9c41, "reserved word computation"),
            (0x4002, "c.lwsp to zero"),
            (0x8002, "c.jr through zero"),
        ] {
            assert_eq!(decode(half), None, "{why}: {half:#06x}");
        }
    }
}
