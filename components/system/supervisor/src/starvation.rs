//! A thread that never ends keeps the processor from all that are less urgent, the shell among them. Who looks is the worker, now
//! and then at the priority of the console's driver: for as long as the idle thread runs, nobody waits for the processor, and one question
//! is all it costs. If it has not run for a while, the threads' run times say who has, and who wanted to: a thread that was ready when it was
//! looked at, and is now, and has not run meanwhile, was ready all the time, whether one keeps it from running or many do in turn.

use crate::component as imports;
use crate::printer;
use crate::system::System;
use cairn::time::{now, ticks};
use cairn::{DomainId, InstanceId};
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::thread::THREADS_MAXIMUM;
use cairn_interfaces::{Activity, ThreadState};
use core::fmt::Write;
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// Between two looks whether the idle thread has run, and two rounds of looks, and how long it may not, nor one that is ready.
const PERIOD_MICROSECONDS: u64 = 1_000_000;
const BUSY_MICROSECONDS: u64 = 2_000_000;
/// Between two reports of threads of the same instance: to begin others makes no more.
const AGAIN_MICROSECONDS: u64 = 60_000_000;
/// Threads of one step of a look.
const THREADS_OF_STEP: usize = 4;
/// Of the time, what a thread has run that alone keeps others from running: this many tenths.
const TENTHS: u64 = 9;

static NEXT: AtomicU64 = AtomicU64::new(0);
static PRIORITY: AtomicU8 = AtomicU8::new(0);
/// What the idle thread had run, and when it was seen to have run.
static IDLE_TIME: AtomicU64 = AtomicU64::new(0);
static IDLE_AT: AtomicU64 = AtomicU64::new(0);
/// The next thread to be looked at.
static CURSOR: AtomicU64 = AtomicU64::new(0);
/// When the round began, and the one before.
static ROUND: AtomicU64 = AtomicU64::new(0);
/// What threads had run when they were looked at last.
static USED: [AtomicU64; THREADS_MAXIMUM] = [const { AtomicU64::new(0) }; THREADS_MAXIMUM];
/// Since when they were found ready each time, and had not run; zero: they were not.
static READY_SINCE: [AtomicU64; THREADS_MAXIMUM] = [const { AtomicU64::new(0) }; THREADS_MAXIMUM];
/// Of this round: who has run most and for how long; the most urgent of those who could for long, and have not.
static HOLDER: AtomicU64 = AtomicU64::new(0);
static HELD: AtomicU64 = AtomicU64::new(0);
static STARVED: AtomicU64 = AtomicU64::new(NOBODY);
/// When one of an instance's was reported last; zero: never.
static TOLD_AT: [AtomicU64; INSTANCES_MAXIMUM] = [const { AtomicU64::new(0) }; INSTANCES_MAXIMUM];

/// Of 256 threads at most, none has this index.
const NOBODY: u64 = u64::MAX;

/// When to look next, in ticks, and at which priority.
pub fn next_look() -> (u64, u8) {
    (NEXT.load(Relaxed), PRIORITY.load(Relaxed))
}

/// Looks begin, at this priority.
pub fn begin(priority: u8) {
    PRIORITY.store(priority, Relaxed);
    IDLE_AT.store(now(), Relaxed);
    NEXT.store(now() + ticks(PERIOD_MICROSECONDS), Relaxed);
}

impl System {
    /// One step of a look; whether it found something to say, and the priority of whom it is about. The steps follow each other: a
    /// wake-up for each would be an interrupt that others wait for, each time.
    pub fn look_for_starvation(&self) -> Option<u8> {
        let cursor = CURSOR.load(Relaxed);
        NEXT.store(now() + ticks(PERIOD_MICROSECONDS), Relaxed);
        if cursor == 0 {
            let idle =
                self.idle_thread().and_then(|index| imports::SCHEDULING.thread_time(index).ok());
            let idle = idle.unwrap_or(0);
            if IDLE_TIME.swap(idle, Relaxed) != idle {
                IDLE_AT.store(now(), Relaxed);
                ROUND.store(0, Relaxed);
                return None;
            }
            if now() - IDLE_AT.load(Relaxed) < ticks(BUSY_MICROSECONDS) {
                return None;
            }
        }
        let mut at = cursor;
        for _ in 0..THREADS_OF_STEP {
            let Some(index) = self.next_thread(at) else {
                at = self.thread_count();
                break;
            };
            self.compare(index);
            at = index + 1;
        }
        if at < self.thread_count() {
            CURSOR.store(at, Relaxed);
            NEXT.store(0, Relaxed);
            return None;
        }
        CURSOR.store(0, Relaxed);
        let since = ROUND.swap(now(), Relaxed);
        let (held, holder) = (HELD.swap(0, Relaxed), HOLDER.load(Relaxed));
        let starved = STARVED.swap(NOBODY, Relaxed);
        // The first round only finds what the second compares with.
        if since == 0 || starved == NOBODY {
            return None;
        }
        let is_alone = held >= (now() - since) * TENTHS / 10;
        self.tell_starvation(holder, starved, is_alone)
    }

    /// Takes up what a thread has run since the last round.
    fn compare(&self, index: u64) {
        let (Ok(used), Ok(state)) =
            (imports::SCHEDULING.thread_time(index), imports::SCHEDULING.thread(index))
        else {
            return;
        };
        let place = index as usize % THREADS_MAXIMUM;
        let before = USED[place].swap(used, Relaxed);
        // It is less of another one of this number.
        let ran = used.saturating_sub(before);
        if ran > HELD.load(Relaxed) {
            HELD.store(ran, Relaxed);
            HOLDER.store(index, Relaxed);
        }
        let is_ready = state.activity == Activity::Ready && state.home != InstanceId(0);
        let since = match READY_SINCE[place].load(Relaxed) {
            since if is_ready && used == before && since != 0 => since,
            _ => now(),
        };
        READY_SINCE[place].store(if is_ready { since } else { 0 }, Relaxed);
        let is_waiting = is_ready && now() - since >= ticks(BUSY_MICROSECONDS);
        let is_first = |other: ThreadState| other.priority < state.priority;
        let other = imports::SCHEDULING.thread(STARVED.load(Relaxed));
        if is_waiting && other.map_or(true, is_first) {
            STARVED.store(index, Relaxed);
        }
    }

    fn tell_starvation(&self, holder: u64, starved: u64, is_alone: bool) -> Option<u8> {
        let thread = imports::SCHEDULING.thread(holder).ok()?;
        let waiting = imports::SCHEDULING.thread(starved).ok()?;
        let home = self.home(thread);
        let told_at = &TOLD_AT[home.0 as usize % INSTANCES_MAXIMUM];
        let told = told_at.load(Relaxed);
        let is_known = told != 0 && now() - told < ticks(AGAIN_MICROSECONDS);
        if waiting.priority >= thread.priority || is_known {
            return None;
        }
        told_at.store(now(), Relaxed);
        let seconds = (now() - IDLE_AT.load(Relaxed)) / ticks(1_000_000).max(1);
        let inside = self.frames(holder).next().map_or(DomainId(0), |frame| frame.into);
        let mut log = printer::log();
        let others = if is_alone { "" } else { ", with others," };
        let _ = write!(log, "supervisor: `{}`{others} has run", self.name(home));
        let _ = write!(log, " for {seconds} s at priority {} in thread {holder}", thread.priority);
        let _ = write!(log, ", now in `{}`", self.name(self.lives_in(inside)));
        let _ = writeln!(log, "; `{}` waits", self.name(self.home(waiting)));
        Some(thread.priority)
    }
}
