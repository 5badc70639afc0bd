//! The ring of this instance.
#![allow(unsafe_code)]

use super::Level;
use super::ring::Ring;
use crate::environment::{region, startup};
use crate::text::Lines;
use cairn_abi::address::LOG_OFFSET;
use cairn_abi::log::{LEVEL, TARGET_MAXIMUM, TEXT_MAXIMUM};
use core::fmt::{Arguments, Write};
// Relaxed: a level that changes meanwhile is that of before or after.
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Its first word.
#[inline(always)]
fn first() -> *const AtomicI64 {
    (region() + LOG_OFFSET) as *const AtomicI64
}

/// The number of the last level that is written.
#[inline(always)]
pub(super) fn level() -> u64 {
    // SAFETY: the host tool maps a page there before the first instruction, for good. Others may write it, as atomics allow.
    unsafe { (*first().add(LEVEL)).load(Relaxed) as u64 }
}

pub(super) fn write(level: Level, target: &str, text: Arguments) {
    // SAFETY: the host tool maps as many words, writable, and says so in the startup page, which nobody writes. Nothing of this
    // component writes them but a `Ring`, and others write atomics, as here.
    let words = unsafe { core::slice::from_raw_parts(first(), startup().log_words as usize) };
    let Some(ring) = Ring::new(words) else { return };
    let mut lines = Lines::<{ TEXT_MAXIMUM - TARGET_MAXIMUM }, _>::new(|line: &str| {
        let time = crate::time::counter();
        ring.write(level as u8, target.as_bytes(), line.trim_end_matches('\n').as_bytes(), time);
    });
    // Lines take any text.
    let _ = lines.write_fmt(text);
    lines.flush();
}
