//! A static that one thread at a time uses, and that never waits.
#![allow(unsafe_code)]

use crate::wire::Value;
use core::cell::UnsafeCell;
use core::convert::Infallible;
use core::ptr::null_mut;
// Relaxed: one activation of the instance exists at a time, on one hart.
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// Interior mutability for components that run to completion, where there cannot be a second user; in other components the
/// second user panics.
pub struct Exclusive<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `with` admits one user at a time.
unsafe impl<T: Send> Sync for Exclusive<T> {}

impl<T> Exclusive<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Exclusive<T> {
        Exclusive { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Runs `body` with the value. Panics if it is in use.
    #[inline(always)]
    pub fn with<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        // Test and set are one operation: a thread that is preempted between them would enter while another, preempted
        // inside, has the value.
        assert!(!self.taken.swap(true, Ordering::Acquire), "in use");
        // SAFETY: the mark admits one user.
        let result = body(unsafe { &mut *self.value.get() });
        self.taken.store(false, Ordering::Release);
        result
    }
}

/// State of a component that runs to completion: the scheduler, the interrupt dispatcher. Each of
/// its activations begins on the same empty stack with interrupts off, and may end out of the middle
/// of a borrow, by [`crate::privileged::switch`] or [`crate::privileged::reply`]: nothing that could
/// use that borrow runs again.
// The pointer is the first field because it is loaded at each entry: behind a large value it would be far from the symbol,
// and the load would take up to three more instructions.
#[repr(C)]
pub struct RunToCompletion<T> {
    /// The value's address; null before the claim. Testing it needs no load beside that of the address.
    claimed: AtomicPtr<T>,
    value: UnsafeCell<T>,
    /// Somebody has claimed it: if there is no address then it is in use.
    was_claimed: AtomicBool,
}

// SAFETY: `with` demands `claim`, which proves that no two activations exist at a time.
unsafe impl<T: Send> Sync for RunToCompletion<T> {}

const NOT_CLAIMED: &str = "not claimed, or in use";

/// What [`RunToCompletion::run`] runs.
pub trait Operation<T> {
    /// Runs; it ends the activation and does not return. Mark the implementation `#[inline(always)]`. It must not
    /// borrow the value a second time.
    fn run(self, value: &mut T) -> Infallible;
}

/// What leaves an activation without its return stub, or ends the wait of whoever runs next, has one word.
const fn check_reply<V: Value>() {
    assert!(
        V::WORDS <= 1,
        "a method that ends its activation itself answers one word at most; return other values from the method"
    );
}

impl<T> RunToCompletion<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> RunToCompletion<T> {
        RunToCompletion {
            claimed: AtomicPtr::new(null_mut()),
            value: UnsafeCell::new(value),
            was_claimed: AtomicBool::new(false),
        }
    }

    /// Checks that this instance runs to completion; before the first `with`. Panics if it
    /// does not.
    #[inline]
    pub fn claim(&self) {
        if self.was_claimed.load(Ordering::Relaxed) {
            return;
        }
        assert!(
            crate::environment::startup().run_to_completion == 1,
            "this instance does not run to completion"
        );
        self.admit();
    }

    /// Whether it was claimed: another may run instead of this instance's code until then ([`crate::succession`]).
    pub fn is_claimed(&self) -> bool {
        !self.claimed.load(Ordering::Relaxed).is_null()
    }

    fn admit(&self) {
        self.was_claimed.store(true, Ordering::Relaxed);
        self.claimed.store(self.value.get(), Ordering::Relaxed);
    }

    /// [`RunToCompletion::with`], for where an activation may come before any has claimed it: `None` then, or if it is in use.
    #[inline(always)]
    pub fn try_with<R>(&self, body: impl FnOnce(&mut T) -> R) -> Option<R> {
        let value = self.claimed.load(Ordering::Relaxed);
        self.claimed.store(null_mut(), Ordering::Relaxed);
        // SAFETY: as in `with`.
        let result = body(unsafe { value.as_mut() }?);
        self.claimed.store(value, Ordering::Relaxed);
        Some(result)
    }

    /// Runs `body` with the value. Panics if `body` asks for the value once more.
    #[inline(always)]
    pub fn with<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        let value = self.claimed.load(Ordering::Relaxed);
        self.claimed.store(null_mut(), Ordering::Relaxed);
        // SAFETY: null, or this static's value. Only one activation of this component exists at a time
        // (`claim`), and what it asks for meanwhile is null.
        let result = body(unsafe { value.as_mut() }.expect(NOT_CLAIMED));
        self.claimed.store(value, Ordering::Relaxed);
        result
    }

    /// Runs `body`, which does not return, with the value, and is what a method answers. No mark could be reset afterwards,
    /// so a second use is not detected: `body` must not ask for the value once more.
    #[inline(always)]
    pub fn end_with<V: Value, E>(&self, body: impl FnOnce(&mut T) -> Infallible) -> Result<V, E> {
        const { check_reply::<V>() };
        self.end(body)
    }

    /// [`RunToCompletion::end_with`] for hot paths. The compiler treats functions that do not return as cold and does not
    /// inline a closure; it has to inline an [`Operation`].
    #[inline(always)]
    pub fn run<V: Value, E>(&self, operation: impl Operation<T>) -> Result<V, E> {
        const { check_reply::<V>() };
        self.end_by(operation)
    }

    #[inline(always)]
    fn end(&self, body: impl FnOnce(&mut T) -> Infallible) -> ! {
        // SAFETY: as above, but for the mark: `body` is the last that this activation runs.
        match body(unsafe { self.claimed.load(Ordering::Relaxed).as_mut() }.expect(NOT_CLAIMED)) {}
    }

    #[inline(always)]
    fn end_by(&self, operation: impl Operation<T>) -> ! {
        // SAFETY: as above.
        match operation
            .run(unsafe { self.claimed.load(Ordering::Relaxed).as_mut() }.expect(NOT_CLAIMED)) {}
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::panic::catch_unwind;

    #[test]
    fn a_value_is_borrowed_once() {
        static STATE: RunToCompletion<u64> = RunToCompletion::new(1);
        assert!(catch_unwind(|| STATE.with(|_| ())).is_err(), "not claimed");
        STATE.admit();
        STATE.with(|value| *value += 1);
        assert_eq!(STATE.with(|value| *value), 2);
        assert!(catch_unwind(|| STATE.with(|_| STATE.with(|_| ()))).is_err(), "in use");
        static NESTED: RunToCompletion<u64> = RunToCompletion::new(1);
        assert_eq!(NESTED.try_with(|_| ()), None, "not claimed");
        NESTED.admit();
        let nested = NESTED.try_with(|_| {
            // Claimed again it is in use still.
            NESTED.claim();
            NESTED.try_with(|_| ())
        });
        assert_eq!((nested, NESTED.try_with(|value| *value)), (Some(None), Some(1)));
    }
}
