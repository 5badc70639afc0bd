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

/// Eight words.
const DATA: Data = Data { address: 0xffff_ffc1_2345_6780, words: 8 };

fn why_with(data: Data, code: &[u32]) -> Result<(), ParameterError> {
    Parameter::with_data(b'A', 1, (code, &[]), Some(data)).map(|_| ())
}

const AND_7: u32 = 0x0073_fe13; // andi t3, t2, 7
const TIMES_8: u32 = 0x003e_1e13; // slli t3, t3, 3
const PLACE: u32 = 0x01cf_8e33; // add t3, t6, t3
const LOAD: u32 = 0x000e_3383; // ld t2, 0(t3)

#[test]
fn private_data_are_read_where_the_place_is_bounded() {
    let code = [AND_7, TIMES_8, PLACE, LOAD];
    assert_eq!(why_with(DATA, &code), Ok(()));
    let fewer = Data { words: 7, ..DATA };
    assert_eq!(why_with(fewer, &code), refused(Why::Bounds, 3));
    assert_eq!(why(&code), refused(Why::Unset, 2), "it has none");
    // ld t2, 0(t6), and the last word; of a word its bytes; srli t3, t2, 61 bounds as well.
    for code in [
        &[0x000f_b383][..],
        &[0x038f_b383],
        &[0x03ff_c383],
        &[0x03d3_de13, TIMES_8, PLACE, LOAD],
        &[0x000f_8e93, 0x000e_b383], // mv t4, t6
        &[0x008f_8e93, 0x030e_b383], // addi t4, t6, 8; ld t2, 48(t4)
    ] {
        assert_eq!(why_with(DATA, code), Ok(()), "{code:x?}");
    }
}

#[test]
fn nothing_but_whole_words_of_the_data_is_read() {
    for (code, at) in [
        (&[0x040f_b383][..], 0),                    // ld t2, 64(t6)
        (&[0x03cf_b383], 0),                        // ld t2, 60(t6)
        (&[0x004f_b383], 0),                        // ld t2, 4(t6)
        (&[0xff8f_b383], 0),                        // ld t2, -8(t6)
        (&[AND_7, PLACE, LOAD], 2),                 // at any byte
        (&[0x00f3_fe13, TIMES_8, PLACE, LOAD], 3),  // andi t3, t2, 15
        (&[AND_7, 0x004e_1e13, PLACE, LOAD], 3),    // slli t3, t3, 4
        (&[0x007f_8e33, LOAD], 0),                  // add t3, t6, t2
        (&[0xff83_fe13, PLACE, LOAD], 1),           // andi t3, t2, -8
        (&[AND_7, TIMES_8, PLACE, PLACE, LOAD], 3), // once more
        (&[0xff8f_8e93, 0x000e_b383], 0),           // addi t4, t6, -8
        (&[0x01ff_8e33, LOAD], 0),                  // add t3, t6, t6
        (&[0x41cf_8e33, LOAD], 0),                  // sub t3, t6, t3: nothing in it, and no sum
        (&[0x0f8f_8e93, 0x000e_b383], 1),           // addi t4, t6, 248
        (&[AND_7, 0x03de_1e13, PLACE, LOAD], 3),    // slli t3, t3, 61
    ] {
        let found = why_with(DATA, code).unwrap_err();
        assert_eq!(found.at, at, "{code:x?}: {found}");
        assert!(matches!(found.why, Why::Bounds | Why::Unset), "{code:x?}: {found}");
    }
    // A number is no place, and a store is none of its own.
    assert_eq!(why_with(DATA, &[0x0003_b383]), refused(Why::Memory, 0));
    assert_eq!(why_with(DATA, &[0x000f_b383, 0x007f_b023]), refused(Why::Memory, 1));
}

#[test]
fn where_the_data_are_is_nobodys_to_know() {
    const READ: u32 = 0x000f_be83; // ld t4, 0(t6)
    for (code, at) in [
        (&[READ, 0x000f_8393][..], 1), // mv t2, t6
        (&[READ, 0x00cf_d393], 1),     // srli t2, t6, 12
        (&[READ, 0x01ff_c3b3], 1),     // xor t2, t6, t6
        (&[READ, 0x007f_b3b3], 1),     // sltu t2, t6, t2
        (&[READ, 0x007f_83bb], 1),     // addw t2, t6, t2
        (&[READ, 0x000f_f393], 1),     // andi t2, t6, 0
    ] {
        assert_eq!(why_with(DATA, code), refused(Why::Bounds, at), "{code:x?}");
    }
    // Nor is it in the second word, nor in the value.
    let second = [READ, 0x000f_8e13]; // mv t3, t6
    let found = Parameter::with_data(b'A', 2, (&second, &[]), Some(DATA));
    assert_eq!(found, Err(ParameterError { why: Why::Bounds, at: 1 }));
    assert_eq!(why_with(DATA, &second), Ok(()), "what is not passed may hold it");
    let back = Parameter::with_data(b'A', 1, (&[], &[READ, 0x000f_8393]), Some(DATA));
    assert_eq!(back, Err(ParameterError { why: Why::Bounds, at: 1 }));
}

#[test]
fn the_address_is_in_front_of_what_reads_data() {
    let code = Parameter::with_data(b'A', 1, (&[0x000f_b383], &[NOP_T2]), Some(DATA)).unwrap();
    assert_eq!(code.call.code().len(), PREPARATION + 1);
    assert_eq!(code.back.code(), [NOP_T2], "which reads none");
    let most = [0x000f_b383; FRAGMENT_MAXIMUM - PREPARATION];
    assert_eq!(why_with(DATA, &most), Ok(()));
    let more = [0x000f_b383; FRAGMENT_MAXIMUM - PREPARATION + 1];
    assert_eq!(why_with(DATA, &more), refused(Why::Length, FRAGMENT_MAXIMUM));
}
