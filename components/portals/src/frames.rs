//! Invocation stacks: which portal code they name, and who is inside whom.

use cairn_abi::address::PORTAL_CODE;
use cairn_abi::thread::{BASE_FRAME, FRAME_RETURN, INVOCATION_LIMIT, THREAD_BLOCK_SIZE};
use cairn_portal::literal::{LITERAL_FRAME, LITERAL_MARK, LITERALS_SIZE, MARK_RETURN};

/// What a frame's return portal says of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Offset of the header of the frame below.
    pub below: u64,
    /// The domain that called.
    pub caller: u64,
    /// The domain that was called.
    pub callee: u64,
}

/// Offsets of the words of a thread block that may be the return address of a frame, when the topmost
/// one is at `top`.
pub fn below(top: u64) -> impl Iterator<Item = u64> {
    (BASE_FRAME as u64..=top.min(THREAD_BLOCK_SIZE - 8)).step_by(8)
}

/// Offsets of the words of a thread block that may be the return address of a call's frame.
pub fn offsets() -> impl Iterator<Item = u64> {
    (BASE_FRAME as u64..INVOCATION_LIMIT).step_by(8)
}

/// Reads the frame whose header is at `offset`, if a portal's return code leaves it and its caller
/// lives. `word` reads the thread block, `code` reads portal code by its offset in `size` bytes.
pub fn frame(
    offset: u64,
    size: u64,
    word: impl Fn(u64) -> u64,
    code: impl Fn(u64) -> u64,
) -> Option<Frame> {
    if offset < BASE_FRAME as u64 || offset >= INVOCATION_LIMIT {
        return None;
    }
    let back = word(offset.wrapping_add_signed(FRAME_RETURN)).wrapping_sub(PORTAL_CODE);
    if back < LITERALS_SIZE as u64 || back >= size || back % 16 != 0 {
        return None;
    }
    if code(back.wrapping_add_signed(LITERAL_MARK)) != MARK_RETURN {
        return None;
    }
    let facts = code(back.wrapping_add_signed(LITERAL_FRAME));
    let below = offset.checked_sub(facts & 0xffff_ffff)?;
    Some(Frame { below, caller: facts >> 32 & 0xffff, callee: facts >> 48 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_read_only_if_return_code_leaves_it() {
        let read = |back: u64, mark: u64| {
            frame(
                0x200,
                0x1000,
                move |offset| if offset == 0x200 { back } else { 0 },
                move |at| match at {
                    0xf8 => mark,
                    0x80 => 160 | 7 << 32 | 3 << 48,
                    _ => 0,
                },
            )
        };
        let expected = Frame { below: 0x200 - 160, caller: 7, callee: 3 };
        assert_eq!(read(PORTAL_CODE + 0x100, MARK_RETURN), Some(expected));
        assert_eq!(read(PORTAL_CODE + 0x100, 1), None);
        assert_eq!(read(PORTAL_CODE + 0x108, MARK_RETURN), None);
        assert_eq!(read(PORTAL_CODE + 0x1000, MARK_RETURN), None);
        assert_eq!(read(PORTAL_CODE + 0x10, MARK_RETURN), None);
        assert_eq!(read(0, MARK_RETURN), None);
    }
}
