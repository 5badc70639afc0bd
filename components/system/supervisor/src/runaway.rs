//! The watch for calls that execute for too long: a thread of the highest priority, which looks at a few threads
//! at a time and only stops a thread that runs away. The worker, which counts as at least as urgent as that thread then, and not as the
//! watch, does the rest. Everyone waits for a look, so it is short: a few thousand instructions, whatever others have.
//!
//! A call that is not back in time may lack the processor, or wait for a lock or a stack that another thread has. Then its
//! callee is not at fault yet: the owner of a lock is called home ([`crate::blame`]), and the callee that keeps that one dies. When the
//! call has got what it waited for, its time begins anew. If that takes some times as long as the call may, its wait is ended.

use crate::blame::{HELD_UP_TIMES, is_held_up, used};
use crate::component as imports;
use crate::lasting::lasting;
use crate::reason::Reason;
use crate::system::{System, state};
use cairn::exclusive::Exclusive;
use cairn::in_place::content;
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn_abi::thread::THREADS_MAXIMUM;
use cairn_interfaces::{Activity, Thread, ThreadState, Wait, spawn};
use cairn_supervisor::instances::Threads;
use cairn_supervisor::stack::{Frame, Kind, Limit};
use cairn_supervisor::watch::Watch;
use core::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering::Relaxed};

/// All threads are looked at as often as half the shortest limit, and at most once in this time.
const ROUND_MICROSECONDS: u64 = 1000;
/// Threads and frames of one look: it is over as soon as it has seen so many of either.
const THREADS_OF_LOOK: usize = 4;
const FRAMES_OF_LOOK: usize = 8;

/// The calls that are watched, too many for the stack.
static WATCH: Exclusive<Watch> = Exclusive::new(Watch::new());
static STACK: Stack<4096> = Stack::new();
/// In the same word: the call is late, and has not executed for too long; it waited for a lock, a stack or the processor
/// then; its thread goes on until it is judged.
const LATE: u16 = 1;
const HELD_UP: u16 = 2;
const GOES_ON: u16 = 4;
/// The worker is in the portal manager, and may wait for the lock of that. Its holder must not be stopped then: the worker,
/// which alone lets it go on, would wait for it for ever.
static IN_PORTALS: AtomicBool = AtomicBool::new(false);

/// Between two looks at what a late call waits for.
const HELD_UP_MICROSECONDS: u64 = 10_000;

/// A call that others held up, by its time, and until when it is excused.
struct Excuse {
    stamp: AtomicU64,
    /// What its thread had run when it was late first, and when its waits are not excused any more.
    used: AtomicU64,
    ends: AtomicU64,
    until: AtomicU64,
    /// It does not wait any more, and has its whole time anew, which it gets once.
    is_renewed: AtomicBool,
}

/// What a successor has to know.
pub struct Lasting {
    /// Threads that were stopped because a call of theirs takes too long: which one, by the place of its frame.
    accused: Threads,
    calls: [AtomicU16; THREADS_MAXIMUM],
    /// And its time, which tells it from a later one at the same place.
    stamps: [AtomicU64; THREADS_MAXIMUM],
    /// Of each thread the outermost late call, and one that this makes, which lasts no longer, whatever others it makes in turn.
    excuses: [[Excuse; 2]; THREADS_MAXIMUM],
}

impl Lasting {
    /// No call takes too long.
    pub const fn none() -> Lasting {
        Lasting {
            accused: Threads::new(),
            calls: [const { AtomicU16::new(0) }; THREADS_MAXIMUM],
            stamps: [const { AtomicU64::new(0) }; THREADS_MAXIMUM],
            excuses: [const { [const { Excuse::none() }; 2] }; THREADS_MAXIMUM],
        }
    }
}

static LASTING: &Lasting = &lasting().accused;

impl Excuse {
    const fn none() -> Excuse {
        Excuse {
            stamp: AtomicU64::new(0),
            used: AtomicU64::new(0),
            ends: AtomicU64::new(0),
            until: AtomicU64::new(0),
            is_renewed: AtomicBool::new(false),
        }
    }

    fn of(index: u64) -> &'static [Excuse; 2] {
        &LASTING.excuses[index as usize % THREADS_MAXIMUM]
    }

    fn is_of(&self, limit: Limit) -> bool {
        self.stamp.load(Relaxed) == limit.stamp
    }

    fn holds(&self, limit: Limit) -> bool {
        self.is_of(limit) && now() < self.until.load(Relaxed)
    }

    /// The excuse is that of this call from now on.
    fn begin(&self, index: u64, limit: Limit) {
        if self.stamp.swap(limit.stamp, Relaxed) != limit.stamp {
            let longest = limit.longest_call.unwrap_or(0);
            self.ends.store(now() + longest.saturating_mul(HELD_UP_TIMES), Relaxed);
            self.used.store(used(index), Relaxed);
            self.until.store(0, Relaxed);
            self.is_renewed.store(false, Relaxed);
        }
    }

    fn has_ended(&self) -> bool {
        now() >= self.ends.load(Relaxed)
    }

    fn renew(&self, longest: u64) -> bool {
        !self.is_renewed.swap(true, Relaxed) && self.give(longest)
    }

    fn give(&self, time: u64) -> bool {
        self.until.store(now() + time, Relaxed);
        true
    }
}

