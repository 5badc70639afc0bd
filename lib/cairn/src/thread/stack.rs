//! A stack that one thread at a time uses.
//!
//! Two words ensure this. [`Stack::claim`] writes `ticket` and the beginning thread takes it: if a [`Start`] is used twice,
//! the second thread ends before it touches the stack. `state` counts the stack's users, so that the end of one user
//! cannot free the stack of the next.
#![allow(unsafe_code)]

use super::Start;
use super::closure::Packet;
use crate::arch::thread as machine;
use crate::{Error, environment};
use cairn_abi::memory::stack_mark;
use core::cell::UnsafeCell;
use core::ptr::{with_exposed_provenance, with_exposed_provenance_mut};
// Relaxed: a state read without order, or by an exchange that failed, is used for the next exchange alone.
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Fields that the thread's first instructions reach by their offsets.
#[repr(C, align(16))]
pub(crate) struct Control {
    /// Twice the number of earlier users; one more while there is a user.
    state: AtomicU64,
    /// 1: a thread may begin.
    ticket: AtomicU64,
    /// What the thread calls; written while no other thread can read it.
    function: UnsafeCell<Option<fn(u64)>>,
    argument: UnsafeCell<u64>,
    /// 1: somebody wants what a thread left at the top of the stack.
    kept: AtomicU64,
}

/// In front of the stack.
#[repr(C)]
struct Front {
    /// [`stack_mark`], since the stack's first use, and the bytes of the stack.
    mark: AtomicU64,
    size: AtomicU64,
}

unsafe extern "C" {
    /// Where nothing lies (`component.ld`).
    static cairn_stack_guard: u8;
}

/// The stack of a thread: `static STACK: Stack<8192> = Stack::new();`. Below it lies a page without access, as below a first
/// thread's, which is no memory: a thread that needs more faults, and reaches nothing else. Only in a static: of a stack that is
/// made while the component runs nobody takes that page away.
#[repr(C)]
pub struct Stack<const BYTES: usize> {
    guard: Guard,
    /// The [`Front`], the stack, the [`Control`], all zeros at first.
    room: UnsafeCell<[u8; BYTES]>,
}

/// The page that the layout leaves out, since a static's begins with this address (`loader/src/guards.rs`).
#[repr(C, align(4096))]
struct Guard(*const u8);

const GUARD: usize = size_of::<Guard>();

// SAFETY: the memory belongs to the thread whose claim `state` tells; function and argument are
// written by the one claimer before the ticket is, and read by the thread that takes the ticket.
unsafe impl<const BYTES: usize> Sync for Stack<BYTES> {}

impl<const BYTES: usize> Stack<BYTES> {
    /// A stack that is not in use.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        assert!(
            BYTES > 0 && BYTES.is_multiple_of(GUARD),
            "a stack has whole pages: a multiple of 4096 bytes"
        );
        Stack { guard: Guard(&raw const cairn_stack_guard), room: UnsafeCell::new([0; BYTES]) }
    }

    fn control(&self) -> &Control {
        // SAFETY: it lies in `room`, which is whole pages and at first zeros, which are one.
        unsafe { &*with_exposed_provenance(self.end()) }
    }

    /// Takes the stack for a thread that calls `function` with `argument`; `None` while another does.
    pub fn claim(&'static self, function: fn(u64), argument: u64) -> Option<Claim> {
        let state = self.take()?;
        Some(self.begin(state, function, argument, self.end()))
    }

    /// The same for a thread that runs a closure, which is put at the top of the stack, and stays the caller's until
    /// [`Claim::unkeep`].
    pub(super) fn claim_for<F: FnOnce() -> T, T>(
        &'static self,
        closure: F,
    ) -> Option<(Claim, &'static Packet<F, T>)> {
        const {
            assert!(
                size_of::<Packet<F, T>>() + 512 <= BYTES - size_of::<(Front, Control)>(),
                "the closure leaves the stack no room"
            )
        };
        let state = self.take()?;
        let top = (self.end() - size_of::<Packet<F, T>>()) & !15;
        let packet = with_exposed_provenance_mut::<Packet<F, T>>(top);
        // SAFETY: it lies in `room`, which nobody else has, at a multiple of 16.
        let packet = unsafe {
            packet.write(Packet::new(closure));
            &*packet
        };
        self.control().kept.store(1, Ordering::Relaxed);
        Some((self.begin(state, Packet::<F, T>::run, top as u64, top), packet))
    }

    /// Makes it this caller's; the state that says so.
    fn take(&self) -> Option<u64> {
        let control = self.control();
        let state = control.state.load(Ordering::Relaxed);
        if state & 1 != 0
            || control
                .state
                .compare_exchange(state, state + 1, Ordering::Acquire, Ordering::Relaxed)
                .is_err()
        {
            return None;
        }
        if control.kept.load(Ordering::Acquire) != 0 {
            // Nobody has seen that it was taken.
            control.state.store(state, Ordering::Release);
            return None;
        }
        Some(state + 1)
    }

    fn begin(&'static self, state: u64, function: fn(u64), argument: u64, top: usize) -> Claim {
        let control = self.control();
        // SAFETY: the exchange of `state` made this the only user, and no thread has a ticket.
        unsafe {
            *control.function.get() = Some(function);
            *control.argument.get() = argument;
        }
        let address = self.room.get().expose_provenance();
        // SAFETY: as the control's; what no thread has used of the stack is zeros, and any words are a front.
        let front: &Front = unsafe { &*with_exposed_provenance(address) };
        front.mark.store(stack_mark(address as u64), Ordering::Relaxed);
        let size = self.end() - address - size_of::<Front>();
        front.size.store(size as u64, Ordering::Relaxed);
        control.ticket.store(1, Ordering::Release);
        Claim { control, state, top: top as u64 }
    }

    /// Where the control begins. The C convention keeps stack pointers at multiples of 16.
    fn end(&self) -> usize {
        self.room.get().expose_provenance() + BYTES - size_of::<Control>()
    }
}

