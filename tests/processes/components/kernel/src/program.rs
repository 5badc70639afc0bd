//! The program of each process, in machine code, and where in it what begins.

/// `ecall`.
pub const CALL: u64 = 0;
/// `ld a0, 0(a1)`, `ecall`.
pub const LOAD: u64 = 8;
/// `sd a0, 0(a1)`, `ecall`.
pub const STORE: u64 = 16;
/// `jr a1`.
pub const JUMP: u64 = 24;
/// No instruction.
pub const ILLEGAL: u64 = 28;
/// `addi a0, a0, 1`, and again.
pub const COUNT: u64 = 32;

/// `fmv.x.d a0, f1`, `fmv.d.x f2, a1`, `ecall`.
pub const DOUBLE: u64 = 40;

/// All of it.
pub const PROGRAM: [u32; 13] = [
    0x0000_0073,
    0x0000_006f,
    0x0005_b503,
    0x0000_0073,
    0x00a5_b023,
    0x0000_0073,
    0x0005_8067,
    0x0000_0000,
    0x0015_0513,
    0xffdf_f06f,
    0xe200_8553,
    0xf205_8153,
    0x0000_0073,
];
