//! Who has the floating-point unit.
//!
//! A hart has one set of floating-point registers. It belongs to one *activation* of a component that says `float = "hard"`: what
//! the base frame of a thread that began in it, or the frame of a call into it, stands for. The owner is the address of that
//! frame's header; wherever the owner runs, the unit may be on, elsewhere it is off; a process owns it by its carrier's process
//! frame, with a cell beside that one's status page, and the unit may be on while its server runs, too. The registers of every other activation that
//! has used the unit are in its *cell*: directly below the header of a call's frame, at the end of the thread's block for the base
//! frame. Nobody but the nucleus reads a cell, or a register of who is not running.

use crate::thread::THREAD_BLOCK_SIZE;

/// Bytes of a cell, which ends where these offsets begin: registers `f0` to `f31`, the control register, the state.
pub const FLOAT_CELL: i64 = 34 * 8;
/// From a cell's end: the first register.
pub const FLOAT_REGISTERS: i64 = -FLOAT_CELL;
/// What a program has in the unit, in words: these and the control register.
pub const FLOAT_WORDS: usize = 33;
/// From a cell's end: `fcsr`.
pub const FLOAT_CONTROL: i64 = -16;
/// From a cell's end: zero until its activation's registers are saved (what else is there is somebody's before it); negative if
/// it was interrupted then, and all are in it.
pub const FLOAT_STATE: i64 = -8;
/// It had called: those are in it that the C convention preserves. It finds zero in the others.
pub const FLOAT_PRESERVED: i64 = 1;

/// From a thread's block: the end of the cell of its base frame. No frame reaches so far.
pub const FLOAT_BASE_CELL: i64 = THREAD_BLOCK_SIZE as i64;

/// The hart's words: the owner, zero if there is none...
pub const FLOAT_OWNER: i64 = 0;
/// ... and a negative number if the owner's cell is older than its registers, which it is when there is no cell that was
/// written yet.
pub const FLOAT_OLDER: i64 = 8;
/// ... and where that cell ends.
pub const FLOAT_OWNER_CELL: i64 = 16;

const _: () = assert!(
    crate::thread::INVOCATION_END <= FLOAT_BASE_CELL - FLOAT_CELL,
    "no frame reaches into the base frame's cell"
);