/// A stack that is taken for a thread. It names that one use, so a copy does no harm.
#[derive(Clone, Copy)]
pub struct Claim {
    control: &'static Control,
    state: u64,
    top: u64,
}

impl Claim {
    /// Where its thread begins.
    pub fn start(&self) -> Start {
        Start {
            entry: machine::begin as *const () as u64,
            stack: self.top,
            argument: (self.control as *const Control).expose_provenance() as u64,
        }
    }

    /// The scheduler refused the thread of this priority: the stack is free, and the component's log says which key of the
    /// description wants more. Whether no thread has begun all the same.
    pub fn refused(self, error: Error, priority: u8) -> bool {
        tell(error, priority);
        // Without the ticket no thread begins.
        let has_not_begun = self.control.ticket.swap(0, Ordering::AcqRel) == 1;
        if has_not_begun {
            self.ended();
        }
        has_not_begun
    }

    /// Nobody wants what lies at the top of the stack.
    pub(super) fn unkeep(self) {
        self.control.kept.store(0, Ordering::Release);
    }

    /// The scheduler says that the thread has ended: the stack is free, unless it was already, and
    /// then perhaps taken again.
    pub fn ended(self) {
        let next = self.state + 1;
        let _ = self.control.state.compare_exchange(
            self.state,
            next,
            Ordering::Release,
            Ordering::Relaxed,
        );
    }
}

/// Says of each reason once in this life why one thread more is refused.
#[cold]
fn tell(error: Error, priority: u8) {
    static TOLD: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
    let is_priority = error == Error::NotAllowed;
    // Relaxed: it says nothing of other memory.
    if !is_priority && error != Error::Exhausted
        || TOLD[usize::from(is_priority)].swap(true, Ordering::Relaxed)
    {
        return;
    }
    let name = environment::name();
    if is_priority {
        crate::log::warn!(
            target: "refused",
            "{name} gets no thread of priority {priority}: `priority` in its description is less, or it is in the kernel domain without the scheduler"
        );
    } else {
        crate::log::warn!(
            target: "refused",
            "{name} gets no thread: it has all {} of `threads` in its description",
            environment::startup().thread_limit
        );
    }
}

const _: () = assert!(core::mem::offset_of!(Control, state) == 0);
const _: () = assert!(core::mem::offset_of!(Control, ticket) == 8);

/// The thread, on its stack; returns the state in which the stack is free.
pub(crate) extern "C" fn run(control: &'static Control) -> u64 {
    // SAFETY: written by the claim whose ticket this thread took, and by no other before `state`
    // changes.
    let (function, argument) = unsafe { (*control.function.get(), *control.argument.get()) };
    if let Some(function) = function {
        function(argument);
    }
    control.state.load(Ordering::Relaxed) + 1
}
