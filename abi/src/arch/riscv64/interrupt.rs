//! Supervisor interrupts (privileged manual, section 4.1.3).

/// In `sip` and `sie`: the software interrupt, by which portal code calls the scheduler at the next chance.
pub const SOFTWARE_INTERRUPT: u64 = 1 << 1;
/// `sie` of every component that does not run to completion: software, timer and external interrupts.
pub const INTERRUPTS_ON: u64 = SOFTWARE_INTERRUPT | 1 << 5 | 1 << 9;
