//! The watch for calls that execute for too long: a thread of the highest priority, which looks at a few threads
//! at a time and only stops who runs away. The worker, which counts as at least as urgent as that thread then, does the
//! rest.

use crate::component as imports;
use crate::death::Reason;
use crate::state::{Set, System, state};
use cairn::exclusive::Exclusive;
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn_abi::thread::THREADS_MAXIMUM;
use cairn_interfaces::spawn;
use cairn_supervisor::stack::Kind;
use cairn_supervisor::watch::Watch;
use core::sync::atomic::{AtomicU16, Ordering::Relaxed};

/// All threads are looked at as often as half the shortest limit, and at most once in this time.
const ROUND_MICROSECONDS: u64 = 1000;
/// Threads and frames of one look: it is over as soon as it has seen so many of either.
const THREADS_OF_LOOK: usize = 16;
const FRAMES_OF_LOOK: usize = 32;

/// The calls that are watched, too many for the stack.
static WATCH: Exclusive<Watch> = Exclusive::new(Watch::new());
static STACK: Stack<4096> = Stack::new();
/// Threads that were stopped because a call of theirs is at fault: which one, by the place of its frame.
static ACCUSED: Set = Set::EMPTY;
static CALLS: [AtomicU16; THREADS_MAXIMUM] = [const { AtomicU16::new(0) }; THREADS_MAXIMUM];

/// Starts the watch if any export has a limit.
pub fn begin(system: &System, priority: u8) {
    if system.shortest_limit().is_some()
        && spawn(imports::THREADS, &STACK, watch, 0, priority).is_err()
    {
        use core::fmt::Write;
        let _ = writeln!(
            crate::printer::log(),
            "supervisor: nobody watches how long calls execute: it needs one thread more"
        );
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
        }
        if end < self.thread_count() {
            return end;
        }
        watch.end_look();
        0
    }

    /// Looks at a thread, and stops it if a call of it executes for too long. How many frames it has.
    fn look_at(&self, watch: &mut Watch, index: u64) -> usize {
        let (mut count, mut accused, mut thread) = (0, None, None);
        for frame in self.frames(index) {
            count += 1;
            let Some(limit) = frame.limit else { continue };
            if thread.is_none() {
                thread = imports::CONTROL
                    .thread_name(index)
                    .ok()
                    .zip(imports::CONTROL.thread_time(index).ok());
            }
            let Some((name, used)) = thread else { break };
            let is_back_late = |longest| now().saturating_sub(limit.stamp) > longest;
            let over = limit.longest.is_some() && watch.see(name, frame.header, limit, used)
                || limit.longest_call.is_some_and(is_back_late);
            // The innermost one is at fault: the others wait for it.
            if over && accused.is_none() {
                accused = Some((name, frame.offset() as u16));
            }
        }
        if let Some((name, offset)) = accused
            && imports::CONTROL.stop(name).is_ok()
        {
            CALLS[index as usize % THREADS_MAXIMUM].store(offset, Relaxed);
            ACCUSED.insert(index);
            let _ = imports::CONTROL.alarm();
        }
        count
    }

    /// The callees of the calls that were found to take too long die.
    pub fn judge(&self) {
        for index in ACCUSED.iter() {
            ACCUSED.remove(index);
            let offset = CALLS[index as usize % THREADS_MAXIMUM].load(Relaxed).into();
            let call = self.frames(index).find(|frame| frame.offset() == offset);
            let limit = call.and_then(|call| call.limit);
            if let (Some(Kind::Call { callee }), Some(limit)) = (call.map(|call| call.kind), limit)
                && state(callee).is_alive()
            {
                if self.instance(callee).is_some_and(|instance| instance.essential != 0) {
                    // The system cannot go on without it; the nucleus says so at its next instruction.
                    let _ = imports::MEMORY.kill(callee);
                } else {
                    let longest = limit.longest_call.or(limit.longest).unwrap_or(0);
                    self.die(callee, Reason::RanAway { thread: index, longest });
                    self.unwind(callee, index);
                    let is_in = self.is_in(index, callee);
                    if let (true, Ok(name)) = (is_in, imports::CONTROL.thread_name(index)) {
                        let _ = imports::CONTROL.cancel_wait(name);
                    }
                }
            }
            if let Ok(name) = imports::CONTROL.thread_name(index) {
                let _ = imports::CONTROL.resume(name);
            }
        }
    }
}
