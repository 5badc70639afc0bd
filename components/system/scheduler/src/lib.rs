//! The scheduler's core: which thread runs, which wait, for what and how long.
//!
//! A scheduler is a component that runs with interrupts off, from its start to its end, once per
//! call. Its glue passes on what the portal vouches for (the calling thread, the calling instance, the
//! time) and what the caller says, which may be anything; the core answers with an [`Outcome`]. No
//! operation waits, allocates, panics, or loops over something that a component controls without a
//! constant bound; the README lists the bounds.
//!
//! [`Scheduler`] is everything but the policy, which is a [`ReadyQueue`]: here [`FixedPriority`].
//!
//! Relaxed: semaphores' and waiters' words are changed by the scheduler and by portal code of its own hart, both with
//! interrupts off.
#![no_std]
#![forbid(unsafe_code)]

mod bitmap;
mod budgets;
mod classes;
#[cfg(target_os = "none")]
pub mod component;
mod domains;
mod faults;
pub mod heap;
mod inheritance;
mod locks;
mod machine;
mod notes;
mod pieces;
mod quota;
pub mod ready;
mod reclaim;
mod scheduler;
mod semaphores;
mod stacks;
mod succession;
mod supervision;
#[cfg(not(target_os = "none"))]
pub mod test_machine;
mod thread;
mod threads;
mod throttle;
mod time;
mod waits;
mod work;
mod worker;

pub use bitmap::Bitmap;
pub use faults::Fault;
pub use locks::{CHAIN_MAXIMUM, HELD_MAXIMUM, HELD_OF_INSTANCE, LOCKS, OWNER_ENDED, SHARES};
pub use machine::{Machine, Outcome, Start};
pub use pieces::PIECES_MAXIMUM;
pub use quota::Quota;
pub use ready::{FixedPriority, ReadyQueue};
pub use reclaim::SCAN_MAXIMUM;
pub use scheduler::{Configuration, Scheduler};
pub use semaphores::{INITIAL_MAXIMUM, SEMAPHORES};
pub use stacks::{LOOK_MAXIMUM, QUEUES};
pub use succession::{Estate, NOBODY, Order};
pub use thread::{Handle, IDLE, Links, State, Thread, ThreadIndex, Threads};
pub use throttle::BUDGETS;
pub use work::PACE;

#[cfg(test)]
mod domain_tests;
#[cfg(test)]
mod lock_tests;
#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod noted_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod throttle_tests;
#[cfg(test)]
mod time_tests;
