//! Copying to and from memory that another thread may write at the same time.
//!
//! Every access is volatile: one routine in assembly makes it (`arch/riscv64/copy.S`).
#![allow(unsafe_code)]

use crate::Error;
#[cfg(target_os = "none")]
use crate::arch::copy::copy;
use crate::section::Section;

/// On the host, where nobody else writes.
#[cfg(not(target_os = "none"))]
unsafe fn copy(to: usize, from: usize, length: usize) -> usize {
    use core::ptr::{copy_nonoverlapping, with_exposed_provenance, with_exposed_provenance_mut};
    let (from, to) = (with_exposed_provenance::<u8>(from), with_exposed_provenance_mut(to));
    // SAFETY: the caller's.
    unsafe { copy_nonoverlapping(from, to, length) };
    length
}

/// Copies from `source` on into `target`; how many bytes. `source` must lie in a window that is open, or in a section.
pub(crate) fn copy_in(source: usize, target: &mut [u8]) -> Result<usize, Error> {
    // SAFETY: the window covers as many bytes as `target` has, and is not the component's own memory.
    whole(target.len(), unsafe {
        copy(target.as_mut_ptr().expose_provenance(), source, target.len())
    })
}

/// Copies `source` to `target` on; how many bytes. `target` must lie in a writable window that is open, or in a writable section.
pub(crate) fn copy_out(target: usize, source: &[u8]) -> Result<usize, Error> {
    // SAFETY: the window covers as many bytes as `source` has, is writable, and is not the component's own memory.
    whole(source.len(), unsafe { copy(target, source.as_ptr().expose_provenance(), source.len()) })
}

/// Copies `count` bytes from `source` on, which must lie in a window that is open, to a section.
pub(super) fn copy_to_section(
    section: &Section,
    to: usize,
    source: usize,
    count: usize,
) -> Result<(), Error> {
    let target = section.part(to, count);
    assert!(target.is_writable(), "the section is read-only");
    // SAFETY: the window covers as many bytes; the section is mapped and writable, and others than this thread may write it
    // anyway.
    whole(count, unsafe { copy(target.address(), source, count) }).map(drop)
}

/// Copies `count` bytes of a section to `target` on, which must lie in a writable window that is open.
pub(super) fn copy_from_section(
    target: usize,
    section: &Section,
    from: usize,
    count: usize,
) -> Result<(), Error> {
    let source = section.part(from, count);
    // SAFETY: the section is mapped; the window covers as many bytes and is writable.
    whole(count, unsafe { copy(target, source.address(), count) }).map(drop)
}

/// Copies `count` bytes between sections.
pub(crate) fn copy_between(
    target: &Section,
    to: usize,
    source: &Section,
    from: usize,
    count: usize,
) {
    let (target, source) = (target.part(to, count), source.part(from, count));
    assert!(target.is_writable(), "the section is read-only");
    // SAFETY: both are mapped, the target is writable, and others than this thread may write them anyway.
    unsafe { copy(target.address(), source.address(), count) };
}

/// The routine copies all, or the caller has not passed memory of its own.
fn whole(length: usize, copied: usize) -> Result<usize, Error> {
    if copied == length { Ok(length) } else { Err(Error::BadPointer) }
}
