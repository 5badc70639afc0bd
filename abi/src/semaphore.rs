//! The semaphore's layout, the same for every scheduler, because portal code works on it.
//!
//! A semaphore is two 64-bit signed words in the semaphore window
//! ([`crate::address::SEMAPHORES`]), writable by the scheduler and by portal code: its count and a level.
//!
//! - `n > 0`: `n` P operations will not block;
//! - `n <= 0`: `-n` threads wait. If exactly one waits, the level may be that thread's ([`level`]); else the level is
//!   [`LEVEL_NEVER`].
//!
//! P in portal code: if the count is positive, decrement it and return; else enter the scheduler,
//! which decrements it and blocks the thread. V: if the count is not negative, increment it and
//! return. If the level is not below the hart's [`NOTED_WORD`], waking that one thread would not change which thread runs:
//! set the count to zero, the hart's word to the semaphore's index, and return. Else enter the scheduler, which increments
//! the count and wakes the first waiter. All run with interrupts off, so on one hart they need no atomic instruction.
//!
//! The hart's word is negative while nothing is noted. The scheduler sets it so that a noted wake-up changes neither which
//! thread runs nor for how long. Whenever the scheduler is entered, it executes the noted wake-up before anything else. So at
//! most one wake-up is noted, and no thread can observe a difference to a wake-up that was executed at once.

use crate::address::SEMAPHORES;
use crate::domain::QUEUES_MAXIMUM;

/// Bytes of a semaphore: two words.
const SEMAPHORE_SIZE: u64 = 16;
/// Offset of the level from the count.
pub const SEMAPHORE_LEVEL: i64 = 8;
/// Most semaphores of a system.
pub const SEMAPHORES_MAXIMUM: usize = 1024;
/// Portals of whoever has one made, and of a lock.
pub const SEMAPHORE_PORTALS: u32 = 4;
pub const LOCK_PORTALS: u32 = 2;

/// The level of a class of threads: the more urgent the class, the smaller. 256 stands for no thread. All levels are
/// negative, as the hart's word is while nothing is noted.
pub const fn level(class: u16) -> i64 {
    class as i64 - 512
}
/// The level of a waiter whose wake-up is not to be noted.
pub const LEVEL_NEVER: i64 = level(0) - 1;

/// The words of a semaphore that does not exist: portal code always goes on to the scheduler. So the layout leaves all.
pub const CLOSED: [i64; 2] = [i64::MIN, LEVEL_NEVER];

/// Words at the window's beginning that are not used: the most used words of many pages lie at offset 0, and compete for
/// one set of a small cache.
pub const FIRST_WORD: usize = 0x600 / 8;

/// Most locks of a system.
pub const LOCKS_MAXIMUM: usize = 255;

/// Pairs of words: the hart's, then a semaphore's each.
pub const PAIRS: usize = 1 + SEMAPHORES_MAXIMUM;

/// Kernel address of the hart's word: the level from which on portal code notes a wake-up, or the semaphore of the
/// one that it noted. The second word of the pair is not used.
pub const NOTED_WORD: u64 = SEMAPHORES + FIRST_WORD as u64 * 8;

/// Kernel address of the count of semaphore `index`; its level follows.
pub const fn semaphore_word(index: usize) -> u64 {
    NOTED_WORD + (1 + index) as u64 * SEMAPHORE_SIZE
}

/// Kernel address of the word that counts the threads waiting for an activation of stack queue
/// `index`: the scheduler writes it, return portals read it and raise the software interrupt if it
/// is not zero. These words follow the semaphores'.
pub const fn waiters_word(index: usize) -> u64 {
    semaphore_word(SEMAPHORES_MAXIMUM) + index as u64 * 8
}

/// Words of the semaphore window.
pub const SEMAPHORE_WINDOW_WORDS: usize = FIRST_WORD + 2 * PAIRS + QUEUES_MAXIMUM;

/// Bytes of the semaphore window: all semaphores' and all queues' words.
pub const SEMAPHORE_WINDOW_SIZE: u64 = SEMAPHORE_WINDOW_WORDS as u64 * 8;
