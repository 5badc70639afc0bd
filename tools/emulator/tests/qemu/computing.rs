//! Integer, multiplication, memory, atomic, branch, CSR and illegal instructions.

use crate::harness::{DATA, DATA_POINTER, LOG_POINTER, Program, RESUME, SCRATCH};
use cairn_emulator::Options;
use cairn_emulator::encode::*;
use fastrand::Rng;

const BLOCKS: usize = 600;
const BLOCK_LENGTH: usize = 24;

type RegisterInstruction = fn(u8, u8, u8) -> u32;
const REGISTER_INSTRUCTIONS: [RegisterInstruction; 28] = [
    add, sub, sll, slt, sltu, xor, srl, sra, or, and, mul, mulh, mulhsu, mulhu, div, divu, rem,
    remu, addw, subw, sllw, srlw, sraw, mulw, divw, divuw, remw, remuw,
];
const IMMEDIATE_INSTRUCTIONS: [fn(u8, u8, i32) -> u32; 7] =
    [addi, slti, sltiu, xori, ori, andi, addiw];
const LOADS: [fn(u8, u8, i32) -> u32; 7] = [lb, lh, lw, ld, lbu, lhu, lwu];
const STORES: [fn(u8, u8, i32) -> u32; 4] = [sb, sh, sw, sd];
const BRANCHES: [fn(u8, u8, i32) -> u32; 6] = [beq, bne, blt, bge, bltu, bgeu];
const WORD_ATOMICS: [RegisterInstruction; 9] =
    [amoswap_w, amoadd_w, amoxor_w, amoand_w, amoor_w, amomin_w, amomax_w, amominu_w, amomaxu_w];
const DOUBLE_ATOMICS: [RegisterInstruction; 9] =
    [amoswap_d, amoadd_d, amoxor_d, amoand_d, amoor_d, amomin_d, amomax_d, amominu_d, amomaxu_d];

/// Addresses of atomics.
const ATOMIC_POINTER: u8 = 31;

fn any(random: &mut Rng) -> u8 {
    random.u8(0..24)
}

fn target(random: &mut Rng) -> u8 {
    // The zero register among them, to see that it stays zero.
    random.u8(0..24)
}

/// Values at which instructions change their mind, and any others.
fn interesting(random: &mut Rng) -> u64 {
    const EDGES: [u64; 10] = [
        0,
        1,
        u64::MAX,
        1 << 63,
        (1 << 63) - 1,
        1 << 31,
        (1 << 31) - 1,
        0xffff_ffff,
        0xffff_ffff_8000_0000,
        63,
    ];
    match random.u8(0..3) {
        0 => EDGES[random.usize(0..EDGES.len())],
        1 => random.u64(..) >> random.u32(0..64),
        _ => random.u64(..),
    }
}

fn choose<T: Copy>(random: &mut Rng, from: &[T]) -> T {
    from[random.usize(0..from.len())]
}

fn push_atomic(program: &mut Program, random: &mut Rng) {
    let (to, from) = (target(random), any(random));
    // Aligned: QEMU reports a misaligned atomic as a load, which is against the manual.
    program.push(addi(ATOMIC_POINTER, DATA_POINTER, random.i32(-200..200) * 8));
    let word = match random.u8(0..4) {
        0 => choose(random, &WORD_ATOMICS)(to, from, ATOMIC_POINTER),
        1 => choose(random, &DOUBLE_ATOMICS)(to, from, ATOMIC_POINTER),
        2 => {
            program.push_trapping(lr_w(to, ATOMIC_POINTER));
            sc_w(target(random), from, ATOMIC_POINTER)
        }
        _ => {
            program.push_trapping(lr_d(to, ATOMIC_POINTER));
            // Elsewhere: fails.
            if random.bool() {
                program.push(xori(ATOMIC_POINTER, ATOMIC_POINTER, 16));
            }
            sc_d(target(random), from, ATOMIC_POINTER)
        }
    };
    program.push_trapping(word);
}

fn push_jump(program: &mut Program, random: &mut Rng) {
    let link = target(random);
    match random.u8(0..3) {
        0 => program.push(choose(random, &BRANCHES)(any(random), any(random), 8)),
        1 => program.push(jal(link, 8)),
        _ => program
            .extend([auipc(ATOMIC_POINTER, 0), jalr(link, ATOMIC_POINTER, 12 + random.i32(0..2))]),
    }
    // Skipped or not.
    program.push(choose(random, &IMMEDIATE_INSTRUCTIONS)(target(random), any(random), 1));
}

