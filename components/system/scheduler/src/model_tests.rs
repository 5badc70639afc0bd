//! The scheduler against the model, over random steps.

extern crate std;
use crate::testing::*;
use crate::*;
use cairn_abi::semaphore::{LEVEL_NEVER, level};
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::Ordering::Relaxed;
use model::*;
use proptest::prelude::*;
use std::{boxed::Box, vec};

#[path = "model.rs"]
mod model;

/// Scheduler and model side by side.
struct Pair {
    s: Box<TestScheduler>,
    m: Model,
    now: u64,
    steps: u64,
    idle_result: (i64, u64),
}

impl Pair {
    fn new() -> Pair {
        let priorities = [30, 60, 60, 90, 90, 120];
        let mut s = scheduler(&priorities);
        s.configuration.quantum = u64::MAX;
        s.next_tick = 0;
        for lock in 1..=LOCK_COUNT as u8 {
            s.create_lock(lock_payer(lock)).unwrap();
        }
        let mut m = Model {
            threads: vec![None; 256],
            generations: vec![0; 256],
            available: vec![0; 16],
            owners: vec![None; LOCK_COUNT + 1],
            faults: vec![],
            arrivals: 0,
        };
        for priority in priorities {
            m.spawn(priority);
        }
        Pair { s, m, now: 0, steps: 0, idle_result: (0, 0) }
    }

    /// `caller` ended an operation with this result, if it does not wait; compares who goes on.
    fn expect(&mut self, caller: ThreadIndex, status: i64, value: u64, outcome: Outcome) {
        let running = self.m.running();
        let left = self.s.has_work();
        if left {
            return self.expect_later(caller, status, value, outcome);
        }
        if running == caller {
            assert_eq!(outcome, reply(status, value));
            return;
        }
        if outcome == switched(IDLE, self.idle_result.0, self.idle_result.1) && running != IDLE {
            // The second end in a row.
            return self.expect_later(caller, status, value, outcome);
        }
        self.set_result(caller, status, value);
        let (status, value) = self.result(running);
        assert_eq!(outcome, switched(running, status, value));
    }

    /// The operation left work: the timer's interrupts do it, and what holds then is compared.
    fn expect_later(&mut self, caller: ThreadIndex, status: i64, value: u64, outcome: Outcome) {
        let waits = self.s.deferred && self.s.outranks(self.s.running(), self.s.work_class);
        assert!(waits || self.s.machine.timer <= self.now, "the timer comes at once");
        let mut on = caller;
        match outcome {
            Outcome::Switch { thread, .. } => {
                self.set_result(caller, status, value);
                on = thread;
            }
            other => assert_eq!(other, reply(status, value)),
        }
        while self.s.has_work() {
            self.s.do_work(self.now);
        }
        if self.s.finish(on, 0, 0, self.now) != OK {
            self.set_result(on, 0, 0);
        }
    }

    fn set_result(&mut self, thread: ThreadIndex, status: i64, value: u64) {
        if thread == IDLE {
            self.idle_result = (status, value);
        } else if let Some(record) = &mut self.m.threads[thread as usize]
            && record.wait.is_none()
        {
            record.result = (status, value);
        }
    }

    fn result(&self, thread: ThreadIndex) -> (i64, u64) {
        self.m.get(thread).map_or(self.idle_result, |record| record.result)
    }

    fn refuse(&mut self, caller: ThreadIndex, error: Error, outcome: Outcome) {
        self.expect(caller, error.status(), 0, outcome);
    }

