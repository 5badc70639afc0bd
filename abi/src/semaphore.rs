//! The semaphore's layout, the same for every scheduler, because portal code works on it.
//!
//! A semaphore is one 64-bit signed word in the semaphore window
//! ([`crate::address::SEMAPHORES`]), writable by the scheduler and by portal code:
//!
//! - `n > 0`: `n` P operations will not block;
//! - `n <= 0`: `-n` threads wait.
//!
//! P in portal code: if the word is positive, decrement it and return; else enter the scheduler,
//! which decrements it and blocks the thread. V: if the word is not negative, increment it and
//! return; else enter the scheduler, which increments it and wakes the first waiter. Both run with
//! interrupts off, so on one hart they need no atomic instruction.

use crate::address::SEMAPHORES;
use crate::domain::QUEUES_MAXIMUM;

/// Bytes of a semaphore word.
pub const SEMAPHORE_SIZE: u64 = 8;
/// Most semaphores of a system.
pub const SEMAPHORES_MAXIMUM: usize = 1024;

/// Words before the first semaphore's, which nothing uses: the most used words of many pages begin at offset
/// 0, so these would compete with them for one set of a small cache.
pub const FIRST_WORD: usize = 0x600 / 8;

/// Most locks of a system.
pub const LOCKS_MAXIMUM: usize = 255;

/// Kernel address of the word of semaphore `index`.
pub const fn semaphore_word(index: usize) -> u64 {
    SEMAPHORES + (FIRST_WORD + index) as u64 * SEMAPHORE_SIZE
}

/// Kernel address of the word that counts the threads waiting for an activation of stack queue
/// `index`: the scheduler writes it, return portals read it and raise the software interrupt if it
/// is not zero. These words follow the semaphores'.
pub const fn waiters_word(index: usize) -> u64 {
    semaphore_word(SEMAPHORES_MAXIMUM) + index as u64 * SEMAPHORE_SIZE
}

/// Words of the semaphore window.
pub const SEMAPHORE_WINDOW_WORDS: usize = FIRST_WORD + SEMAPHORES_MAXIMUM + QUEUES_MAXIMUM;

/// Bytes of the semaphore window: all semaphores' and all queues' words.
pub const SEMAPHORE_WINDOW_SIZE: u64 = SEMAPHORE_WINDOW_WORDS as u64 * SEMAPHORE_SIZE;
