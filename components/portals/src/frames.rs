//! Words of invocation stacks that may name portal code.

use cairn_abi::thread::{BASE_FRAME, INVOCATION_LIMIT, THREAD_BLOCK_SIZE};

/// Offsets of the words of a thread block that may be the return address of a frame, when the topmost
/// one is at `top`.
pub fn below(top: u64) -> impl Iterator<Item = u64> {
    (BASE_FRAME as u64..=top.min(THREAD_BLOCK_SIZE - 8)).step_by(8)
}

/// Offsets of the words of a thread block that may be the return address of a call's frame.
pub fn offsets() -> impl Iterator<Item = u64> {
    (BASE_FRAME as u64..INVOCATION_LIMIT).step_by(8)
}
