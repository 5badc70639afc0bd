//! RISC-V with words of 64 bits, as `arch/riscv` of Linux has it.

pub use elf::abi::EM_RISCV as ELF_MACHINE;
pub use linux_raw_sys::general::{
    __NR_riscv_flush_icache as __NR_FENCE, __NR_riscv_hwprobe as __NR_PROBE,
};

/// What `uname` says.
pub const MACHINE: &str = "riscv64";
/// Extensions that programs may use, a bit for each letter: A, C, D, F, I, M.
pub const EXTENSIONS: u64 = 0x112d;

/// The register to which functions return.
pub const RETURNS_TO: usize = 1;
/// The stack pointer.
pub const STACK: usize = 2;
/// The first argument of a function or call, and what it answers; the others follow.
pub const ARGUMENT: usize = 10;
/// The number of a call.
pub const CALL: usize = 17;

/// `li a7, __NR_rt_sigreturn; ecall`: what a handler of a signal returns to.
pub const WAY_BACK: [u32; 2] = [0x08b0_0893, 0x0000_0073];

/// What lies on the stack while a handler runs is `struct rt_sigframe`: `siginfo`, and behind it `ucontext`.
pub mod frame {
    /// `ucontext` begins here.
    pub const CONTEXT: u64 = 128;
    /// In that: the stack of handlers...
    pub const STACK: u64 = CONTEXT + 16;
    /// ... and the signals that are blocked.
    pub const MASK: u64 = CONTEXT + 40;
    /// The program counter and 31 registers.
    pub const REGISTERS: u64 = CONTEXT + 176;
    /// Those of the floating-point unit...
    pub const FLOAT: u64 = REGISTERS + 32 * 8;
    /// ... with its status, of which there are these bits.
    pub const STATUS: u64 = FLOAT + 32 * 8;
    /// The bits that a status can have.
    pub const STATUS_BITS: u64 = 0xff;
    /// All of it: there is room for registers of 128 bits.
    pub const SIZE: u64 = FLOAT + 528;
}
