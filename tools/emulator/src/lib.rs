//! A RISC-V hart for tests on the host: RV64IMAC with Zicsr, Zifencei, supervisor mode, Sv39, Sstc.
//!
//! It exists to run generated portal code, and code around it, and to tell a test everything that
//! the code did: every physical write, every read of user memory by the supervisor, every trap, and
//! if asked the address of every instruction. It is strict where hardware may be: translations stay
//! in the TLB until a fence names them, memory that nobody added is absent, accessed and dirty bits
//! are software's business, so that code which only works by luck fails here.
//!
//! What it does not have: machine mode (a supervisor `ecall` stops the run, the test is the
//! firmware), computing with floating-point numbers (the registers are there, under the rules of `sstatus.FS`, with loads, stores
//! and moves), devices, a cache of page-table pages above
//! the leaf. It may have several harts, of which the test says whose step is the next; each sees the others' stores at once.
//!
//! ```
//! use cairn_emulator::{Machine, Privilege, Stop, encode, register::*};
//!
//! let mut machine = Machine::new();
//! machine.memory.add(0x8000_0000, 0x1000);
//! let program = [encode::addi(A0, A0, 2), encode::sd(A0, A1, 8)];
//! machine.memory.write(0x8000_0000, &encode::bytes(&program)).unwrap();
//! machine.program_counter = 0x8000_0000;
//! machine.set(A0, 40);
//! machine.set(A1, 0x8000_0100);
//!
//! assert_eq!(machine.run_until(0x8000_0008, 100), Stop::Address);
//! assert_eq!(machine.executed(), 2);
//! assert_eq!(machine.journal.writes.len(), 1, "nothing else was written");
//! assert_eq!(machine.memory.read_u64(0x8000_0108), Ok(42));
//! assert_eq!(machine.privilege, Privilege::Supervisor);
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod access;
mod arithmetic;
pub mod csr;
pub mod encode;
mod execute;
mod hart;
mod journal;
mod machine;
mod memory;
pub mod mmu;
mod space;
mod tlb;
mod trap;

pub use cairn_isa::riscv64::{compressed, decode, register};
pub use hart::Hart;
pub use journal::{Journal, UserRead, Write};
pub use machine::{Machine, Options, Step, Stop};
pub use memory::{Absent, Memory, PAGE_SIZE};
pub use space::{AddressSpace, Tables};
pub use tlb::{Caching, Fencing};
pub use trap::{Cause, Exception, Interrupt, Privilege, Trap};
