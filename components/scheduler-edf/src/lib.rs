//! Earliest deadline first, as a policy of the scheduler's core.
#![no_std]
#![forbid(unsafe_code)]
