//! The thread block: a page per thread that only privileged code can write.
//!
//! ```text
//! 0x38    thread fields (FIELD_*)
//! 0x58    invocation stack, growing up: base frame (see base_frame), frames
//! 0x800   no frame's header, but for one of a call of the portal manager, of one of who runs to completion, and of traps above them
//! 0x1000
//! ```
//!
//! While a thread runs, `sscratch` holds the address of its topmost frame's *header*. A frame's
//! saved state lies *below* its header, so the space above the header is always free: for the
//! scratch of the trap entry, for a trap frame, for the next frame.

use crate::address::{PAGE_SIZE, THREADS};

/// Bytes in a thread block.
pub const THREAD_BLOCK_SIZE: u64 = PAGE_SIZE;
/// Most threads of a system.
pub const THREADS_MAXIMUM: usize = 256;
/// Bits of a thread's name that are its index; above them is its generation.
pub const NAME_INDEX_BITS: u32 = 8;
const _: () = assert!(THREADS_MAXIMUM <= 1 << NAME_INDEX_BITS);
/// The index in the name of a thread.
pub const fn index_of_name(name: u64) -> u64 {
    name & ((1 << NAME_INDEX_BITS) - 1)
}
/// A frame's header must begin below this offset of the block, or the call overflows, but for that of a call of who runs to completion:
/// it is the last one. Of a call of the portal manager that is said of the caller's own frame. It is a power of two so that portal code
/// tests one bit.
pub const INVOCATION_LIMIT: u64 = 0x800;
/// The bit of a frame address that tells overflow.
pub const INVOCATION_LIMIT_BIT: u32 = 11;
/// Bytes by which a call of who runs to completion moves the frame pointer at most: that of a caller in the kernel domain, with the
/// call's time. The generator of portals compares this with what it makes.
pub const LAST_FRAME: i64 = FRAME_HEADER + 18 * 8 + 16;
/// Bytes by which a call of the portal manager moves the frame pointer at most: three windows, what a caller in the kernel domain saves,
/// and the call's time.
pub const MANAGER_FRAME: i64 = FRAME_HEADER + 3 * 16 + 18 * 8 + 16;
/// Behind what no frame of a block reaches, from the block: the last header, a call of the portal manager, one of who runs to completion,
/// a trap in that one, and what the trap entry notes above it.
pub const INVOCATION_END: i64 =
    INVOCATION_LIMIT as i64 - 8 + MANAGER_FRAME + LAST_FRAME + TRAP_FRAME + FRAME_SCRATCH + 3 * 8;

/// Frame header: address of the return portal's code that leaves this frame.
pub const FRAME_RETURN: i64 = 0;
/// Frame header: portal table of the domain that runs above this frame (the callee).
pub const FRAME_TABLE: i64 = 8;
/// Frame header: the caller's return address.
pub const FRAME_RA: i64 = 16;
/// Frame header: the activation (descriptor address) that the call took, if its
/// specification takes one; else not written.
pub const FRAME_ACTIVATION: i64 = 24;
/// Bytes in a frame header.
pub const FRAME_HEADER: i64 = 32;
/// First of three scratch words above the header: in the first two the trap entry saves `t1` and `t2`, where a trap
/// frame above this one has these registers.
pub const FRAME_SCRATCH: i64 = TRAP_FRAME + trap_register(6);
const _: () = assert!(FRAME_SCRATCH == FRAME_HEADER && trap_register(7) == trap_register(6) + 8);

