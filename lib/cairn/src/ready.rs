//! When a component begins to serve.
//!
//! What it has to prepare before is its function `init`. Until that has returned, callers wait in the scheduler: they read a word of a page that
//! is not mapped yet, which the supervisor answers when the component reads another word there. If the description says
//! `before_ready = "error"`, and where no supervisor can answer, the page is mapped from the start, and callers get
//! [`Error::NotReady`].

use crate::Error;
// Relaxed: a caller that does not see it yet asks the supervisor, behind the store.
use core::sync::atomic::{AtomicBool, Ordering};

static SERVES: AtomicBool = AtomicBool::new(false);

/// This component serves from now on. The library says so when the function `init` of `component!` has returned; an
/// `init` that goes on for longer says it itself. Again, it does nothing.
pub fn ready() {
    if !SERVES.swap(true, Ordering::Release) {
        touch(cairn_abi::address::READY_SAID);
    }
}

/// For expansions: a call may come in. [`Error::NotReady`]: it does not wait.
#[inline(always)]
pub fn serves() -> Result<(), Error> {
    if SERVES.load(Ordering::Acquire) { Ok(()) } else { wait() }
}

#[cold]
#[inline(never)]
fn wait() -> Result<(), Error> {
    touch(0);
    if SERVES.load(Ordering::Acquire) { Ok(()) } else { Err(Error::NotReady) }
}

#[cfg(target_os = "none")]
fn touch(offset: u64) {
    crate::arch::ready::touch(
        crate::environment::region() + cairn_abi::address::READY_OFFSET + offset,
    );
}

/// In a test on the host nobody calls before the test does.
#[cfg(not(target_os = "none"))]
fn touch(_: u64) {
    SERVES.store(true, Ordering::Release);
}
