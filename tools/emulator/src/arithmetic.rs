//! What the computing instructions compute (unprivileged manual, chapters I, M, A).

use crate::decode::{Arithmetic, Atomic, Condition};

/// The result of `operation`; of its 32-bit form, sign-extended, if `word`.
pub fn compute(operation: Arithmetic, word: bool, left: u64, right: u64) -> u64 {
    if word {
        compute_32(operation, left as u32, right as u32)
    } else {
        compute_64(operation, left, right)
    }
}

fn compute_64(operation: Arithmetic, left: u64, right: u64) -> u64 {
    let (signed_left, signed_right) = (left as i64, right as i64);
    match operation {
        Arithmetic::Add => left.wrapping_add(right),
        Arithmetic::Sub => left.wrapping_sub(right),
        Arithmetic::ShiftLeft => left << (right & 63),
        Arithmetic::SetLess => u64::from(signed_left < signed_right),
        Arithmetic::SetLessUnsigned => u64::from(left < right),
        Arithmetic::Xor => left ^ right,
        Arithmetic::ShiftRight => left >> (right & 63),
        Arithmetic::ShiftRightSigned => (signed_left >> (right & 63)) as u64,
        Arithmetic::Or => left | right,
        Arithmetic::And => left & right,
        Arithmetic::Mul => left.wrapping_mul(right),
        Arithmetic::MulHigh => ((i128::from(signed_left) * i128::from(signed_right)) >> 64) as u64,
        Arithmetic::MulHighMixed => ((i128::from(signed_left) * i128::from(right)) >> 64) as u64,
        Arithmetic::MulHighUnsigned => ((u128::from(left) * u128::from(right)) >> 64) as u64,
        // Division never traps: by zero it gives all ones, and the remainder is the dividend; the
        // one overflow wraps.
        Arithmetic::Div if right == 0 => u64::MAX,
        Arithmetic::Div => signed_left.wrapping_div(signed_right) as u64,
        Arithmetic::DivUnsigned => left.checked_div(right).unwrap_or(u64::MAX),
        Arithmetic::Rem if right == 0 => left,
        Arithmetic::Rem => signed_left.wrapping_rem(signed_right) as u64,
        Arithmetic::RemUnsigned => left.checked_rem(right).unwrap_or(left),
    }
}

fn compute_32(operation: Arithmetic, left: u32, right: u32) -> u64 {
    let (signed_left, signed_right) = (left as i32, right as i32);
    let result = match operation {
        Arithmetic::ShiftLeft => left << (right & 31),
        Arithmetic::ShiftRight => left >> (right & 31),
        Arithmetic::ShiftRightSigned => (signed_left >> (right & 31)) as u32,
        Arithmetic::Div if right == 0 => u32::MAX,
        Arithmetic::Div => signed_left.wrapping_div(signed_right) as u32,
        Arithmetic::DivUnsigned => left.checked_div(right).unwrap_or(u32::MAX),
        Arithmetic::Rem if right == 0 => left,
        Arithmetic::Rem => signed_left.wrapping_rem(signed_right) as u32,
        Arithmetic::RemUnsigned => left.checked_rem(right).unwrap_or(left),
        // The low 32 bits of the others do not depend on the high ones.
        _ => compute_64(operation, u64::from(left), u64::from(right)) as u32,
    };
    sign_extend_word(result)
}

/// What an atomic instruction writes back; 32-bit values come sign-extended.
pub fn combine(operation: Atomic, memory: u64, register: u64) -> u64 {
    match operation {
        Atomic::Swap => register,
        Atomic::Add => memory.wrapping_add(register),
        Atomic::Xor => memory ^ register,
        Atomic::Or => memory | register,
        Atomic::And => memory & register,
        Atomic::Min => (memory as i64).min(register as i64) as u64,
        Atomic::Max => (memory as i64).max(register as i64) as u64,
        // Sign extension keeps the unsigned order of 32-bit values.
        Atomic::MinUnsigned => memory.min(register),
        Atomic::MaxUnsigned => memory.max(register),
    }
}

/// Whether a branch is taken.
pub fn holds(condition: Condition, left: u64, right: u64) -> bool {
    match condition {
        Condition::Equal => left == right,
        Condition::NotEqual => left != right,
        Condition::Less => (left as i64) < right as i64,
        Condition::GreaterOrEqual => left as i64 >= right as i64,
        Condition::LessUnsigned => left < right,
        Condition::GreaterOrEqualUnsigned => left >= right,
    }
}

/// A 32-bit value as RV64 holds it in a register.
pub fn sign_extend_word(value: u32) -> u64 {
    i64::from(value as i32) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: u64 = i64::MIN as u64;

    #[test]
    fn division_by_zero_and_overflow() {
        assert_eq!(compute(Arithmetic::Div, false, 7, 0), u64::MAX);
        assert_eq!(compute(Arithmetic::DivUnsigned, true, 7, 1 << 32), u64::MAX);
        assert_eq!(compute(Arithmetic::Rem, false, 7, 0), 7);
        assert_eq!(compute(Arithmetic::Div, false, LEAST, u64::MAX), LEAST);
        assert_eq!(compute(Arithmetic::Rem, false, LEAST, u64::MAX), 0);
        assert_eq!(compute(Arithmetic::Div, true, 0x8000_0000, u64::MAX), 0xffff_ffff_8000_0000);
        assert_eq!(compute(Arithmetic::RemUnsigned, true, 0xffff_ffff, 0), u64::MAX);
    }

    #[test]
    fn high_products_by_signedness() {
        assert_eq!(compute(Arithmetic::MulHigh, false, u64::MAX, u64::MAX), 0);
        assert_eq!(compute(Arithmetic::MulHighUnsigned, false, u64::MAX, u64::MAX), u64::MAX - 1);
        assert_eq!(compute(Arithmetic::MulHighMixed, false, u64::MAX, u64::MAX), u64::MAX);
    }

    #[test]
    fn words_are_sign_extended_and_shift_by_five_bits() {
        assert_eq!(compute(Arithmetic::Add, true, 0x7fff_ffff, 1), 0xffff_ffff_8000_0000);
        assert_eq!(
            compute(Arithmetic::ShiftRight, true, 0xffff_ffff_8000_0000, 32),
            0xffff_ffff_8000_0000
        );
        assert_eq!(compute(Arithmetic::ShiftRightSigned, true, 0x8000_0000, 31), u64::MAX);
        assert_eq!(compute(Arithmetic::ShiftLeft, false, 1, 64 + 3), 8);
    }

    #[test]
    fn comparisons_by_signedness() {
        assert!(
            holds(Condition::Less, u64::MAX, 0) && !holds(Condition::LessUnsigned, u64::MAX, 0)
        );
        assert!(holds(Condition::GreaterOrEqualUnsigned, u64::MAX, 0));
        assert_eq!(compute(Arithmetic::SetLess, false, LEAST, 0), 1);
        assert_eq!(compute(Arithmetic::SetLessUnsigned, false, LEAST, 0), 0);
        assert_eq!(combine(Atomic::Max, u64::MAX, 1), 1);
        assert_eq!(
            combine(Atomic::MaxUnsigned, sign_extend_word(0x8000_0000), 1),
            sign_extend_word(0x8000_0000)
        );
    }
}
