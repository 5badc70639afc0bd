//! What is different in the nucleus on a machine whose address-space identifiers do not tell domains apart. The
//! host tool writes it into the nucleus that it places, the tests into theirs.

use cairn_abi::address::{PAGE_SIZE, WINDOW_MAXIMUM};

/// `addi zero, zero, 0`.
const NOP: u32 = 0x13;
/// Fences of a window's pages, and the distance of their instructions (`window.S`).
const WINDOW_FENCES: usize = (WINDOW_MAXIMUM / PAGE_SIZE) as usize;
const WINDOW_FENCE_STRIDE: u64 = 16;

/// `jal zero, distance`; the distance is at most 2 KiB and forward.
const fn jump_forward(distance: u64) -> u32 {
    assert!(distance < 2048 && distance.is_multiple_of(4));
    (distance as u32) << 20 | 0x6f
}

/// Instructions with the addresses at which they stand in the nucleus, whose symbols `symbol` finds: the trap return
/// jumps to its fence, from the place that it keeps for that; and since every switch fences all that the page of a
/// window needs, closing one does not.
pub fn changes<E>(
    symbol: impl Fn(&str) -> Result<u64, E>,
) -> Result<[(u64, u32); 1 + WINDOW_FENCES], E> {
    let place = symbol("trap_return_fence")?;
    let jump = jump_forward(symbol("trap_return_fence_domains")? - place);
    let first = symbol("window_fence")?;
    Ok(core::array::from_fn(|index| match index.checked_sub(1) {
        None => (place, jump),
        Some(page) => (first + page as u64 * WINDOW_FENCE_STRIDE, NOP),
    }))
}
