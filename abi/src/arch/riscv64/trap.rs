//! Traps (privileged manual, chapter 4): `scause` and `stval` as [`Fault`] and [`Upcall`], and what a trap frame holds.

use crate::domain::UPCALL_ENTRIES;
use crate::upcall::{Access, Fault, Upcall};

/// `sstatus` of a thread that begins (section 4.1.1): user mode, of 64 bits; no floating point, no user memory for the
/// supervisor.
pub const USER_STATUS: u64 = 2 << 32;

/// Bits of `sstatus` (section 4.1.1): interrupts are taken in privileged mode; they were, before a trap from there.
pub const SSTATUS_SIE: u64 = 1 << 1;
pub const SSTATUS_SPIE: u64 = 1 << 5;
/// The trap came from privileged mode, or `sret` leaves to it.
pub const SSTATUS_SPP: u64 = 1 << 8;
/// Privileged mode may access user memory.
pub const SSTATUS_SUM: u64 = 1 << 18;

/// The floating-point unit: off if all bits are zero, dirty if they are all set.
pub const SSTATUS_FS: u64 = 3 << 13;
/// The upper one of them, which is set whenever it is on but before its first use: nothing leaves it so.
pub const SSTATUS_FS_BIT: u64 = 14;
/// It is on, and nothing was written since this was.
pub const SSTATUS_FS_CLEAN: u64 = 2 << 13;

/// `sstatus` of a thread that begins in the kernel domain.
pub const KERNEL_STATUS: u64 = USER_STATUS | SSTATUS_SPP | SSTATUS_SPIE;

/// From where a component in the kernel domain returns to: where a call from a domain enters it, and one inside the kernel domain
/// that on its way back only takes the frame off.
pub const KERNEL_ENTER: i64 = -8;
pub const KERNEL_ENTER_INSIDE: i64 = 12;

/// From the table: the entry of exception 0, behind which the others follow. A cause has four bits there.
pub const EXCEPTION_ENTRIES: i64 = UPCALL_ENTRIES;
/// From the table: the entry of interrupt 0.
pub const INTERRUPT_ENTRIES: i64 = UPCALL_ENTRIES + 16 * 8;

/// Causes of loads and stores that cannot be done. Those of an instance in the kernel domain have an entry of their own, which
/// goes on with [`FAULT_ENTRY`] if its copy routine did not ask for it.
pub const ACCESS_FAULTS: [u8; 4] = [5, 7, 13, 15];
/// From the table: the entry of an illegal instruction, by way of all other faults.
pub const FAULT_ENTRY: i64 = EXCEPTION_ENTRIES + 2 * 8;

/// From the table: the entry of an instruction at a misaligned address, by way of all faults but the illegal instructions of a
/// domain that may use the floating-point unit, whose entry comes first.
pub const UNKNOWN_ENTRY: i64 = EXCEPTION_ENTRIES;
/// Causes of page faults: an entry of the domain each, which lead to one portal where a range has a pager.
pub const PAGE_FAULTS: [u8; 3] = [12, 13, 15];
/// The cause of a page missed by who executes it.
pub const FETCH_PAGE_FAULT: u64 = 12;
/// The cause of an illegal instruction.
pub const ILLEGAL: u8 = 2;

/// Cause of a wait for a stack: that of the `ecall`, which the thread executes again afterwards.
pub const STACK_WAIT: u64 = 8;

/// The entries of a domain that lead to an upcall: an exception's cause, or an interrupt's and 16.
pub const fn slots(upcall: Upcall) -> &'static [u8] {
    match upcall {
        Upcall::Fault => &[0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15],
        Upcall::StackWait => &[STACK_WAIT as u8],
        Upcall::Software => &[16 + 1],
        Upcall::Timer => &[16 + 5],
        Upcall::External => &[16 + 9],
    }
}