    fn step(&mut self, step: Step) {
        self.steps += 1;
        self.now += STEP * (self.steps % 3);
        let now = self.now;
        let limit = |time: u64| (now / STEP + time) * STEP + self.steps;
        let caller = self.m.running();
        if let Some(record) = &mut self.m.threads[caller as usize] {
            record.used += STEP * (self.steps % 3);
        }
        let instance = if caller.is_multiple_of(2) { ONE } else { TWO };
        if let Step::V(semaphore) = step
            && v_in_portal(&self.s.machine, semaphore)
        {
            self.m.v(semaphore);
            return self.expect(caller, 0, 0, OK);
        }
        self.s.enter();
        let (s, m) = (&mut self.s, &mut self.m);
        match step {
            Step::Yield => {
                if caller != IDLE {
                    m.thread(caller).arrival = m.arrive();
                }
                let outcome = s.yield_now(caller, now);
                self.expect(caller, 0, 0, outcome);
            }
            Step::Sleep(time) => {
                let limit = limit(time);
                let outcome = s.sleep_until(caller, instance, limit, now);
                if caller == IDLE {
                    return self.refuse(caller, Error::NotAllowed, outcome);
                }
                m.begin_wait(caller, instance, Wait::Sleep, Some(limit));
                self.expect(caller, 0, 0, outcome);
            }
            Step::Tick => {
                if let Some(thread) = m.due(now) {
                    let slept = m.thread(thread).wait == Some(Wait::Sleep);
                    m.end_wait(thread, if slept { 0 } else { Error::TimedOut.status() });
                }
                let mut outcome = s.tick(caller, now);
                if s.expiring != IDLE {
                    // It was found, and the timer comes at once.
                    assert_eq!((outcome, s.machine.timer <= now), (OK, true));
                    outcome = s.tick(caller, now);
                }
                self.expect(caller, 0, 0, outcome);
            }
            Step::P(semaphore) | Step::TimedP(semaphore, _) => {
                let limit = match step {
                    Step::TimedP(_, time) => Some(limit(time)),
                    _ => None,
                };
                let outcome = match limit {
                    Some(limit) => s.timed_p(caller, instance, semaphore.into(), limit, now),
                    None => s.p(caller, instance, semaphore.into(), now),
                };
                if m.available[semaphore as usize] > 0 {
                    m.available[semaphore as usize] -= 1;
                } else if caller == IDLE {
                    return self.refuse(caller, Error::NotAllowed, outcome);
                } else {
                    m.begin_wait(caller, instance, Wait::Semaphore(semaphore), limit);
                }
                self.expect(caller, 0, 0, outcome);
            }
            Step::TryP(semaphore) => {
                let available = &mut m.available[semaphore as usize];
                let expected = if *available > 0 { Ok(()) } else { Err(Error::WouldBlock) };
                *available = (*available - 1).max(0);
                assert_eq!(s.try_p(semaphore.into()), expected);
            }
            Step::V(semaphore) | Step::InterruptV(semaphore) => {
                m.v(semaphore);
                let outcome = s.v(caller, semaphore.into(), now);
                self.expect(caller, 0, 0, outcome);
            }
            Step::SetPriority(target, priority) => {
                let outcome = s.set_priority(caller, ONE, m.handle(target), priority.into(), now);
                if m.get(target).is_none() {
                    return self.refuse(caller, Error::NotFound, outcome);
                }
                m.thread(target).own = 255 - priority;
                m.settle();
                self.expect(caller, 0, 0, outcome);
            }
            Step::Spawn(priority) => {
                let Some(new) = m.spawn(priority) else { return };
                let start = Start { entry: 1, stack: 2, argument: 3 };
                let outcome = s.spawn(caller, ONE, start, priority.into(), now);
                let handle = m.handle(new);
                self.expect(caller, 0, handle.0, outcome);
            }
            Step::Exit => {
                let outcome = s.exit(caller, now);
                if caller == IDLE {
                    return self.refuse(caller, Error::NotAllowed, outcome);
                }
                m.end(caller);
                self.expect(caller, 0, 0, outcome);
            }
            Step::Join(target) => {
                if caller == IDLE {
                    return;
                }
                let outcome = s.join(caller, ONE, m.handle(target), now);
                if m.get(target).is_none() {
                    return self.refuse(caller, Error::NotFound, outcome);
                }
                if target == caller {
                    return self.refuse(caller, Error::BadArgument, outcome);
                }
                if m.waiter(Wait::Join(target)).is_some() {
                    return self.refuse(caller, Error::Busy, outcome);
                }
                m.begin_wait(caller, ONE, Wait::Join(target), None);
                self.expect(caller, 0, 0, outcome);
            }
            Step::Lock(lock) => {
                let outcome = s.lock(caller, instance, lock.into(), now);
                if caller == IDLE {
                    return self.refuse(caller, Error::NotAllowed, outcome);
                }
                if m.deadlock(caller, lock) {
                    return self.refuse(caller, Error::Busy, outcome);
                }
                if m.owners[lock as usize].is_none() {
                    m.owners[lock as usize] = Some(caller);
                    m.thread(caller).held.push(lock);
                } else {
                    m.begin_wait(caller, instance, Wait::Lock(lock), None);
                    m.settle();
                }
                self.expect(caller, 0, 0, outcome);
            }
            Step::Unlock(lock) => {
                let outcome = s.unlock(caller, lock.into(), now);
                if m.owners[lock as usize] != Some(caller) {
                    return self.refuse(caller, Error::NotAllowed, outcome);
                }
                m.thread(caller).held.retain(|held| *held != lock);
                m.hand_over(lock, 0);
                m.settle();
                self.expect(caller, 0, 0, outcome);
            }
            Step::Stop(target) | Step::Resume(target) => {
                let handle = m.handle(target);
                let stops = matches!(step, Step::Stop(_));
                let outcome =
                    if stops { s.stop(caller, handle, now) } else { s.resume(caller, handle, now) };
                if m.get(target).is_none() {
                    return self.refuse(caller, Error::NotFound, outcome);
                }
                if stops && m.thread(target).stopped {
                    return self.refuse(caller, Error::Busy, outcome);
                }
                if !stops {
                    m.faults.retain(|faulty| *faulty != target);
                    if m.thread(target).stopped && m.thread(target).wait.is_none() {
                        m.thread(target).arrival = m.arrive();
                    }
                }
                m.thread(target).stopped = stops;
                self.expect(caller, 0, 0, outcome);
            }
            Step::CancelWait(target) => {
                let outcome = s.cancel_wait(caller, m.handle(target), now);
                if m.get(target).is_none() {
                    return self.refuse(caller, Error::NotFound, outcome);
                }
                let cancels = m.thread(target).wait.is_some();
                if cancels {
                    m.end_wait(target, Error::Cancelled.status());
                }
                self.expect(caller, 0, cancels.into(), outcome);
            }
            Step::Kill(target) => {
                let mut outcome = s.kill(caller, m.handle(target), now);
                if outcome == reply(Error::Busy.status(), 0) {
                    // It no longer has its time limit.
                    outcome = s.kill(caller, m.handle(target), now);
                }
                if m.get(target).is_none() {
                    return self.refuse(caller, Error::NotFound, outcome);
                }
                if target == caller {
                    return self.refuse(caller, Error::BadArgument, outcome);
                }
                m.end(target);
                self.expect(caller, 0, 0, outcome);
            }
            Step::Fault => {
                if caller == IDLE {
                    return;
                }
                m.thread(caller).stopped = true;
                m.faults.push(caller);
                m.v(SUPERVISOR_SEMAPHORE);
                let outcome = s.fault(caller, 1, 2, now);
                self.expect(caller, 0, 0, outcome);
            }
            Step::NextFault => {
                let expected = match m.faults.is_empty() {
                    true => Err(Error::NotFound),
                    false => Ok(m.faults.remove(0)),
                };
                assert_eq!(s.next_fault().map(Handle::thread), expected);
            }
            Step::WaitStack(queue) => {
                let outcome = s.wait_stack(caller, instance, queue.into(), now);
                if caller == IDLE {
                    return self.refuse(caller, Error::NotAllowed, outcome);
                }
                m.begin_wait(caller, instance, Wait::Stack(queue), None);
                self.expect(caller, 0, 0, outcome);
            }
            Step::StackFreed(queue) => {
                let waiter = m.waiter(Wait::Stack(queue));
                if let Some(waiter) = waiter {
                    m.end_wait(waiter, 0);
                }
                s.machine.free_activations.insert(queue);
                let outcome = s.stacks_freed(caller, now);
                s.machine.free_activations.clear();
                self.expect(caller, 0, 0, outcome);
            }
            Step::Reclaim(dead) => self.reclaim(dead),
            Step::Succeed => {
                let (new, outcome) = succeeded(s, caller, |_: &mut FixedPriority| {}, now);
                self.s = new;
                self.expect(caller, 0, 0, outcome);
            }
        }
    }

