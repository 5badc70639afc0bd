//! The ring of this instance.
#![allow(unsafe_code)]

use super::Level;
use super::ring::Ring;
use crate::environment::region;
use crate::text::Lines;
use cairn_abi::address::LOG_OFFSET;
use cairn_abi::log::{LEVEL, SIZE, TARGET_MAXIMUM, TEXT_MAXIMUM};
use core::fmt::{Arguments, Write};
// Relaxed: a level that changes meanwhile is that of before or after, and the size never changes.
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Its first word.
#[inline(always)]
fn first() -> *const AtomicI64 {
    (region() + LOG_OFFSET) as *const AtomicI64
}

#[inline(always)]
fn word(number: usize) -> i64 {
    // SAFETY: the host tool maps a page there before the first instruction, for good. Others may write it, as atomics allow.
    unsafe { (*first().add(number)).load(Relaxed) }
}

/// The number of the last level that is written.
#[inline(always)]
pub(super) fn level() -> u64 {
    word(LEVEL) as u64
}

pub(super) fn write(level: Level, target: &str, text: Arguments) {
    // SAFETY: the host tool maps as much, writable, and says so there. Nothing of this component writes it but a `Ring`, which
    // does not write this word; without a ring, it is zero. Others write atomics, as here.
    let words = unsafe { core::slice::from_raw_parts(first(), word(SIZE) as usize) };
    let Some(ring) = Ring::new(words) else { return };
    let mut lines = Lines::<{ TEXT_MAXIMUM - TARGET_MAXIMUM }, _>::new(|line: &str| {
        let time = crate::time::counter();
        ring.write(level as u8, target.as_bytes(), line.trim_end_matches('\n').as_bytes(), time);
    });
    // Lines take any text.
    let _ = lines.write_fmt(text);
    lines.flush();
}
