//! Noted wake-ups: portal code may wake by a note in the hart's word: one, which is done before anything else is asked
//! or done here ([`Scheduler::enter`]). So it has to leave the first thread first, and a quantum has to end if the two are
//! equals. The hart's word may ask for more than that (a more urgent thread than that of the word runs), never for
//! less: whatever lets a less urgent thread run, or ends the marking of quanta, renews it
//! ([`Scheduler::renew_threshold`]), or forbids all notes until a V comes in vain ([`Scheduler::note_nothing`]). A level that
//! is not [`cairn_abi::semaphore::LEVEL_NEVER`] is that of a waiter without a time limit, alone.

use crate::machine::Machine;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::semaphores::SEMAPHORES;
use crate::thread::{IDLE, STOPPED, State, THROTTLED};
use cairn_abi::semaphore::level;
use core::sync::atomic::Ordering::Relaxed;

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// Whether portal code has noted a wake-up since the last entry.
    #[inline(always)]
    pub fn has_noted(&self) -> bool {
        self.machine.noted_word().load(Relaxed) >= 0
    }

    /// What comes before anything else, whatever was called or happened.
    #[inline(always)]
    pub fn enter(&mut self) {
        if self.has_noted() {
            self.wake_noted_aside();
        }
    }

    #[cold]
    #[inline(never)]
    fn wake_noted_aside(&mut self) {
        self.wake_noted();
    }

    /// Does what a V did, but for the count, which portal code has set.
    #[inline(always)]
    pub fn wake_noted(&mut self) {
        let word = self.machine.noted_word();
        let semaphore = word.load(Relaxed) as usize % SEMAPHORES;
        word.store(self.threshold, Relaxed);
        let waiter = core::mem::replace(&mut self.roots[semaphore], IDLE);
        self.threads[waiter as usize].state = State::Ready;
        self.set_result(waiter, 0, 0);
        if self.threads[waiter as usize].flags & (STOPPED | THROTTLED) == 0 {
            self.ready.insert(&mut self.threads, waiter);
        }
    }

    /// From which level on portal code notes wake-ups: below that of the first thread; at that too while quanta end.
    #[inline(always)]
    pub(crate) fn renew_threshold(&mut self) {
        self.set_threshold(level(self.ready.behind_first()) + i64::from(self.next_tick == 0));
    }

    #[inline(always)]
    fn set_threshold(&mut self, level: i64) {
        self.threshold = level;
        self.machine.noted_word().store(level, Relaxed);
    }

    /// A less urgent thread may be first now. On rare paths: the next V that comes in vain renews the threshold.
    #[inline(always)]
    pub(crate) fn note_nothing(&mut self) {
        self.set_threshold(level(256));
    }
}
