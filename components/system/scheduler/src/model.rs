//! A slow and simple model of the scheduler: lists instead of rings and heaps, urgencies by repeated
//! look-up instead of by propagation; and the steps that a test can take.

extern crate std;
use crate::classes::ROUGHLY;
use crate::testing::{ONE, SUPERVISOR_SEMAPHORE, TWO};
use crate::*;
use cairn_abi::{Error, InstanceId};
use proptest::prelude::*;
use std::{vec, vec::Vec};

/// Threads 1 to 10 can exist; 1 to 6 at first.
pub const LAST: ThreadIndex = 10;
pub const LOCK_COUNT: usize = 4;
/// Time goes in such steps; below are numbers that make every time limit unique.
pub const STEP: u64 = 1 << 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    Semaphore(u16),
    Lock(u8),
    Join(ThreadIndex),
    Stack(u16),
    Sleep,
}

#[derive(Clone, Debug)]
pub struct ModelThread {
    pub own: u8,
    pub level: u8,
    pub wait: Option<Wait>,
    /// Order of arrival in the ready list or among waiters.
    pub arrival: i64,
    /// Instance in which it waits.
    pub wait_instance: InstanceId,
    /// When the wait ends at the latest, and the level at which it began.
    pub limit: Option<(u8, u64)>,
    pub stopped: bool,
    /// The locks that it holds, as taken.
    pub held: Vec<u8>,
    pub result: (i64, u64),
    pub used: u64,
}

pub struct Model {
    pub threads: Vec<Option<ModelThread>>,
    pub generations: Vec<u64>,
    /// What each semaphore has to give.
    pub available: Vec<i64>,
    pub owners: Vec<Option<ThreadIndex>>,
    pub faults: Vec<ThreadIndex>,
    pub arrivals: i64,
}

impl Model {
    pub fn thread(&mut self, thread: ThreadIndex) -> &mut ModelThread {
        self.threads[thread as usize].as_mut().unwrap()
    }

    pub fn get(&self, thread: ThreadIndex) -> Option<&ModelThread> {
        self.threads[thread as usize].as_ref()
    }

    pub fn arrive(&mut self) -> i64 {
        self.arrivals += 1;
        self.arrivals
    }

    pub fn best(&self, wanted: impl Fn(&ModelThread) -> bool) -> Option<ThreadIndex> {
        (1..=LAST)
            .filter(|t| self.get(*t).is_some_and(&wanted))
            .min_by_key(|t| self.get(*t).map(|thread| (thread.level, thread.arrival)))
    }

    pub fn running(&self) -> ThreadIndex {
        self.best(|thread| thread.wait.is_none() && !thread.stopped).unwrap_or(IDLE)
    }

    pub fn waiter(&self, wait: Wait) -> Option<ThreadIndex> {
        self.best(|thread| thread.wait == Some(wait))
    }

    pub fn waiters(&self, wait: Wait) -> i64 {
        self.threads.iter().flatten().filter(|thread| thread.wait == Some(wait)).count() as i64
    }

    pub fn begin_wait(
        &mut self,
        thread: ThreadIndex,
        instance: InstanceId,
        wait: Wait,
        limit: Option<u64>,
    ) {
        let arrival = self.arrive();
        let record = self.thread(thread);
        (record.wait, record.wait_instance) = (Some(wait), instance);
        record.limit = limit.map(|limit| (record.level & ROUGHLY, limit));
        record.arrival = arrival;
    }

    pub fn end_wait(&mut self, thread: ThreadIndex, status: i64) {
        if self.thread(thread).wait.is_none() {
            return;
        }
        let arrival = self.arrive();
        let record = self.thread(thread);
        (record.wait, record.limit, record.result) = (None, None, (status, 0));
        record.arrival = arrival;
        self.settle();
    }

    /// The limit that the timer ends next: the first of the most urgent, if nobody more urgent runs.
    pub fn due(&self, now: u64) -> Option<ThreadIndex> {
        let passed = (1..=LAST).filter_map(|t| {
            let (level, limit) = self.get(t)?.limit?;
            (limit <= now).then_some((level, limit, t))
        });
        let (level, _, thread) = passed.min()?;
        (!self.outranks(level)).then_some(thread)
    }

    /// Whether whoever runs goes before all work of this level.
    pub fn outranks(&self, level: u8) -> bool {
        self.get(self.running()).is_some_and(|running| running.level < level)
    }

    /// Urgencies until nothing changes. Who counts less goes before its new equals.
    pub fn settle(&mut self) {
        loop {
            let mut changed = false;
            for thread in 1..=LAST {
                let Some(record) = self.get(thread) else { continue };
                let mut due = record.own;
                for waiter in (1..=LAST).filter_map(|t| self.get(t)) {
                    if let Some(Wait::Lock(lock)) = waiter.wait
                        && self.owners[lock as usize] == Some(thread)
                    {
                        due = due.min(waiter.level);
                    }
                }
                if due != record.level {
                    changed = true;
                    let front = due > record.level && record.wait.is_none();
                    let arrival = if front { -self.arrive() } else { self.arrive() };
                    let record = self.thread(thread);
                    (record.level, record.arrival) = (due, arrival);
                }
            }
            if !changed {
                return;
            }
        }
    }

    pub fn hand_over(&mut self, lock: u8, status: i64) {
        self.owners[lock as usize] = self.waiter(Wait::Lock(lock));
        if let Some(next) = self.owners[lock as usize] {
            let arrival = self.arrive();
            let record = self.thread(next);
            (record.wait, record.result, record.arrival) = (None, (status, 0), arrival);
            record.held.push(lock);
        }
    }