/// What an exception with this cause and value is (table 4.2).
pub const fn fault(cause: u64, value: u64) -> Fault {
    match cause {
        0 => Fault::Misaligned(Access::Execute, value),
        1 => Fault::Absent(Access::Execute, value),
        2 if is_floating_point(value as u32) => Fault::FloatingPoint,
        2 => Fault::Illegal,
        3 => Fault::Breakpoint,
        4 => Fault::Misaligned(Access::Read, value),
        5 => Fault::Absent(Access::Read, value),
        6 => Fault::Misaligned(Access::Write, value),
        7 => Fault::Absent(Access::Write, value),
        FETCH_PAGE_FAULT => Fault::Denied(Access::Execute, value),
        13 => Fault::Denied(Access::Read, value),
        15 => Fault::Denied(Access::Write, value),
        _ => Fault::Other(cause),
    }
}

/// Whether this is an instruction of the extensions F and D (unprivileged manual, chapters 20, 21 and 26), or of their control
/// register. The firmware passes an illegal instruction on as the trap's value; what does not is zero, which is none.
const fn is_floating_point(instruction: u32) -> bool {
    let function = instruction >> 12 & 7;
    match instruction & 0x7f {
        0x07 | 0x27 => function == 2 || function == 3,
        // Of single and double precision.
        0x43 | 0x47 | 0x4b | 0x4f | 0x53 => instruction >> 25 & 3 < 2,
        0x73 => function & 3 != 0 && matches!(instruction >> 20, 1..=3),
        // Compressed loads and stores, also by the stack pointer.
        _ if instruction & 3 == 0 || instruction & 3 == 2 => matches!(instruction >> 13 & 7, 1 | 5),
        _ => false,
    }
}

/// Of a new thread: its return address, stack pointer and argument, for [`trap_register`](crate::thread::trap_register).
pub const RETURN_REGISTER: i64 = 1;
pub const STACK_REGISTER: i64 = 2;
/// In the kernel domain: the topmost frame.
pub const FRAME_REGISTER: i64 = 4;
pub const ARGUMENT_REGISTER: i64 = 10;

/// At the breakpoint of a panic ([`crate::startup::PANIC_MARK`]): the mark in `t0`, where the message is in `a0`, its bytes in `a1`.
pub const PANIC_MARK_REGISTER: i64 = 5;
pub const PANIC_MESSAGE_REGISTER: i64 = 10;
pub const PANIC_LENGTH_REGISTER: i64 = 11;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_of_floating_point_are_told_from_others() {
        let is_it = |instruction| matches!(fault(2, instruction), Fault::FloatingPoint);
        for (instruction, text) in [
            (0x02a5_7553, "fadd.d fa0, fa0, fa0"),
            (0x1ab5_7553, "fdiv.d fa0, fa0, fa1"),
            (0xd225_7553, "fcvt.d.l fa0, a0"),
            (0xf205_0553, "fmv.d.x fa0, a0"),
            (0x0005_3507, "fld fa0, 0(a0)"),
            (0x00a5_a027, "fsw fa0, 0(a1)"),
            (0x62c5_f543, "fmadd.d fa0, fa1, fa2, fa2"),
            (0x0030_2573, "frcsr a0"),
            (0x0020_d073, "csrwi frm, 1"),
            (0x2108, "c.fld fa0, 0(a0)"),
            (0xa82a, "c.fsdsp fa0, 16(sp)"),
        ] {
            assert!(is_it(instruction), "{text}");
        }
        for (instruction, text) in [
            (0, "no instruction, or one that is not known"),
            (0x1050_0073, "wfi"),
            (0x1000_2573, "csrr a0, sstatus"),
            (0x0205_5007, "vle16.v v0, (a0)"),
            (0x06a5_7553, "fadd.q fa0, fa0, fa0"),
            (0xffff_ffff, "none"),
            (0x3020_0073, "mret"),
        ] {
            assert!(!is_it(instruction), "{text}");
        }
    }
}
