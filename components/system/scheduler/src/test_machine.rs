//! A machine for the tests of schedulers, on the host.

extern crate std;
use crate::{
    Machine, NOBODY, Outcome, QUEUES, ReadyQueue, SEMAPHORES, Scheduler, Start, ThreadIndex,
};
use cairn_abi::semaphore::CLOSED;
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::{boxed::Box, collections::BTreeSet, vec::Vec};

/// Words, and what was done to it.
pub struct TestMachine {
    semaphores: Vec<[AtomicI64; 2]>,
    noted: AtomicI64,
    /// What the run clock counts in a tick.
    pub run_rate: u64,
    /// Ticks in which it stood still.
    pub waited: u64,
    waiters: Vec<AtomicI64>,
    /// The last time that was set.
    pub timer: u64,
    /// How often.
    pub timer_settings: usize,
    /// Threads that were made ready to begin.
    pub set_up: Vec<(ThreadIndex, InstanceId, Start)>,
    /// Whether that is refused.
    pub refuse_set_up: bool,
    /// Stack queues that have one.
    pub free_activations: BTreeSet<u16>,
}

impl TestMachine {
    /// With words that say nothing, until [`crate::Scheduler::start`].
    pub fn new() -> TestMachine {
        TestMachine {
            semaphores: (0..SEMAPHORES).map(|_| CLOSED.map(AtomicI64::new)).collect(),
            noted: AtomicI64::new(77),
            run_rate: 1,
            waited: 0,
            // No thread waits for an activation.
            waiters: (0..QUEUES).map(|_| AtomicI64::new(0)).collect(),
            timer: u64::MAX,
            timer_settings: 0,
            set_up: Vec::new(),
            refuse_set_up: false,
            free_activations: BTreeSet::new(),
        }
    }
}

impl TestMachine {
    /// The same once more.
    pub fn copy(&self) -> TestMachine {
        let copy = |word: &AtomicI64| AtomicI64::new(word.load(Relaxed));
        TestMachine {
            semaphores: self.semaphores.iter().map(|words| words.each_ref().map(copy)).collect(),
            noted: copy(&self.noted),
            waiters: self.waiters.iter().map(copy).collect(),
            set_up: self.set_up.clone(),
            free_activations: self.free_activations.clone(),
            ..*self
        }
    }
}

impl Default for TestMachine {
    fn default() -> TestMachine {
        TestMachine::new()
    }
}

impl Machine for TestMachine {
    type Outcome = Outcome;
    fn reply(&mut self, status: i64, value: u64) -> Outcome {
        Outcome::Reply { status, value }
    }
    fn switch(&mut self, thread: ThreadIndex, status: i64, value: u64) -> Outcome {
        Outcome::Switch { thread, status, value }
    }
    fn semaphore(&self, semaphore: u16) -> &[AtomicI64; 2] {
        &self.semaphores[semaphore as usize]
    }
    fn noted_word(&self) -> &AtomicI64 {
        &self.noted
    }
    fn waiters_word(&self, queue: u16) -> &AtomicI64 {
        &self.waiters[queue as usize]
    }
    fn has_activation(&self, queue: u16) -> bool {
        self.free_activations.contains(&queue)
    }
    fn set_up_thread(
        &mut self,
        thread: ThreadIndex,
        instance: InstanceId,
        start: &Start,
    ) -> Result<(), Error> {
        if self.refuse_set_up {
            return Err(Error::BadPointer);
        }
        self.set_up.push((thread, instance, *start));
        Ok(())
    }
    fn time(&self, now: u64) -> u64 {
        now / self.run_rate + self.waited
    }
    fn set_timer(&mut self, ticks: u64) {
        self.timer = ticks;
        self.timer_settings += 1;
    }
}

/// A scheduler that has taken over from `former` in an operation of `thread`, and how that ended. `prepare` tells its policy what it is told before threads are adopted.
pub fn succeeded<Q: ReadyQueue, P: ReadyQueue>(
    former: &mut Scheduler<P, TestMachine>,
    thread: ThreadIndex,
    prepare: impl FnOnce(&mut Q),
    now: u64,
) -> (Box<Scheduler<Q, TestMachine>>, Outcome) {
    let mut order = NOBODY;
    let mut new = Box::new(Scheduler::new(former.machine().copy()));
    let estate = former.estate(thread, &mut order, now);
    assert_eq!(estate.check(), Ok(()));
    new.start(estate.configuration());
    prepare(new.policy());
    new.inherit(&estate, now);
    let outcome = new.finish_succession(thread, &estate, now);
    (new, outcome)
}
