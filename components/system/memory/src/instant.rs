//! Instants of an operation at which another thread may have been at work: in tests one is.

/// Nothing, but in tests.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn passes() {}

#[cfg(test)]
pub(crate) use tests::{next, passes};

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    thread_local! {
        static NEXT: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
    }

    /// What another thread does at the next instant of this one.
    pub(crate) fn next(work: impl FnOnce() + 'static) {
        NEXT.with(|next| *next.borrow_mut() = Some(Box::new(work)));
    }

    pub(crate) fn passes() {
        if let Some(work) = NEXT.with(|next| next.borrow_mut().take()) {
            work();
        }
    }
}