/// A call has waited until its callee serves: it has its whole time anew.
pub fn excuse(index: u64, limit: Limit) {
    if let Some(longest) = limit.longest_call {
        let [outermost, _] = Excuse::of(index);
        outermost.begin(index, limit);
        outermost.renew(longest);
    }
}

/// Whether a call is not back in time.
fn is_late(limit: Limit) -> bool {
    limit.longest_call.is_some_and(|longest| now().saturating_sub(limit.stamp) > longest)
}

/// Starts the watch if any export has a limit.
pub fn begin(system: &System, priority: u8) -> Option<Thread> {
    system.shortest_limit()?;
    // The host tool sees that the description gives the supervisor this thread.
    spawn(imports::THREADS, &STACK, watch, 0, priority).ok()
}

/// Ends the watch in a content which the worker leaves: it looks no more, and is in there no longer.
pub fn end(watch: Option<Thread>) {
    if let Some(watch) = watch {
        let _ = imports::CONTROL.cancel_wait(watch.name());
        let _ = watch.join();
    }
}

fn watch(_: u64) {
    let Some(system) = System::find() else { return };
    let Some(limit) = system.shortest_limit() else { return };
    let round = (limit / 2).max(ticks(ROUND_MICROSECONDS));
    let pause = (round * THREADS_OF_LOOK as u64 / system.thread_count().max(1)).max(ticks(20));
    let (mut next, mut from) = (now(), 0);
    loop {
        next = (next + pause).max(now());
        let _ = imports::THREADS.sleep_until(next);
        if content::is_former() {
            return;
        }
        from = WATCH.with(|watch| system.look_for_runaways(watch, from));
    }
}

impl System {
    /// Looks at some threads from `from` on; where the next look begins.
    fn look_for_runaways(&self, watch: &mut Watch, from: u64) -> u64 {
        let mut seen = 0;
        let end = self.thread_count().min(from + THREADS_OF_LOOK as u64);
        for index in from..end {
            if seen >= FRAMES_OF_LOOK {
                return index;
            }
            if self.exists(index) {
                seen += self.look_at(watch, index);
            }
            watch.end_thread(index);
        }
        if end < self.thread_count() { end } else { 0 }
    }

    /// Looks at a thread, and stops it if a call of it executes for too long. How many frames it has.
    fn look_at(&self, watch: &mut Watch, index: u64) -> usize {
        let (mut count, mut accused, mut thread, mut is_excused) = (0, None, None, false);
        for frame in self.frames_with_limits(index) {
            count += 1;
            let Some(limit) = frame.limit else { continue };
            if thread.is_none() {
                let name = imports::SCHEDULING.thread(index).map(|thread| thread.name).ok();
                thread = name.zip(imports::SCHEDULING.thread_time(index).ok());
            }
            let Some((name, used)) = thread else { break };
            let ran_away = limit.longest.is_some() && watch.see(name, frame.header, limit, used);
            let is_late = is_late(limit);
            // The innermost one is at fault, or excused: the others wait for it.
            is_excused |= Excuse::of(index).iter().any(|excuse| excuse.holds(limit));
            if (ran_away || is_late && !is_excused) && accused.is_none() {
                accused = Some((name, frame.offset() as u16, limit.stamp, !ran_away));
            }
        }
        if let Some((name, offset, stamp, is_late)) = accused
            && imports::CONTROL.stop(name).is_ok()
        {
            let lacks = |wait: Wait| is_held_up(&wait) || wait.activity == Activity::Ready;
            let found = match is_late {
                true if imports::CONTROL.waits_for(name).is_ok_and(lacks) => LATE | HELD_UP,
                true => LATE,
                false => 0,
            };
            let mut found = found;
            if IN_PORTALS.load(Relaxed) {
                // It has lent the worker its urgency all the same.
                let _ = imports::CONTROL.resume(name);
                found |= GOES_ON;
            }
            // Frames lie at multiples of eight.
            LASTING.calls[index as usize % THREADS_MAXIMUM].store(offset | found, Relaxed);
            LASTING.stamps[index as usize % THREADS_MAXIMUM].store(stamp, Relaxed);
            LASTING.accused.insert(index);
            let _ = imports::CONTROL.alarm();
        }
        count
    }

