//! A scheduler for the tests.

extern crate std;
pub use crate::test_machine::{TestMachine, succeeded};

use crate::quota::Tenant;
use crate::*;
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::Ordering::Relaxed;
use std::boxed::Box;

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
    scheduler_of(TestMachine::new(), priorities, threads)
}

/// The same on this machine.
pub fn scheduler_of(machine: TestMachine, priorities: &[u8], threads: usize) -> Box<TestScheduler> {
    let run_rate = machine.run_rate;
    let mut scheduler = Box::new(TestScheduler::new(machine));
    scheduler.start(Configuration {
        quantum: QUANTUM,
        run_rate,
        supervisor_semaphore: SUPERVISOR_SEMAPHORE,
        threads,
    });
    for instance in [ONE, TWO] {
        scheduler.add_domain(instance, QUOTA).unwrap();
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
