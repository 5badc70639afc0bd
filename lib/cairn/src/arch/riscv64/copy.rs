//! The copy routine, which is also C's.
#![allow(unsafe_code)]

use core::arch::{asm, global_asm};

global_asm!(include_str!("copy.S"));

unsafe extern "C" {
    /// Rust never calls this by the C convention: it changes fewer registers.
    fn cairn_copy();
}

/// Copies `length` bytes from `from` on to `to` on, and returns how many: none, if the component runs in the kernel domain
/// and one side is not the caller's to read or write. The compiler neither repeats nor leaves out a part of it, and
/// assumes nothing of either side.
///
/// # Safety
/// As for `core::ptr::copy_nonoverlapping`, but that another domain may write either side meanwhile.
#[inline(always)]
pub(crate) unsafe fn copy(to: usize, from: usize, length: usize) -> usize {
    let copied;
    // SAFETY: the caller's; the routine touches nothing else. The asm is a memory barrier, since it is not `nomem`.
    unsafe {
        asm!(
            "call {copy}",
            copy = sym cairn_copy,
            inlateout("a0") to => copied,
            inlateout("a1") from => _,
            in("a2") length,
            lateout("a3") _,
            lateout("ra") _,
            lateout("t0") _,
            lateout("t1") _,
            lateout("t2") _,
            lateout("t3") _,
            lateout("t4") _,
            lateout("t5") _,
            lateout("t6") _,
        );
    }
    copied
}