    /// The outermost late call of a stopped thread, if it has used up what it got when others held it up.
    fn outermost(&self, index: u64) -> Option<(Frame, bool)> {
        let late = self.frames_with_limits(index).filter(|frame| frame.limit.is_some_and(is_late));
        let frame = late.last()?;
        let [outermost, _] = Excuse::of(index);
        let is_it = frame.limit.is_some_and(|limit| outermost.is_of(limit));
        let is_used_up =
            outermost.is_renewed.load(Relaxed) && now() >= outermost.until.load(Relaxed);
        Some((frame, is_it && is_used_up))
    }

    /// Whether the call of a stopped thread, as it was found, is late for what others have; the owner of a lock is called
    /// home then.
    fn is_excused(&self, index: u64, name: u64, limit: Limit, found: u16) -> bool {
        let Some(longest) = limit.longest_call.filter(|_| found & LATE != 0) else { return false };
        let [outermost, inner] = Excuse::of(index);
        if found & HELD_UP == 0 {
            let known = [outermost, inner].into_iter().find(|excuse| excuse.is_of(limit));
            return known.is_some_and(|excuse| excuse.renew(longest));
        }
        let outer = self.outermost(index).and_then(|(frame, _)| frame.limit).unwrap_or(limit);
        outermost.begin(index, outer);
        let excuse = if outermost.is_of(limit) { outermost } else { inner };
        excuse.begin(index, limit);
        match imports::CONTROL.waits_for(name) {
            Ok(wait) if is_held_up(&wait) => {
                let since = now().saturating_sub(ticks(2 * HELD_UP_MICROSECONDS));
                if (!excuse.has_ended() && !outermost.has_ended())
                    || self.does_owner_starve(index, &wait, since)
                {
                    self.call_owner_home(index, &wait);
                    return excuse.give(ticks(HELD_UP_MICROSECONDS));
                }
                self.end_wait(index, name);
                match excuse.has_ended() {
                    true => excuse.renew(longest),
                    // It is the outermost that has no more time; that one's callee is at fault next.
                    false => {
                        let rest = outer.longest_call.unwrap_or(0);
                        outermost.renew(rest);
                        excuse.give(rest)
                    }
                }
            }
            // It only lacks the processor, as long as it has not run for all of the time since.
            _ => {
                used(index).saturating_sub(excuse.used.load(Relaxed)) <= longest
                    && excuse.give(ticks(HELD_UP_MICROSECONDS))
            }
        }
    }

    /// Runs a call of the portal manager, while the watch stops no thread; one that it has stopped is judged before.
    pub fn in_portals<T>(&self, call: impl FnOnce() -> T) -> T {
        IN_PORTALS.store(true, Relaxed);
        while LASTING.accused.iter().next().is_some() {
            IN_PORTALS.store(false, Relaxed);
            self.judge();
            IN_PORTALS.store(true, Relaxed);
        }
        let result = call();
        IN_PORTALS.store(false, Relaxed);
        result
    }

    /// The callees of the calls that were found to take too long die.
    pub fn judge(&self) {
        for index in LASTING.accused.iter() {
            LASTING.accused.remove(index);
            let word = LASTING.calls[index as usize % THREADS_MAXIMUM].load(Relaxed);
            let found = word & (LATE | HELD_UP | GOES_ON);
            let offset = u64::from(word - found);
            let Ok(ThreadState { name, .. }) = imports::SCHEDULING.thread(index) else { continue };
            if found & GOES_ON != 0 && imports::CONTROL.stop(name).is_err() {
                // It has faulted, which is settled first.
                continue;
            }
            let call = self.frames_with_limits(index).find(|frame| frame.offset() == offset);
            let stamp = LASTING.stamps[index as usize % THREADS_MAXIMUM].load(Relaxed);
            let limit = call.and_then(|call| call.limit).filter(|limit| limit.stamp == stamp);
            // Whoever has had all of its time, the calls that it makes are no excuse.
            let used_up =
                self.outermost(index).filter(|(_, is_used_up)| *is_used_up && limit.is_some());
            let (call, limit) = match used_up {
                Some((frame, _)) => (Some(frame), frame.limit),
                None => (call, limit),
            };
            if let (Some(Kind::Call { callee }), Some(limit)) = (call.map(|call| call.kind), limit)
                && let culprit = self.lives_in(callee)
                && state(culprit).is_alive()
                && !self.is_excused(index, name, limit, found)
            {
                if self.is_essential(culprit) {
                    // The system cannot go on without it; the nucleus says so at its next instruction.
                    let _ = self.instance(culprit).map(|leader| self.unmap(leader));
                } else {
                    let longest = limit.longest_call.or(limit.longest).unwrap_or(0);
                    self.die(culprit, Reason::RanAway { thread: index, longest });
                    self.unwind(callee, index);
                    if self.is_in(index, callee) {
                        let _ = imports::CONTROL.cancel_wait(name);
                    }
                }
            }
            let _ = imports::CONTROL.resume(name);
        }
    }
}
