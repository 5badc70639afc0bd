//! What the judge of the campaign and the actors tell each other, in the section `course`.
#![no_std]
#![forbid(unsafe_code)]

use cairn::environment;
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// What an actor's thread is about. What is added here the judge counts too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Operation {
    /// Between two of the others.
    Nothing,
    /// Has a package loaded.
    Load,
    /// Has what it loaded unloaded.
    Unload,
    /// Puts an interposer before itself.
    Wrap,
    /// Takes it away.
    Unwrap,
    /// Passes an object on, to one who passes it on.
    Pass,
    /// Takes it back.
    TakeBack,
    /// Makes, shares, accepts and drops sections, takes pages and gives them back.
    Map,
    /// Misses pages of a section with a pager.
    Miss,
}

impl Operation {
    /// All of them.
    pub const ALL: [Operation; 9] = [
        Operation::Nothing,
        Operation::Load,
        Operation::Unload,
        Operation::Wrap,
        Operation::Unwrap,
        Operation::Pass,
        Operation::TakeBack,
        Operation::Map,
        Operation::Miss,
    ];
}

/// Threads of an actor that operate.
pub const THREADS: usize = 3;
/// Actors.
pub const ACTORS: usize = 2;

const SEED: usize = 0;
const SECTION: usize = 1;
const DOES: usize = 2;
/// How often each actor was started in this round.
const LIVES: usize = DOES + THREADS * ACTORS;
/// How often each operation came to a good end.
const DONE: usize = LIVES + ACTORS;

fn word(number: usize) -> &'static AtomicI64 {
    let count = DONE + Operation::ALL.len();
    &environment::section("course").expect("the description has it").words(count)[number]
}

/// The number from which all that is done in this round follows.
pub fn seed() -> u64 {
    word(SEED).load(Relaxed) as u64
}

/// Begins a round.
pub fn set_seed(seed: u64) {
    word(SEED).store(seed as i64, Relaxed);
    (0..ACTORS).for_each(|actor| word(LIVES + actor).store(0, Relaxed));
}

/// An actor begins: how often it did in this round before.
pub fn live(actor: usize) -> u64 {
    word(LIVES + actor).fetch_add(1, Relaxed) as u64
}

/// The section that an actor made last.
pub fn section() -> u64 {
    word(SECTION).load(Relaxed) as u64
}

/// An actor made this section.
pub fn set_section(address: u64) {
    word(SECTION).store(address as i64, Relaxed);
}

/// A thread of an actor, by its number in its actor, is about this.
pub fn begin(actor: usize, thread: usize, operation: Operation) {
    word(DOES + actor * THREADS + thread).store(operation as i64, Relaxed);
}

/// What it is about.
pub fn current(actor: usize, thread: usize) -> Operation {
    let number = word(DOES + actor * THREADS + thread).load(Relaxed);
    *Operation::ALL.get(number as usize).unwrap_or(&Operation::Nothing)
}

/// An operation succeeded.
pub fn succeeded(operation: Operation) {
    word(DONE + operation as usize).fetch_add(1, Relaxed);
}

/// How often it did.
pub fn successes(operation: Operation) -> u64 {
    word(DONE + operation as usize).load(Relaxed) as u64
}
