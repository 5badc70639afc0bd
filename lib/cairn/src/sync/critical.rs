//! The implementation of the crate `critical-section`, by which libraries for embedded machines guard what they share: one lock for the
//! whole component, whose owner counts with the priority of those who wait. No interrupt is off meanwhile.
#![allow(unsafe_code)]

use super::machine::{Held, RawLock};
use crate::Error;
use core::cell::UnsafeCell;

struct Section {
    lock: RawLock,
    /// What its owner gives it back by.
    held: UnsafeCell<Option<Held>>,
}

// SAFETY: only the lock's owner touches `held`.
unsafe impl Sync for Section {}

static SECTION: Section = Section { lock: RawLock::new(), held: UnsafeCell::new(None) };

critical_section::set_impl!(Section);

// SAFETY: between the outermost `acquire` of a thread and its `release` the thread owns the lock, which no other has then.
unsafe impl critical_section::Impl for Section {
    /// Whether this thread is inside already.
    unsafe fn acquire() -> bool {
        loop {
            match SECTION.lock.lock() {
                Ok((held, _)) => {
                    // SAFETY: this thread owns the lock.
                    unsafe { *SECTION.held.get() = Some(held) };
                    return false;
                }
                Err(Error::Busy) => return true,
                // This thread is called home. Its caller cannot be told, and has the lock soon: what is done inside is short.
                Err(Error::Cancelled) => {}
                Err(error) => panic!(
                    "critical section: {error}; it takes one of the description's `locks`, and an import of `Portals`"
                ),
            }
        }
    }

    unsafe fn release(is_inside: bool) {
        // SAFETY: this thread owns the lock.
        let held = (!is_inside).then(|| unsafe { (*SECTION.held.get()).take() }).flatten();
        if let Some(held) = held {
            SECTION
                .lock
                .unlock(held)
                .expect("the owner gives the lock of the critical section back");
        }
    }
}
