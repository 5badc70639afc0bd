//! Instruction words, for tests that need a few lines of code and no assembler.
#![allow(missing_docs)] // the names are the mnemonics, the operands in the order of assembly

/// The bytes of a program.
pub fn bytes(program: &[u32]) -> Vec<u8> {
    program.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Instructions that load any constant.
pub fn constant(to: u8, value: u64) -> Vec<u32> {
    let signed = value as i64;
    if (-2048..2048).contains(&signed) {
        return vec![addi(to, 0, signed as i32)];
    }
    let low = (signed << 52 >> 52) as i32;
    let high = signed.wrapping_sub(i64::from(low));
    if i64::from(signed as i32) == signed {
        return vec![lui(to, high as i32), addiw(to, to, low)];
    }
    let mut program = constant(to, (high >> 12) as u64);
    program.extend([slli(to, to, 12), addi(to, to, low)]);
    program
}

fn field(value: i32, first: u32, width: u32) -> u32 {
    value as u32 >> first & ((1 << width) - 1)
}

fn check(value: i32, width: u32, what: &str) {
    let limit = 1i64 << (width - 1);
    assert!(
        (-limit..limit).contains(&i64::from(value)),
        "{what} {value} does not fit {width} bits"
    );
}

/// R-type: `group` is the topmost seven bits.
pub fn register_form(opcode: u32, function: u32, group: u32, to: u8, left: u8, right: u8) -> u32 {
    group << 25
        | u32::from(right) << 20
        | u32::from(left) << 15
        | function << 12
        | u32::from(to) << 7
        | opcode
}

/// I-type.
pub fn immediate_form(opcode: u32, function: u32, to: u8, left: u8, immediate: i32) -> u32 {
    check(immediate, 12, "immediate");
    field(immediate, 0, 12) << 20
        | u32::from(left) << 15
        | function << 12
        | u32::from(to) << 7
        | opcode
}

fn store_form(function: u32, from: u8, base: u8, offset: i32) -> u32 {
    check(offset, 12, "store offset");
    register_form(0x23, function, field(offset, 5, 7), field(offset, 0, 5) as u8, base, from)
}

fn branch_form(function: u32, left: u8, right: u8, offset: i32) -> u32 {
    check(offset, 13, "branch offset");
    let low = field(offset, 1, 4) << 1 | field(offset, 11, 1);
    let high = field(offset, 12, 1) << 6 | field(offset, 5, 6);
    register_form(0x63, function, high, low as u8, left, right)
}

/// `value` is the whole upper value, its low 12 bits zero.
pub fn lui(to: u8, value: i32) -> u32 {
    field(value, 12, 20) << 12 | u32::from(to) << 7 | 0x37
}
/// `value` is the whole upper value, its low 12 bits zero.
pub fn auipc(to: u8, value: i32) -> u32 {
    field(value, 12, 20) << 12 | u32::from(to) << 7 | 0x17
}
pub fn jal(to: u8, offset: i32) -> u32 {
    check(offset, 21, "jump offset");
    field(offset, 20, 1) << 31
        | field(offset, 1, 10) << 21
        | field(offset, 11, 1) << 20
        | field(offset, 12, 8) << 12
        | u32::from(to) << 7
        | 0x6f
}
pub fn jalr(to: u8, base: u8, offset: i32) -> u32 {
    immediate_form(0x67, 0, to, base, offset)
}

macro_rules! immediate_instructions {
    ($($name:ident $opcode:literal $function:literal;)*) => { $(
        pub fn $name(to: u8, left: u8, immediate: i32) -> u32 {
            immediate_form($opcode, $function, to, left, immediate)
        }
    )* };
}
// Loads take (to, base, offset).
immediate_instructions! {
    addi 0x13 0; slti 0x13 2; sltiu 0x13 3; xori 0x13 4; ori 0x13 6; andi 0x13 7; addiw 0x1b 0;
    lb 0x03 0; lh 0x03 1; lw 0x03 2; ld 0x03 3; lbu 0x03 4; lhu 0x03 5; lwu 0x03 6;
}

macro_rules! shift_instructions {
    ($($name:ident $opcode:literal $function:literal $kind:literal;)*) => { $(
        pub fn $name(to: u8, left: u8, distance: u32) -> u32 {
            immediate_form($opcode, $function, to, left, (distance | $kind) as i32)
        }
    )* };
}
shift_instructions! {
    slli 0x13 1 0; srli 0x13 5 0; srai 0x13 5 0x400;
    slliw 0x1b 1 0; srliw 0x1b 5 0; sraiw 0x1b 5 0x400;
}

macro_rules! register_instructions {
    ($($name:ident $opcode:literal $function:literal $group:literal;)*) => { $(
        pub fn $name(to: u8, left: u8, right: u8) -> u32 {
            register_form($opcode, $function, $group, to, left, right)
        }
    )* };
}
register_instructions! {
    add 0x33 0 0; sub 0x33 0 0x20; sll 0x33 1 0; slt 0x33 2 0; sltu 0x33 3 0; xor 0x33 4 0;
    srl 0x33 5 0; sra 0x33 5 0x20; or 0x33 6 0; and 0x33 7 0;
    mul 0x33 0 1; mulh 0x33 1 1; mulhsu 0x33 2 1; mulhu 0x33 3 1;
    div 0x33 4 1; divu 0x33 5 1; rem 0x33 6 1; remu 0x33 7 1;
    addw 0x3b 0 0; subw 0x3b 0 0x20; sllw 0x3b 1 0; srlw 0x3b 5 0; sraw 0x3b 5 0x20;
    mulw 0x3b 0 1; divw 0x3b 4 1; divuw 0x3b 5 1; remw 0x3b 6 1; remuw 0x3b 7 1;
}

macro_rules! atomic_instructions {
    ($($word:ident $double:ident $kind:literal;)*) => { $(
        pub fn $word(to: u8, from: u8, base: u8) -> u32 {
            register_form(0x2f, 2, $kind << 2, to, base, from)
        }
        pub fn $double(to: u8, from: u8, base: u8) -> u32 {
            register_form(0x2f, 3, $kind << 2, to, base, from)
        }
    )* };
}
atomic_instructions! {
    sc_w sc_d 0x03;
    amoswap_w amoswap_d 0x01; amoadd_w amoadd_d 0x00; amoxor_w amoxor_d 0x04;
    amoand_w amoand_d 0x0c; amoor_w amoor_d 0x08; amomin_w amomin_d 0x10;
    amomax_w amomax_d 0x14; amominu_w amominu_d 0x18; amomaxu_w amomaxu_d 0x1c;
}
pub fn lr_w(to: u8, base: u8) -> u32 {
    register_form(0x2f, 2, 0x02 << 2, to, base, 0)
}
pub fn lr_d(to: u8, base: u8) -> u32 {
    register_form(0x2f, 3, 0x02 << 2, to, base, 0)
}

macro_rules! store_instructions {
    ($($name:ident $function:literal;)*) => { $(
        pub fn $name(from: u8, base: u8, offset: i32) -> u32 {
            store_form($function, from, base, offset)
        }
    )* };
}
store_instructions! { sb 0; sh 1; sw 2; sd 3; }

/// `to` is a floating-point register.
pub fn fld(to: u8, base: u8, offset: i32) -> u32 {
    immediate_form(0x07, 3, to, base, offset)
}
/// `from` is a floating-point register.
pub fn fsd(from: u8, base: u8, offset: i32) -> u32 {
    // As a store of an integer register, of another opcode.
    sd(from, base, offset) ^ 0x23 ^ 0x27
}
/// `to` is a floating-point register.
pub fn fmv_d_x(to: u8, from: u8) -> u32 {
    register_form(0x53, 0, 0x79, to, from, 0)
}
/// `from` is a floating-point register.
pub fn fmv_x_d(to: u8, from: u8) -> u32 {
    register_form(0x53, 0, 0x71, to, from, 0)
}

macro_rules! branch_instructions {
    ($($name:ident $function:literal;)*) => { $(
        pub fn $name(left: u8, right: u8, offset: i32) -> u32 {
            branch_form($function, left, right, offset)
        }
    )* };
}
branch_instructions! { beq 0; bne 1; blt 4; bge 5; bltu 6; bgeu 7; }

macro_rules! csr_instructions {
    ($($name:ident $function:literal;)*) => { $(
        /// `operand` is a register, or the number itself in the forms that end in `i`.
        pub fn $name(to: u8, csr: u16, operand: u8) -> u32 {
            u32::from(csr) << 20 | u32::from(operand) << 15 | $function << 12 | u32::from(to) << 7 | 0x73
        }
    )* };
}
csr_instructions! { csrrw 1; csrrs 2; csrrc 3; csrrwi 5; csrrsi 6; csrrci 7; }

pub fn sfence_vma(address: u8, space: u8) -> u32 {
    register_form(0x73, 0, 9, 0, address, space)
}
/// `fence rw, rw`.
pub const FENCE: u32 = 0x0330_000f;
pub const FENCE_I: u32 = 0x0000_100f;
pub const ECALL: u32 = 0x0000_0073;
pub const EBREAK: u32 = 0x0010_0073;
pub const SRET: u32 = 0x1020_0073;
pub const WFI: u32 = 0x1050_0073;
pub const NOP: u32 = 0x0000_0013;