    pub fn v(&mut self, semaphore: u16) {
        match self.waiter(Wait::Semaphore(semaphore)) {
            Some(waiter) => self.end_wait(waiter, 0),
            None => self.available[semaphore as usize] += 1,
        }
    }

    pub fn spawn(&mut self, priority: u8) -> Option<ThreadIndex> {
        let new = (1..=LAST).find(|t| self.get(*t).is_none())?;
        let level = 255 - priority;
        let arrival = self.arrive();
        self.threads[new as usize] = Some(ModelThread {
            own: level,
            level,
            wait: None,
            arrival,
            wait_instance: InstanceId(0),
            limit: None,
            stopped: false,
            held: vec![],
            result: (0, 0),
            used: 0,
        });
        Some(new)
    }

    pub fn end(&mut self, thread: ThreadIndex) {
        self.end_wait(thread, 0);
        self.faults.retain(|faulty| *faulty != thread);
        while let Some(lock) = self.thread(thread).held.pop() {
            self.hand_over(lock, OWNER_ENDED.into());
        }
        self.threads[thread as usize] = None;
        self.generations[thread as usize] += 1;
        if let Some(joiner) = self.waiter(Wait::Join(thread)) {
            self.end_wait(joiner, 0);
        }
    }

    /// True if `thread` would wait for itself.
    pub fn deadlock(&self, thread: ThreadIndex, lock: u8) -> bool {
        match self.owners[lock as usize] {
            None => false,
            Some(owner) if owner == thread => true,
            Some(owner) => match self.get(owner).and_then(|record| record.wait) {
                Some(Wait::Lock(next)) => self.deadlock(thread, next),
                _ => false,
            },
        }
    }

    pub fn handle(&self, thread: ThreadIndex) -> Handle {
        Handle(self.generations[thread as usize] << 8 | u64::from(thread))
    }

    pub fn reclaim(&mut self, dead: InstanceId) {
        for thread in 1..=LAST {
            if self.get(thread).is_some_and(|t| t.wait.is_some() && t.wait_instance == dead) {
                self.end_wait(thread, Error::Dead.status());
            }
        }
        for semaphore in SEMAPHORES_USED.into_iter().filter(|s| semaphore_payer(*s) == dead) {
            while let Some(waiter) = self.waiter(Wait::Semaphore(semaphore)) {
                self.end_wait(waiter, Error::Dead.status());
            }
            self.available[semaphore as usize] = 0;
        }
        for lock in (1..=LOCK_COUNT as u8).filter(|lock| lock_payer(*lock) == dead) {
            while let Some(waiter) = self.waiter(Wait::Lock(lock)) {
                self.end_wait(waiter, Error::Dead.status());
            }
            if let Some(owner) = self.owners[lock as usize].take() {
                self.thread(owner).held.retain(|held| *held != lock);
                self.settle();
            }
        }
    }
}

pub const SEMAPHORES_USED: [u16; 4] = [0, 1, 4, SUPERVISOR_SEMAPHORE];

pub fn semaphore_payer(semaphore: u16) -> InstanceId {
    if semaphore < 4 { ONE } else { TWO }
}

pub fn lock_payer(lock: u8) -> InstanceId {
    if lock <= 2 { ONE } else { TWO }
}

#[derive(Clone, Copy, Debug)]
pub enum Step {
    Yield,
    Sleep(u64),
    Tick,
    P(u16),
    TimedP(u16, u64),
    TryP(u16),
    V(u16),
    InterruptV(u16),
    SetPriority(ThreadIndex, u8),
    Spawn(u8),
    Exit,
    Join(ThreadIndex),
    Lock(u8),
    Unlock(u8),
    Stop(ThreadIndex),
    Resume(ThreadIndex),
    CancelWait(ThreadIndex),
    Kill(ThreadIndex),
    Fault,
    NextFault,
    WaitStack(u16),
    StackFreed(u16),
    Reclaim(InstanceId),
    Succeed,
}

pub fn step() -> impl Strategy<Value = Step> {
    let semaphore = || prop::sample::select(&SEMAPHORES_USED[..]);
    let thread = || 1..=LAST;
    let priority = || (1u8..6).prop_map(|level| level * 30);
    let lock = || 1..=LOCK_COUNT as u8;
    prop_oneof![
        3 => Just(Step::Yield),
        3 => (0u64..20).prop_map(Step::Sleep),
        4 => Just(Step::Tick),
        6 => semaphore().prop_map(Step::P),
        3 => (semaphore(), 0u64..20).prop_map(|(s, time)| Step::TimedP(s, time)),
        2 => semaphore().prop_map(Step::TryP),
        6 => semaphore().prop_map(Step::V),
        6 => semaphore().prop_map(Step::InterruptV),
        3 => (thread(), priority()).prop_map(|(t, p)| Step::SetPriority(t, p)),
        3 => priority().prop_map(Step::Spawn),
        1 => Just(Step::Exit),
        2 => thread().prop_map(Step::Join),
        9 => lock().prop_map(Step::Lock),
        7 => lock().prop_map(Step::Unlock),
        1 => thread().prop_map(Step::Stop),
        3 => thread().prop_map(Step::Resume),
        6 => thread().prop_map(Step::CancelWait),
        1 => thread().prop_map(Step::Kill),
        1 => Just(Step::Fault),
        2 => Just(Step::NextFault),
        2 => (0u16..2).prop_map(Step::WaitStack),
        3 => (0u16..2).prop_map(Step::StackFreed),
        1 => prop::sample::select(&[ONE, TWO][..]).prop_map(Step::Reclaim),
        2 => Just(Step::Succeed),
    ]
}
