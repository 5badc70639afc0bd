//! A thread that never ends keeps the processor from all that are less urgent, the shell among them. Who looks is the worker, now
//! and then at the priority of the console's driver: for as long as the idle thread runs, nobody waits for the processor, and one question
//! is all it costs. If it has not run for a while, the threads' run times say who has, and who wanted to: a thread that was ready when it was
//! looked at, and is now, and has not run meanwhile, was ready all the time, whether one keeps it from running or many do in turn. What counts
//! is what an instance's threads ran together, with those that have ended: to begin others for each moment hides nobody.

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
/// Threads or instances of one step of a look.
const COUNT_OF_STEP: usize = 4;
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
/// What threads of instances that have ended had run, when that was looked at last.
static ENDED: [AtomicU64; INSTANCES_MAXIMUM] = [const { AtomicU64::new(0) }; INSTANCES_MAXIMUM];
/// Of this round: what threads of each instance have run, and which of them most, as [`Holder`]'s word.
static HELD: [AtomicU64; INSTANCES_MAXIMUM] = [const { AtomicU64::new(0) }; INSTANCES_MAXIMUM];
static HOLDERS: [AtomicU64; INSTANCES_MAXIMUM] = [const { AtomicU64::new(0) }; INSTANCES_MAXIMUM];
/// Of the instances of this round: what the one has run that has most, and its number and thread.
static MOST: AtomicU64 = AtomicU64::new(0);
static HOME: AtomicU64 = AtomicU64::new(0);
static HOLDER: AtomicU64 = AtomicU64::new(0);
/// The most urgent of the threads that could have run for long, and have not.
static STARVED: AtomicU64 = AtomicU64::new(NOBODY);
/// When one of an instance's was reported last; zero: never.
static TOLD_AT: [AtomicU64; INSTANCES_MAXIMUM] = [const { AtomicU64::new(0) }; INSTANCES_MAXIMUM];

/// Of 256 threads at most, none has this index.
const NOBODY: u64 = u64::MAX;

/// A thread that has run, as it was when it was looked at: it may have ended since.
#[derive(Clone, Copy)]
struct Holder {
    index: u64,
    priority: u8,
}

impl Holder {
    /// More if it ran for longer.
    fn word(self, ran: u64) -> u64 {
        ran << 16 | u64::from(self.priority) << 8 | self.index
    }

    fn of(word: u64) -> Holder {
        Holder { index: word & 0xff, priority: (word >> 8) as u8 }
    }
}
const _: () = assert!(THREADS_MAXIMUM <= 1 << 8);

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
        // The threads, then the instances.
        let (mut at, mut is_over) = (cursor, false);
        for _ in 0..COUNT_OF_STEP {
            if let Some(index) = self.next_thread(at) {
                self.compare(index);
                at = index + 1;
                continue;
            }
            at = at.max(self.thread_count());
            let Some(record) = self.instances(at - self.thread_count()).next() else {
                is_over = true;
                break;
            };
            self.sum_up(record.number);
            at = self.thread_count() + u64::from(record.number) + 1;
        }
        if !is_over {
            CURSOR.store(at, Relaxed);
            NEXT.store(0, Relaxed);
            return None;
        }
        CURSOR.store(0, Relaxed);
        let since = ROUND.swap(now(), Relaxed);
        let most = MOST.swap(0, Relaxed);
        let starved = STARVED.swap(NOBODY, Relaxed);
        // The first round only finds what the second compares with.
        if since == 0 || starved == NOBODY {
            return None;
        }
        let is_alone = most >= (now() - since) * TENTHS / 10;
        self.tell_starvation(starved, is_alone)
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
        let ran = used.checked_sub(before).unwrap_or(used);
        let home = state.home.index() % INSTANCES_MAXIMUM;
        HELD[home].fetch_add(ran, Relaxed);
        HOLDERS[home].fetch_max(Holder { index, priority: state.priority }.word(ran), Relaxed);
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

    /// What an instance's threads ran in this round, those included that have ended.
    fn sum_up(&self, instance: InstanceId) {
        let place = instance.index() % INSTANCES_MAXIMUM;
        let ended = imports::SCHEDULING.time_ended(instance).unwrap_or(0);
        // Of one that ran for long before this round, all: its end is in this one. So it is no more than there was.
        let ended = ended.wrapping_sub(ENDED[place].swap(ended, Relaxed));
        let ran = HELD[place].swap(0, Relaxed).saturating_add(ended);
        let ran = ran.min(now() - ROUND.load(Relaxed));
        let holder = HOLDERS[place].swap(0, Relaxed);
        if ran > MOST.load(Relaxed) {
            MOST.store(ran, Relaxed);
            HOME.store(instance.0.into(), Relaxed);
            HOLDER.store(holder, Relaxed);
        }
    }

    fn tell_starvation(&self, starved: u64, is_alone: bool) -> Option<u8> {
        let home = InstanceId(HOME.load(Relaxed) as u16);
        let holder = Holder::of(HOLDER.load(Relaxed));
        let waiting = imports::SCHEDULING.thread(starved).ok()?;
        let told_at = &TOLD_AT[home.index() % INSTANCES_MAXIMUM];
        let told = told_at.load(Relaxed);
        let is_known = told != 0 && now() - told < ticks(AGAIN_MICROSECONDS);
        if waiting.priority >= holder.priority || is_known {
            return None;
        }
        told_at.store(now(), Relaxed);
        let seconds = (now() - IDLE_AT.load(Relaxed)) / ticks(1_000_000).max(1);
        let index = holder.index;
        let mut log = printer::log();
        let others = if is_alone { "" } else { ", with others," };
        let _ = write!(log, "supervisor: `{}`{others} has run", self.name(home));
        let _ = write!(log, " for {seconds} s at priority {} in thread {index}", holder.priority);
        let _ = match imports::SCHEDULING.thread(index) {
            Ok(thread) if thread.home == home => {
                let inside = self.frames(index).next().map_or(DomainId(0), |frame| frame.into);
                write!(log, ", now in `{}`", self.name(self.lives_in(inside)))
            }
            _ => write!(log, ", which has ended"),
        };
        let _ = writeln!(log, "; `{}` waits", self.name(self.home(waiting)));
        Some(holder.priority)
    }
}
