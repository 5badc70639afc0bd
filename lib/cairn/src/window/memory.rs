//! Copying to and from memory that another thread may write at the same time.
//!
//! Every access is volatile, so the compiler neither repeats nor invents one, and assumes nothing
//! of what it found before. Words are used where both sides are aligned alike.
#![allow(unsafe_code)]

use core::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

const WORD: usize = size_of::<u64>();

/// Copies from `source` on into `target`. `source` must lie in a window that is open.
pub(super) fn copy_in(source: usize, target: &mut [u8]) {
    let mut index = 0;
    let alike = (source ^ target.as_ptr().addr()).is_multiple_of(WORD);
    while index < target.len() {
        let address = source + index;
        if alike && address.is_multiple_of(WORD) && target.len() - index >= WORD {
            let part: *mut [u8] = &mut target[index..index + WORD];
            // SAFETY: the window covers these eight bytes; `part` is eight bytes of `target`; both
            // are aligned, because they are aligned alike.
            unsafe {
                part.cast::<u64>().write(with_exposed_provenance::<u64>(address).read_volatile())
            };
            index += WORD;
        } else {
            // SAFETY: the window covers this byte.
            target[index] = unsafe { with_exposed_provenance::<u8>(address).read_volatile() };
            index += 1;
        }
    }
}

/// Copies `source` to `target` on. `target` must lie in a writable window that is open.
pub(super) fn copy_out(target: usize, source: &[u8]) {
    let mut index = 0;
    let alike = (target ^ source.as_ptr().addr()).is_multiple_of(WORD);
    while index < source.len() {
        let address = target + index;
        if alike && address.is_multiple_of(WORD) && source.len() - index >= WORD {
            let part: *const [u8] = &source[index..index + WORD];
            // SAFETY: the window covers these eight bytes and is writable; `part` is eight bytes of
            // `source`; both are aligned, because they are aligned alike.
            unsafe {
                with_exposed_provenance_mut::<u64>(address)
                    .write_volatile(part.cast::<u64>().read())
            };
            index += WORD;
        } else {
            // SAFETY: the window covers this byte and is writable.
            unsafe { with_exposed_provenance_mut::<u8>(address).write_volatile(source[index]) };
            index += 1;
        }
    }
}
