//! Threads of the component that run a closure. It lies on the thread's own stack, and so does what it returns: neither takes
//! a heap.
//!
//! The packet at the top of the stack has two users, the thread and its handle, and belongs to the last of them. The stack is
//! free when the thread has left it and no handle knows the packet.
#![allow(unsafe_code)]

use super::stack::{Claim, Stack};
use crate::Error;
use crate::arch::needs;
use crate::call::{Arguments, Portals};
use crate::environment::startup;
use crate::sync::methods::{JOIN, SET_PRIORITY, SLEEP_UNTIL, SPAWN, YIELD_NOW};
use crate::time::{Duration, Instant};
use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, offset_of};
use core::ptr::with_exposed_provenance;
use core::sync::atomic::{AtomicU64, Ordering};

/// The closure has not returned...
const RUNNING: u64 = 0;
/// ... or it has, and the result is there...
const DONE: u64 = 1;
/// ... or nobody wants that, or has taken it.
const LEFT: u64 = 2;

/// First the mark, then what the mark says, at one place whatever the types are.
#[repr(C, align(16))]
pub(super) struct Packet<F, T> {
    mark: AtomicU64,
    content: UnsafeCell<Content<F, T>>,
}

#[repr(C, align(16))]
union Content<F, T> {
    closure: ManuallyDrop<F>,
    result: ManuallyDrop<T>,
}

const RESULT: usize = offset_of!(Packet<(), ()>, content);

impl<F: FnOnce() -> T, T> Packet<F, T> {
    pub(super) fn new(closure: F) -> Self {
        const { assert!(offset_of!(Packet<F, T>, content) == RESULT, "at most 16 bytes aligned") };
        let closure = ManuallyDrop::new(closure);
        Packet { mark: AtomicU64::new(RUNNING), content: UnsafeCell::new(Content { closure }) }
    }

    /// What the thread does, with the packet's address.
    pub(super) fn run(address: u64) {
        // SAFETY: `Stack::claim_for` wrote the packet there for this thread, which calls this once; its handle touches the
        // content when the mark is DONE.
        let packet = unsafe { &*with_exposed_provenance::<Self>(address as usize) };
        // SAFETY: the closure is there, and taken once.
        let closure = unsafe { ManuallyDrop::take(&mut (*packet.content.get()).closure) };
        let result = ManuallyDrop::new(closure());
        // SAFETY: as above.
        unsafe { *packet.content.get() = Content { result } };
        if packet.mark.swap(DONE, Ordering::AcqRel) == LEFT {
            // SAFETY: the handle has gone and left the result to this thread.
            unsafe { ManuallyDrop::drop(&mut (*packet.content.get()).result) };
        }
    }

    /// The closure of a thread that did not begin ends.
    pub(super) fn discard(&self) {
        // SAFETY: no thread has the packet, and its maker calls this once.
        unsafe { ManuallyDrop::drop(&mut (*self.content.get()).closure) };
    }
}

/// A thread that [`spawn`] started. Dropped, it leaves the thread to itself.
pub struct JoinHandle<T> {
    name: u64,
    claim: Claim,
    packet: u64,
    result: PhantomData<T>,
}

/// Starts a thread that runs `body` on `stack`, at most as urgent as the description makes the component.
///
/// [`Error::Busy`]: a thread uses that stack, or a handle the result on it. [`Error::Exhausted`]: the description's `threads`
/// are all there. [`Error::NotAllowed`]: the priority is above the description's. The log says both. [`Error::NotSupported`]: the description leaves the
/// component's import of `Threads` out.
pub fn spawn<const BYTES: usize, T: Send + 'static>(
    stack: &'static Stack<BYTES>,
    priority: u8,
    body: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, Error> {
    let threads = threads()?;
    let (claim, packet) = stack.claim_for(body).ok_or(Error::Busy)?;
    let mut arguments = Arguments::new();
    arguments.skip();
    arguments.skip();
    arguments.value(claim.start());
    arguments.word(priority.into());
    let address = core::ptr::from_ref(packet).expose_provenance() as u64;
    let handle = |name| JoinHandle { name, claim, packet: address, result: PhantomData };
    match threads.call::<7, u64, Error>(SPAWN, arguments) {
        Ok(name) => Ok(handle(name)),
        Err(error) => {
            if claim.refused(error, priority) {
                packet.discard();
                claim.unkeep();
            } else {
                // A thread has it all the same, and may have returned by now.
                drop(handle(0));
            }
            Err(error)
        }
    }
}

impl<T> JoinHandle<T> {
    fn mark(&self) -> &AtomicU64 {
        // SAFETY: the packet is there as long as the handle keeps the stack, and begins with its mark.
        unsafe { &*with_exposed_provenance::<AtomicU64>(self.packet as usize) }
    }

    /// The result, if the closure has returned and nobody has taken it.
    fn take(&self) -> Option<T> {
        let was_done = self.mark().swap(LEFT, Ordering::AcqRel) == DONE;
        let result = with_exposed_provenance::<T>(self.packet as usize + RESULT);
        // SAFETY: the thread has written the result and does not touch it again; the mark changes once from DONE.
        was_done.then(|| unsafe { result.read() })
    }

    /// What the interfaces `Threads` and `Deadlines` call it.
    pub fn name(&self) -> u64 {
        self.name
    }

    /// Changes its priority.
    pub fn set_priority(&self, priority: u8) -> Result<(), Error> {
        let mut arguments = Arguments::new();
        arguments.skip();
        arguments.skip();
        arguments.word(self.name);
        arguments.word(priority.into());
        threads()?.call::<5, (), Error>(SET_PRIORITY, arguments)
    }

    /// Whether its closure has returned.
    pub fn is_finished(&self) -> bool {
        self.mark().load(Ordering::Acquire) == DONE
    }

    /// Waits until it has ended; what its closure returned. [`Error::Dead`]: it ended otherwise.
    pub fn join(self) -> Result<T, Error> {
        let mut arguments = Arguments::new();
        arguments.skip();
        arguments.skip();
        arguments.word(self.name);
        threads()?.call::<4, (), Error>(JOIN, arguments)?;
        self.claim.ended();
        self.take().ok_or(Error::Dead)
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        drop(self.take());
        self.claim.unkeep();
    }
}

/// The calling thread sleeps for at least so long.
pub fn sleep(span: Duration) -> Result<(), Error> {
    sleep_until(Instant::now() + span)
}

/// The calling thread sleeps until then.
pub fn sleep_until(end: Instant) -> Result<(), Error> {
    let mut arguments = Arguments::new();
    arguments.skip();
    arguments.skip();
    arguments.word(end.ticks());
    threads()?.call::<4, (), Error>(SLEEP_UNTIL, arguments)
}

/// Another ready thread of the same priority runs.
pub fn yield_now() -> Result<(), Error> {
    let mut arguments = Arguments::new();
    arguments.skip();
    threads()?.call::<2, (), Error>(YIELD_NOW, arguments)
}

/// The import `Threads`.
fn threads() -> Result<Portals, Error> {
    match startup().threads {
        0 => {
            needs::threads();
            Err(Error::NotSupported)
        }
        first => Ok(Portals::at(first as u32)),
    }
}
