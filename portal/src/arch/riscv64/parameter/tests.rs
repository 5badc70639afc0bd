//! What is a fragment and what is not.

use super::*;

const NOP_T2: u32 = 0x0003_8393; // addi t2, t2, 0

fn why(code: &[u32]) -> Result<(), ParameterError> {
    Parameter::new(b'A', 1, code, &[]).map(|_| ())
}

fn refused(why: Why, at: usize) -> Result<(), ParameterError> {
    Err(ParameterError { why, at })
}

#[test]
fn arithmetic_on_its_own_registers_is_taken() {
    // slli t4, t2, 3; lui t5, 0x12345; add t4, t4, t5; sraiw t2, t4, 7; xor t2, t2, zero; li t6, 1
    let code = [0x0033_9e93, 0x1234_5f37, 0x01ee_8eb3, 0x407e_d39b, 0x0003_c3b3, 0x0010_0f93];
    assert_eq!(why(&code), Ok(()));
    assert_eq!(why(&[]), Ok(()));
    assert_eq!(why(&[NOP_T2; FRAGMENT_MAXIMUM]), Ok(()));
}

#[test]
fn everything_else_is_refused() {
    for (instruction, expected) in [
        (0x0000_0063, Why::Jump),        // beq zero, zero, 0
        (0x0000_006f, Why::Jump),        // j 0
        (0x0000_8067, Why::Jump),        // ret
        (0x0000_0073, Why::System),      // ecall
        (0x1020_0073, Why::System),      // sret
        (0x1800_93f3, Why::System),      // csrrw t2, satp, ra
        (0x1200_0073, Why::System),      // sfence.vma
        (0x0ff0_000f, Why::System),      // fence
        (0x0003_b383, Why::Memory),      // ld t2, 0(t2)
        (0x0073_b023, Why::Memory),      // sd t2, 0(t2)
        (0x1003_b3af, Why::Memory),      // lr.d t2, (t2)
        (0x0003_a007, Why::Memory),      // flw ft0, 0(t2): the unit is off
        (0x0000_0397, Why::Instruction), // auipc t2, 0
        (0x0273_83b3, Why::Instruction), // mul t2, t2, t2
        (0x4073_93b3, Why::Instruction), // no instruction: sll with bit 30
        (0x0403_939b, Why::Instruction), // slliw by more than 31
        (0x0000_0000, Why::Instruction),
        (0xffff_ffff, Why::Instruction),
        (0x0001_0001, Why::Instruction), // two compressed ones
        (0x0003_8513, Why::Written),     // mv a0, t2
        (0x0003_8013, Why::Written),     // to zero
        (0x0003_8113, Why::Written),     // sp
        (0x0003_8313, Why::Written),     // t1, where the literals are
        (0x0005_0393, Why::Unset),       // mv t2, a0: another parameter
        (0x0002_0393, Why::Unset),       // mv t2, tp
        (0x000e_0393, Why::Unset),       // mv t2, t3 of a type of one word
        (0x01d3_83b3, Why::Unset),       // add t2, t2, t4: left over from others
    ] {
        assert_eq!(why(&[NOP_T2, instruction]), refused(expected, 1), "{instruction:#010x}");
    }
    assert_eq!(why(&[NOP_T2; FRAGMENT_MAXIMUM + 1]), refused(Why::Length, FRAGMENT_MAXIMUM));
    // Of two words, t3 is passed; on the way back, the value alone.
    let from_second = [0x000e_0393];
    assert!(Parameter::new(b'A', 2, &from_second, &[]).is_ok());
    let back = Parameter::new(b'A', 2, &[NOP_T2], &from_second);
    assert_eq!(back, Err(ParameterError { why: Why::Unset, at: 1 }));
    assert!(back.unwrap_err().to_string().starts_with("instruction 2: "));
    for letter in [b'a', b'i', b'@', b'[', 0, 255] {
        let found = Parameter::new(letter, 1, &[], &[]);
        assert_eq!(found, Err(ParameterError { why: Why::Letter, at: 0 }));
    }
    for words in [0, 3, u64::MAX] {
        let found = Parameter::new(b'A', words, &[], &[]);
        assert_eq!(found, Err(ParameterError { why: Why::Words, at: 0 }));
    }
}

#[test]
fn a_letter_has_one_meaning() {
    let mut types = Parameters::NONE;
    let one = Parameter::new(b'K', 1, &[NOP_T2], &[]).unwrap();
    let two = Parameter::new(b'K', 2, &[NOP_T2], &[]).unwrap();
    assert_eq!(types.get(b'K'), None);
    assert_eq!((types.register(one), types.register(one)), (Ok(()), Ok(())));
    assert_eq!(types.register(two), Err(ParameterError { why: Why::Taken, at: 0 }));
    assert_eq!((types.get(b'K'), types.get(b'L'), types.get(b'k')), (Some(&one), None, None));
}
