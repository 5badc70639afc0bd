//! A machine for the tests.

extern crate std;
use crate::quota::Tenant;
use crate::*;
use cairn_abi::semaphore::CLOSED;
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::{boxed::Box, collections::BTreeSet, vec::Vec};

pub struct TestMachine {
    semaphores: Vec<[AtomicI64; 2]>,
    noted: AtomicI64,
    waiters: Vec<AtomicI64>,
    pub timer: u64,
    pub timer_settings: usize,
    pub set_up: Vec<(ThreadIndex, InstanceId, Start)>,
    pub refuse_set_up: bool,
    pub free_activations: BTreeSet<u16>,
}

impl TestMachine {
    pub fn new() -> TestMachine {
        TestMachine {
            semaphores: (0..SEMAPHORES).map(|_| CLOSED.map(AtomicI64::new)).collect(),
            noted: AtomicI64::new(77),
            waiters: (0..QUEUES).map(|_| AtomicI64::new(77)).collect(),
            timer: u64::MAX,
            timer_settings: 0,
            set_up: Vec::new(),
            refuse_set_up: false,
            free_activations: BTreeSet::new(),
        }
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
    fn set_timer(&mut self, ticks: u64) {
        self.timer = ticks;
        self.timer_settings += 1;
    }
}

/// V as portal code does it, if it can.
pub fn v_in_portal(machine: &TestMachine, semaphore: u16) -> bool {
    let [count, level] = machine.semaphore(semaphore);
    let noted = machine.noted_word();
    if count.load(Relaxed) >= 0 {
        count.store(count.load(Relaxed) + 1, Relaxed);
        return true;
    }
    if level.load(Relaxed) < noted.load(Relaxed) {
        return false;
    }
    count.store(0, Relaxed);
    noted.store(semaphore.into(), Relaxed);
    true
}

pub type TestScheduler = Scheduler<FixedPriority, TestMachine>;

pub const QUANTUM: u64 = 1000;
pub const SUPERVISOR_SEMAPHORE: u16 = 9;
pub const QUOTA: Quota = Quota { threads: 200, semaphores: 100, locks: 100, priority: 200 };

pub const ONE: InstanceId = InstanceId(1);
pub const TWO: InstanceId = InstanceId(2);

/// A scheduler with quotas for instances 1 and 2, semaphores 0 to 3 of instance 1 and 4 to 7 of
/// instance 2, and a thread of instance 1 per priority given, from number 1 on.
pub fn scheduler(priorities: &[u8]) -> Box<TestScheduler> {
    scheduler_with(priorities, 256)
}

/// The same on a machine of so many threads.
pub fn scheduler_with(priorities: &[u8], threads: usize) -> Box<TestScheduler> {
    let mut scheduler = Box::new(TestScheduler::new(TestMachine::new()));
    scheduler.start(Configuration {
        quantum: QUANTUM,
        supervisor_semaphore: SUPERVISOR_SEMAPHORE,
        threads,
    });
    for queue in 0..QUEUES {
        scheduler.machine.waiters_word(queue as u16).store(0, Relaxed);
    }
    for instance in [ONE, TWO] {
        scheduler.set_quota(instance, QUOTA).unwrap();
    }
    for semaphore in 0..8 {
        scheduler.adopt_semaphore(semaphore, InstanceId(1 + semaphore / 4), 0).unwrap();
    }
    scheduler.adopt_semaphore(SUPERVISOR_SEMAPHORE, TWO, 0).unwrap();
    for (index, priority) in priorities.iter().enumerate() {
        scheduler.adopt_thread(index as u8 + 1, ONE, *priority).unwrap();
    }
    scheduler.run(0);
    scheduler
}

/// The account of an instance.
pub fn tenant(instance: u16) -> Tenant {
    Tenant::of(InstanceId(instance)).unwrap()
}

pub const OK: Outcome = reply(0, 0);

pub const fn reply(status: i64, value: u64) -> Outcome {
    Outcome::Reply { status, value }
}

pub const fn refused(error: Error) -> Outcome {
    reply(error.status(), 0)
}

pub const fn switched(thread: ThreadIndex, status: i64, value: u64) -> Outcome {
    Outcome::Switch { thread, status, value }
}