    /// All steps of a reclaiming; afterwards the instance is restarted.
    fn reclaim(&mut self, dead: InstanceId) {
        let mut cursor = 0;
        loop {
            let caller = self.s.running();
            let outcome = self.s.reclaim(caller, dead, cursor, self.now);
            cursor = match outcome {
                Outcome::Reply { value, .. } => value,
                Outcome::Switch { .. } => self.s.threads[caller as usize].value,
            };
            let on = match outcome {
                Outcome::Switch { thread, .. } => thread,
                Outcome::Reply { .. } => caller,
            };
            while self.s.has_work() {
                self.s.do_work(self.now);
            }
            self.s.finish(on, 0, 0, self.now);
            if cursor == 0 {
                break;
            }
        }
        self.m.reclaim(dead);
        for semaphore in (0..8).chain([SUPERVISOR_SEMAPHORE]) {
            if semaphore_payer(semaphore) == dead {
                self.s.adopt_semaphore(semaphore, dead, 0).unwrap();
            }
        }
        for lock in (1..=LOCK_COUNT as u8).filter(|lock| lock_payer(*lock) == dead) {
            assert_eq!(self.s.create_lock(dead), Ok(lock.into()));
        }
        // The steps' own results went to whoever ran.
        let value = |s: &TestScheduler, t: ThreadIndex| {
            (i64::from(s.threads[t as usize].status), s.threads[t as usize].value)
        };
        self.idle_result = value(&self.s, IDLE);
        for thread in 1..=LAST {
            let result = value(&self.s, thread);
            if let Some(record) = &mut self.m.threads[thread as usize] {
                record.result = result;
            }
        }
    }