/// Bytes of register state in a trap frame, below its header: x1 to x31 and the four words that follow here.
pub const TRAP_STATE: i64 = 35 * 8;
/// Bytes by which a trap moves the frame pointer.
pub const TRAP_FRAME: i64 = FRAME_HEADER + TRAP_STATE;
/// Offset from a trap frame's header of register `x<number>` (1 to 31), in this order but that `x6` and `x7`, which the
/// trap entry saves first, have the places of `x1` and `x2`.
pub const fn trap_register(number: i64) -> i64 {
    let place = match number {
        1 | 2 => number + 5,
        6 | 7 => number - 5,
        _ => number,
    };
    (place - 1) * 8 - TRAP_STATE
}
/// Of the first place.
pub const TRAP_STATE_X: i64 = -TRAP_STATE;
/// Offset from a trap frame's header of `sstatus`: where and how the thread goes on. Only the nucleus and the layout
/// write it.
pub const TRAP_STATUS: i64 = -32;
/// Offset from a trap frame's header of `sie`: by which interrupts the thread can be interrupted when it goes on.
pub const TRAP_INTERRUPTS: i64 = -24;
/// Offset from a trap frame's header of `sepc`.
pub const TRAP_SEPC: i64 = -16;
/// Offset from a trap frame's header of the space that was left.
pub const TRAP_SPACE: i64 = -8;

/// Bytes by which a call inside the kernel domain moves the frame pointer: below the header lie the twelve registers that the C
/// convention preserves, the stack pointer, and the call's time.
pub const KERNEL_CALL_FRAME: i64 = FRAME_HEADER + 14 * 8;

/// Bytes by which a fault of a range moves the frame pointer, above the trap's: below the header lie the address, the cause, and where the
/// page-table entry is.
pub const FAULT_FRAME: i64 = FRAME_HEADER + 4 * 8;
/// The bits of a cause in the frame of a fault that goes to an interposer: above [`FAULT_LIFE_SHIFT`] lies the client's life.
pub const FAULT_CAUSES: i64 = 15;
/// See [`FAULT_CAUSES`].
pub const FAULT_LIFE_SHIFT: i64 = 8;

/// Stack pointer with which the thread next enters an instance in the kernel domain.
pub const FIELD_KERNEL_STACK: i64 = 0x38;
/// The topmost frame's header while the thread does not run; zero: the thread does not exist.
pub const FIELD_FRAME: i64 = 0x40;
/// Domain in which the thread began.
pub const FIELD_DOMAIN: i64 = 0x48;
/// Raised whenever the thread number is used again.
pub const FIELD_GENERATION: i64 = 0x50;

/// Offset of the header of the base frame in the block of thread `index`. The frames of threads whose indexes follow
/// each other begin two lines of a cache apart: a thread that calls the scheduler uses four lines, and in a cache of
/// 4 KiB a way the same ones of every block would compete for the same four sets.
pub const fn base_frame(index: usize) -> i64 {
    0x58 + (index % 4 * 0x80) as i64
}

/// The bit above a thread's index in the addresses of its block: portals find the index by two shifts.
pub const THREAD_INDEX_TOP: u32 = (THREADS_MAXIMUM as u64 * PAGE_SIZE).ilog2();
const _: () = assert!(THREADS.is_multiple_of(1 << THREAD_INDEX_TOP));
const _: () = assert!(THREADS_MAXIMUM.is_power_of_two());

/// The number of the first block's page, with the address' sign.
pub const THREADS_PAGE: i64 = THREADS as i64 >> PAGE_SIZE.ilog2();

/// Address of the block of thread `index`.
pub const fn thread_block(index: usize) -> u64 {
    THREADS + index as u64 * THREAD_BLOCK_SIZE
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A way of a small cache, and its lines.
    const WAY: i64 = 4096;
    const LINE: i64 = 64;
    /// Lines of a thread that calls the scheduler: its base frame, the registers that the call saves, the call's frame.
    const LINES: i64 = 4;

    #[test]
    fn frames_of_eight_threads_fit_into_a_cache_of_four_ways() {
        let mut used = [0; (WAY / LINE) as usize];
        for index in 0..8 {
            let first = base_frame(index) / LINE;
            (first..first + LINES).for_each(|line| used[line as usize] += 1);
        }
        assert_eq!(used.iter().max(), Some(&4));
    }

    #[test]
    fn fields_lie_below_every_base_frame() {
        for index in 0..THREADS_MAXIMUM {
            assert!((FIELD_GENERATION + 8..0x200).contains(&base_frame(index)));
            assert_eq!(base_frame(index) % 8, 0);
        }
    }
}
