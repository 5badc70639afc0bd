//! Copying to and from memory that another thread may write at the same time.
//!
//! Every access is volatile: the compiler neither repeats nor invents one, and assumes nothing from earlier ones. Words are
//! used where both sides have the same alignment.
#![allow(unsafe_code)]

use core::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

const WORD: usize = size_of::<u64>();

/// Copies from `source` on into `target`. `source` must lie in a window that is open.
pub(super) fn copy_in(source: usize, target: &mut [u8]) {
    let alike = (source ^ target.as_ptr().addr()).is_multiple_of(WORD);
    let before = if alike { source.wrapping_neg() % WORD } else { target.len() };
    let (head, rest) = target.split_at_mut(before.min(target.len()));
    bytes_in(source, head);
    let (words, tail) = rest.as_chunks_mut::<WORD>();
    let source = source + head.len();
    for (index, word) in words.iter_mut().enumerate() {
        let address = source + index * WORD;
        let word: *mut [u8; WORD] = word;
        // SAFETY: the window covers these eight bytes; `word` is eight bytes of `target`; both are aligned, because they
        // are aligned alike and `head` ends where a word begins: else there are none.
        unsafe {
            word.cast::<u64>().write(with_exposed_provenance::<u64>(address).read_volatile())
        };
    }
    bytes_in(source + words.len() * WORD, tail);
}

/// The same byte by byte.
fn bytes_in(source: usize, target: &mut [u8]) {
    for (index, byte) in target.iter_mut().enumerate() {
        // SAFETY: the window covers this byte.
        *byte = unsafe { with_exposed_provenance::<u8>(source + index).read_volatile() };
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