fn push_csr(program: &mut Program, random: &mut Rng) {
    const SSCRATCH: u16 = 0x140;
    const SEPC: u16 = 0x141;
    const STVAL: u16 = 0x143;
    const SIE: u16 = 0x104;
    const SIP: u16 = 0x144;
    let csr = choose(random, &[SSCRATCH, SEPC, STVAL, SIE, SIP]);
    let instruction = choose(random, &[csrrw, csrrs, csrrc, csrrwi, csrrsi, csrrci]);
    program.push(instruction(target(random), csr, any(random)));
    // Read-only, absent, of machine mode: must trap without a change.
    let forbidden = choose(random, &[0xc00, 0xc01, 0x300, 0x5c0]);
    program.push_trapping(csrrw(target(random), forbidden, any(random)));
}

/// Any word of the computing opcodes, most of them legal, many not.
fn push_any_computation(program: &mut Program, random: &mut Rng) {
    let opcode = choose(random, &[0x13, 0x1b, 0x33, 0x3b]);
    let stray = random.u32(0..128);
    let group = choose(random, &[0, 0x20, 1, 0x21, stray]);
    let word = register_form(
        opcode,
        random.u32(0..8),
        group,
        target(random),
        any(random),
        random.u8(0..24),
    );
    program.push_trapping(word);
}

fn push_compressed(program: &mut Program, random: &mut Rng) {
    let half = loop {
        let half = random.u16(..);
        let kind = half >> 13;
        let register = (half >> 7 & 31) as u8;
        let source = half >> 2 & 31;
        let computes = match half & 3 {
            0 => kind == 0,
            1 => kind < 5,
            // The register forms without a second register are jumps.
            2 => kind == 0 || kind == 4 && source != 0 && source < 24,
            _ => false,
        };
        let reserved = [RESUME, SCRATCH, DATA_POINTER, LOG_POINTER].contains(&register);
        if computes && !reserved {
            break half;
        }
    };
    const COMPRESSED_NOP: u32 = 1;
    program.push_trapping(COMPRESSED_NOP << 16 | u32::from(half));
}

fn push_compressed_memory(program: &mut Program, random: &mut Rng) {
    // s0 and sp become pointers into the data; every offset of these forms stays in its page.
    program.extend([addi(8, DATA_POINTER, random.i32(-800..0)), addi(2, DATA_POINTER, 0)]);
    let half = loop {
        let half = random.u16(..);
        let kind = half >> 13;
        let base_is_s0 = half >> 7 & 7 == 0;
        let to = half >> 7 & 31;
        match half & 3 {
            0 if [2, 3, 6, 7].contains(&kind) && base_is_s0 => break half,
            2 if [6, 7].contains(&kind) || [2, 3].contains(&kind) && to < 24 => break half,
            _ => {}
        }
    };
    program.push_trapping(1 << 16 | u32::from(half));
}

fn program(seed: u64) -> Program {
    let mut random = Rng::with_seed(seed);
    let mut program = Program::new();
    for _ in 0..BLOCKS {
        for _ in 0..6 {
            let register = any(&mut random);
            program.extend(constant(register, interesting(&mut random)));
        }
        for _ in 0..BLOCK_LENGTH {
            let random = &mut random;
            let (to, left, right) = (target(random), any(random), any(random));
            let offset = random.i32(-2048..2040);
            match random.u8(0..16) {
                0..5 => program.push(choose(random, &REGISTER_INSTRUCTIONS)(to, left, right)),
                5 => program.push(choose(random, &IMMEDIATE_INSTRUCTIONS)(to, left, offset)),
                6 => program.push(choose(random, &[slli, srli, srai])(to, left, random.u32(0..64))),
                7 => program.push(choose(random, &[slliw, srliw, sraiw])(
                    to,
                    left,
                    random.u32(0..32),
                )),
                8 => program.push(choose(random, &LOADS)(to, DATA_POINTER, offset)),
                9 => program.push(choose(random, &STORES)(left, DATA_POINTER, offset)),
                10 => push_atomic(&mut program, random),
                11 => push_jump(&mut program, random),
                12 => push_csr(&mut program, random),
                13 => push_any_computation(&mut program, random),
                14 => push_compressed(&mut program, random),
                _ if random.bool() => push_compressed_memory(&mut program, random),
                _ => program.push(choose(random, &[lui, auipc])(to, random.i32(..))),
            }
        }
        program.log_registers();
    }
    program
}

#[test]
fn random_programs_do_the_same_as_in_qemu() {
    for seed in 1..4 {
        let name = format!("computing-{seed}");
        program(seed).compare(&name, Options::default(), &[(DATA, 0x2000)]);
    }
}
