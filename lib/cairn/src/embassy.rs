//! Asynchronous tasks of the crate `embassy-executor` on threads of a component, with the time of the crate `embassy-time`.
//!
//! A thread that calls [`run`] executes its tasks one after the other and waits in the scheduler when none has anything to do. So a
//! component has as many executors as threads that call it, each of that thread's priority, beside threads that just wait.
//! Whatever wakes a task may be any thread of the component, a caller's too.
#![allow(unsafe_code)]

use crate::Error;
use crate::sync::Signal;
use crate::time::{Instant, counter, time_base};
use core::cell::RefCell;
use core::ptr::from_ref;
use core::task::Waker;
use critical_section::Mutex;
use embassy_executor::{Spawner, raw};
use embassy_time_driver::{Driver, TICK_HZ};
use embassy_time_queue_utils::Queue;

struct Clock {
    alarms: Mutex<RefCell<Queue>>,
}

embassy_time_driver::time_driver_impl!(static CLOCK: Clock = Clock {
    alarms: Mutex::new(RefCell::new(Queue::new())),
});

impl Driver for Clock {
    fn now(&self) -> u64 {
        scaled(counter(), time_base(), TICK_HZ)
    }

    /// The executor whose task asks looks for the next alarm before it waits.
    fn schedule_wake(&self, at: u64, waker: &Waker) {
        critical_section::with(|section| {
            self.alarms.borrow_ref_mut(section).schedule_wake(at, waker);
        });
    }
}

impl Clock {
    /// Wakes whose time has come; the time of the next alarm.
    fn next_alarm(&self) -> Instant {
        let next = critical_section::with(|section| {
            self.alarms.borrow_ref_mut(section).next_expiration(self.now())
        });
        match next {
            u64::MAX => Instant::from_ticks(u64::MAX),
            // Not before: the tick that `now` makes the same of.
            next => Instant::from_ticks(scaled(next, TICK_HZ, time_base()).saturating_add(1)),
        }
    }
}

/// A number of ticks of one frequency in those of another.
fn scaled(ticks: u64, from: u64, to: u64) -> u64 {
    let from = from.max(1);
    let part = (ticks % from) as u128 * to as u128 / from as u128;
    (ticks / from).saturating_mul(to).saturating_add(part as u64)
}

/// What the crate `embassy-executor` calls when a task is woken.
// SAFETY: nothing else has this name: an executor brings it.
#[unsafe(export_name = "__pender")]
fn pend(context: *mut ()) {
    // SAFETY: `run` gave the address of its signal, which is there for good.
    let woken = unsafe { &*context.cast::<Signal>() };
    // Called home, or without the signal: `run` says what is wrong.
    let _ = woken.signal();
}

/// Runs tasks on this thread, for ever; `begin` spawns the first of them. It takes one of the description's `semaphores`, and all
/// together one of its `locks`.
pub fn run(begin: impl FnOnce(Spawner)) -> ! {
    let woken = Signal::new();
    let executor = raw::Executor::new(from_ref(&woken).cast_mut().cast());
    // SAFETY: this function does not return, and a panic ends the component: both stay where they are.
    let executor: &'static raw::Executor = unsafe { &*from_ref(&executor) };
    begin(executor.spawner());
    loop {
        // SAFETY: this is the one call, and what pends does not call it.
        unsafe { executor.poll() };
        match woken.wait_before(CLOCK.next_alarm()) {
            Ok(()) | Err(Error::TimedOut) => {}
            Err(error) => panic!(
                "the executor cannot wait: {error}; it takes one of the description's `semaphores`, and an import of `Portals`"
            ),
        }
    }
}