    fn check(&self) {
        let (s, m) = (&self.s, &self.m);
        assert_eq!(s.running(), m.running());
        if s.has_noted() {
            // Nobody can look before it is done.
            return;
        }
        self.check_noting();
        for thread in 1..=LAST {
            let Some(record) = m.get(thread) else {
                assert_eq!(s.state(thread), State::Free);
                continue;
            };
            let (state, object) = match record.wait {
                None => (State::Ready, None),
                Some(Wait::Semaphore(index)) => (State::Semaphore, Some(index)),
                Some(Wait::Lock(index)) => (State::Lock, Some(index.into())),
                Some(Wait::Join(index)) => (State::Join, Some(index.into())),
                Some(Wait::Stack(index)) => (State::Stack, Some(index)),
                Some(Wait::Sleep) => (State::Sleep, None),
            };
            let real = &s.threads[thread as usize];
            assert_eq!(real.state, state, "thread {thread}");
            assert!(object.is_none_or(|object| object == real.object));
            assert_eq!(real.level, record.level, "priority of thread {thread}");
            assert_eq!(s.time_used(thread, self.now), record.used, "time of thread {thread}");
            let in_time = |(level, limit): (u8, u64)| {
                s.machine.timer <= limit.max(self.now) || m.outranks(level)
            };
            assert!(record.limit.is_none_or(in_time), "limit of thread {thread}");
            if record.wait.is_none() && thread != m.running() {
                assert_eq!((real.status.into(), real.value), record.result, "thread {thread}");
            }
        }
        for semaphore in SEMAPHORES_USED {
            let (available, waiters) =
                (m.available[semaphore as usize], m.waiters(Wait::Semaphore(semaphore)));
            assert!(available == 0 || waiters == 0, "a lost wake-up");
            assert_eq!(s.machine.semaphore(semaphore)[0].load(Relaxed), available - waiters);
        }
        for queue in 0..2 {
            let waiters = m.waiters(Wait::Stack(queue));
            assert_eq!(s.machine.waiters_word(queue).load(Relaxed), waiters);
        }
        for lock in 1..=LOCK_COUNT {
            assert_eq!(s.locks[lock].owner, m.owners[lock].unwrap_or(IDLE));
        }
    }

    /// What is noted would not go before who runs, nor be its equal while no quanta end; and it waits alone,
    /// without a limit.
    fn check_noting(&self) {
        let (s, m) = (&self.s, &self.m);
        let noted = s.machine.noted_word().load(Relaxed);
        match m.get(m.running()) {
            None => assert!((level(256)..0).contains(&noted)),
            Some(running) => {
                let least = level(running.level.into()) + i64::from(s.next_tick == 0);
                assert!((least..0).contains(&noted), "{noted} is not from {least} on");
            }
        }
        for semaphore in SEMAPHORES_USED {
            let [count, waits] = s.machine.semaphore(semaphore).each_ref().map(|w| w.load(Relaxed));
            if count < 0 && waits != LEVEL_NEVER {
                let waiter = m.get(m.waiter(Wait::Semaphore(semaphore)).unwrap()).unwrap();
                assert_eq!((count, waits, waiter.limit), (-1, level(waiter.level.into()), None));
            }
        }
    }
}

proptest! {
    // Strategies seed a generator for every value, which ChaCha, the default, makes nine tenths of the
    // time of this test.
    #![proptest_config(ProptestConfig {
        rng_algorithm: proptest::test_runner::RngAlgorithm::XorShift,
        ..ProptestConfig::with_cases(2000)
    })]
    #[test]
    fn agrees_with_the_model(steps in prop::collection::vec(step(), 1..200)) {
        let mut pair = Pair::new();
        for step in steps {
            pair.step(step);
            pair.check();
        }
        pair.s.enter();
        pair.check();
    }
}
