//! Looks at other threads' invocation stacks.
//!
//! More urgent threads run between any two instructions here, so a look may be out of date when it ends, or
//! may have seen a stack in the middle of a change. What follows from it is safe all the same:
//! - After an instance has died, no thread executes anything in its domain. So no frame that returns into that is pushed
//!   any more, but that of the fault of a thread that enters it: the frames only become fewer, and a thread that was once seen
//!   without them has none for good. Such a look counts only if no other thread has run meanwhile. Of two that share a page table
//!   a thread can go into the other's code, dead or not: it stays in its own domain, and ends with that.
//! - To unwind a frame that is not there any more is refused, or makes another frame that returns into
//!   a dead domain return with an error, which it has to do anyway.

use crate::component as imports;
use crate::system::System;
use cairn::time::run_clock;
use cairn::{DomainId, privileged};
use cairn_abi::domain::Tables;
use cairn_abi::thread::{FIELD_FRAME, thread_block};
use cairn_supervisor::stack::{Kind, Walk, Words, hold};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The index of the worker, whose own frames do not count.
pub static WORKER: AtomicU64 = AtomicU64::new(u64::MAX);

impl System {
    /// The frames of a thread, from the top; none if there is no such thread, or of the calling one.
    pub fn frames(&self, index: u64) -> Walk<'_, System> {
        let layout = (self.header.trap_return, Tables::of(self.header.table_entries));
        Walk::new(self, layout, index)
    }

    /// The same, with the limits of calls.
    pub fn frames_with_limits(&self, index: u64) -> Walk<'_, System> {
        self.frames(index).with_limits()
    }

    /// Whether there is or was such a thread, and it is not the worker. The frames of one that has ended stay
    /// where they are; only the scheduler knows.
    pub fn exists(&self, index: u64) -> bool {
        let top = thread_block(index as usize).wrapping_add_signed(FIELD_FRAME);
        index != WORKER.load(Relaxed) && self.load(top).is_some_and(|header| header != 0)
    }

    /// The next thread that exists, from `index` on.
    pub fn next_thread(&self, index: u64) -> Option<u64> {
        (index..self.thread_count()).find(|index| self.exists(*index))
    }

    /// Whether a thread was in `domain` when it ran last.
    pub fn is_in(&self, index: u64, domain: DomainId) -> bool {
        self.frames(index).next().is_some_and(|top| top.into == domain)
    }

    /// [Unwinds](System::unwind) a thread; whether frames hold it in `domain` or bring it back there all the same, as [`System::holds`] says.
    pub fn send_away(&self, index: u64, domain: DomainId) -> bool {
        self.unwind(domain, index) && self.is_thread(index)
    }

    /// The frames of a thread that return into a dead domain become error returns. Whether any that is left names that, also of a thread
    /// that has ended.
    pub fn unwind(&self, domain: DomainId, index: u64) -> bool {
        let mut frames = self.frames(index).map(|mut frame| {
            if frame.into == domain && !frame.dead && frame.kind != Kind::Base {
                // Refused: the thread has run meanwhile, and this is another frame.
                frame.dead = privileged::unwind(index, frame.offset()).is_ok();
            }
            frame
        });
        let holds = hold(frames.by_ref(), domain);
        frames.for_each(drop);
        holds
    }

    /// A process reaches its pages whatever becomes of its server's. Whoever is in one goes on in the server's space.
    pub fn leave_processes(&self, domain: DomainId) {
        for index in 0..self.thread_count() {
            let mut frames = self.frames(index);
            let top = frames.next().filter(|top| top.kind == Kind::Trap && top.into == domain);
            if let Some(top) = top
                && frames.next().is_some_and(|below| below.kind == Kind::Carrier)
            {
                // Refused: it was in the server.
                let _ = privileged::divert(index, top.offset());
            }
        }
    }

    /// Whether frames hold a thread in `domain` or bring it back there. A thread that only leaves it does not
    /// count: one that calls a dead domain again and again is always there.
    pub fn holds(&self, index: u64, domain: DomainId) -> bool {
        hold(self.frames(index), domain) && self.is_thread(index)
    }

    fn is_thread(&self, index: u64) -> bool {
        imports::SCHEDULING.thread(index).is_ok()
    }
}

/// Whether other threads have run since.
pub struct Undisturbed(u64);

impl Undisturbed {
    pub fn begin() -> Undisturbed {
        let since = imports::SCHEDULING.running_since().unwrap_or(0);
        // From the next count on, a switch cannot have the time of the last one.
        while run_clock() == since {}
        Undisturbed(since)
    }

    pub fn holds(&self) -> bool {
        imports::SCHEDULING.running_since() == Ok(self.0)
    }
}
