//! The instructions between a caller and its callee, counted in the code that a call executes.
//!
//! Portal code and the nucleus' entries have no loop, and their branches lead to errors and to waits. So the way of a call on which
//! nothing is wrong is the one that takes no branch. What the services of the nucleus do that open windows depends on the memory, and is
//! not counted.

use cairn_isa::riscv64::compressed;
use cairn_isa::riscv64::decode::{Instruction, decode};

/// More instructions than any way has.
const LONGEST: u64 = 4096;

/// Counts from `address` to the jump that leaves this code, that included. `word` reads it; the branch to `turn` is taken.
pub(crate) fn length(
    word: impl Fn(u64) -> Option<u32>,
    mut address: u64,
    turn: Option<u64>,
) -> Result<u64, String> {
    let start = address;
    for count in 1..=LONGEST {
        let (instruction, size) = match word(address) {
            Some(word) if word & 3 != 3 => (compressed::decode(word as u16), 2),
            word => (word.and_then(decode), 4),
        };
        let mut next = address + size;
        match instruction {
            None => {
                return Err(format!("no instruction at {address:#x}, on the way from {start:#x}"));
            }
            Some(Instruction::SupervisorReturn | Instruction::JumpRegister { to: 0, .. }) => {
                return Ok(count);
            }
            Some(Instruction::Jump { to: 0, offset }) => next = address.wrapping_add(offset),
            Some(Instruction::Branch { offset, .. })
                if turn == Some(address.wrapping_add(offset)) =>
            {
                next = address.wrapping_add(offset);
            }
            Some(_) => {}
        }
        address = next;
    }
    Err(format!("the way from {start:#x} has no end"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_takes_no_branch_but_the_one_it_is_told_to() {
        // beq zero,zero,.+16; jal zero,.+8; words that are no instruction; li t5,0 and li t6,0 in one word; jalr t5,0(t5);
        // jalr zero,0(t1)
        let code = [0x0000_0863u32, 0x0080_006f, 0, 0x4f81_4f01, 0x000f_0f67, 0x0003_0067];
        let bytes: Vec<u8> =
            code.iter().flat_map(|word| word.to_le_bytes()).chain([0; 2]).collect();
        let word = |address: u64| {
            bytes.get(address as usize..)?.first_chunk().copied().map(u32::from_le_bytes)
        };
        assert_eq!(length(word, 0, None), Ok(6));
        assert_eq!(length(word, 0, Some(16)), Ok(3));
        assert_eq!(length(word, 8, None), Err("no instruction at 0x8, on the way from 0x8".into()));
        let forever = |_| Some(0x0000_006f);
        assert_eq!(length(forever, 0, None), Err("the way from 0x0 has no end".into()));
    }
}
