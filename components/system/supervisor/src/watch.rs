//! Calls that execute for longer than their export declares.
//!
//! The supervisor looks at the invocation stacks from time to time. A call that it sees at two looks is
//! the same if thread, place and time of the call are; between them the thread has run for as long as
//! the call has executed, calls that it made included. So a call is never accused early, and at the
//! latest two looks after its limit.

use crate::stack::Limit;
use cairn_abi::thread::THREADS_MAXIMUM;

/// Calls that are watched at a time: one for each thread there can be.
///
/// When there are more, a thread that has more of them than another gives way, by its innermost ones: so
/// threads that sleep in deep calls hide nobody else's, and nobody hides the call through which a
/// thread came to it by calling on.
pub const WATCHED_MAXIMUM: usize = THREADS_MAXIMUM;

#[derive(Clone, Copy)]
struct Watched {
    thread: u64,
    /// Higher for calls that are further in.
    header: u64,
    stamp: u64,
    /// Ticks that the thread had run when the call was seen first.
    used: u64,
    /// Seen at this look.
    seen: bool,
}

/// The calls seen at the last look.
pub struct Watch {
    calls: [Option<Watched>; WATCHED_MAXIMUM],
    /// How many of them are of each thread, by its index.
    of_thread: [u16; THREADS_MAXIMUM],
}

/// The index in a thread's name.
fn index(thread: u64) -> usize {
    thread as usize % THREADS_MAXIMUM
}

impl Watch {
    /// Nothing seen yet.
    pub const fn new() -> Watch {
        Watch { calls: [None; WATCHED_MAXIMUM], of_thread: [0; THREADS_MAXIMUM] }
    }

    /// The thread that `thread` names has run for `used` ticks and is in a call at `header`: whether
    /// the call has executed for longer than it may.
    pub fn see(&mut self, thread: u64, header: u64, limit: Limit, used: u64) -> bool {
        let same = |call: &&mut Watched| {
            call.thread == thread && call.header == header && call.stamp == limit.stamp
        };
        if let Some(call) = self.calls.iter_mut().flatten().find(same) {
            call.seen = true;
            return limit.longest.is_some_and(|longest| used.saturating_sub(call.used) > longest);
        }
        if let Some(place) = self.place_for(thread, header) {
            self.forget(place);
            let call = Watched { thread, header, stamp: limit.stamp, used, seen: true };
            self.calls[place] = Some(call);
            self.of_thread[index(thread)] += 1;
        }
        false
    }

    /// A place that is free, or whose call has to give way to a new one.
    fn place_for(&self, thread: u64, header: u64) -> Option<usize> {
        if let Some(free) = self.calls.iter().position(Option::is_none) {
            return Some(free);
        }
        let most = *self.of_thread.iter().max()?;
        let own = self.of_thread[index(thread)];
        // Those of one more than the new call's thread would only change places with it for ever.
        let gives_way = |call: &Watched| match own + 1 < most {
            true => self.of_thread[index(call.thread)] == most,
            false => call.thread == thread && call.header > header,
        };
        let calls = self.calls.iter().enumerate();
        let candidates = calls.filter_map(|(place, call)| Some((place, (*call)?)));
        let candidates = candidates.filter(|(_, call)| gives_way(call));
        candidates.max_by_key(|(_, call)| call.header).map(|(place, _)| place)
    }

    fn forget(&mut self, place: usize) {
        if let Some(call) = self.calls[place].take() {
            self.of_thread[index(call.thread)] -= 1;
        }
    }

    /// The look is over: what was not seen has returned.
    pub fn end_look(&mut self) {
        for place in 0..self.calls.len() {
            match &mut self.calls[place] {
                Some(call) if call.seen => call.seen = false,
                _ => self.forget(place),
            }
        }
    }
}

impl Default for Watch {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Limit = Limit { longest: Some(100), longest_call: None, stamp: 7 };

    #[test]
    fn accuses_a_call_that_executes_for_too_long() {
        let mut watch = Watch::new();
        for (used, accused) in [(1000, false), (1050, false), (1100, false), (1101, true)] {
            assert_eq!(watch.see(3, 0x140, LIMIT, used), accused);
            watch.end_look();
        }
    }

    #[test]
    fn tells_calls_apart() {
        let mut watch = Watch::new();
        for stamp in 0..100 {
            assert!(
                !watch.see(3, 0x140, Limit { stamp, ..LIMIT }, 1000 * stamp),
                "a new call each time"
            );
            watch.end_look();
        }
        assert!(!watch.see(3, 0x140, LIMIT, 0));
        assert!(!watch.see(4, 0x140, LIMIT, 500), "another thread");
        assert!(!watch.see(3, 0x180, LIMIT, 500), "another place");
        watch.end_look();
        watch.end_look();
        assert!(!watch.see(3, 0x140, LIMIT, 5000), "not seen in between");
    }

    /// A look at threads, each with its number of calls and the ticks that it has run; the innermost calls
    /// come first, as the supervisor sees them. Answers the calls that are accused, by thread and depth.
    fn look(watch: &mut Watch, threads: impl Iterator<Item = (u64, u64, u64)>) -> Vec<(u64, u64)> {
        let mut accused = Vec::new();
        for (thread, depth, used) in threads {
            for call in (1..=depth).rev() {
                if watch.see(thread, call * 0x40, LIMIT, used) {
                    accused.push((thread, call));
                }
            }
        }
        watch.end_look();
        accused
    }

    #[test]
    fn sleepers_in_deep_calls_hide_nobodys_runaway() {
        let mut watch = Watch::new();
        // Threads 1 to 40 in 14 calls each do not run, and are seen first.
        let sleepers = || (1..=40).map(|thread| (thread, 14, 0));
        assert_eq!(look(&mut watch, sleepers()), []);
        for used in [0, 50, 100] {
            assert_eq!(look(&mut watch, sleepers().chain([(50, 3, used)])), []);
        }
        let accused = look(&mut watch, sleepers().chain([(50, 3, 101)]));
        assert_eq!(accused, [(50, 3), (50, 2), (50, 1)]);
    }

    #[test]
    fn the_call_into_who_calls_on_and_on_stays_watched() {
        let mut watch = Watch::new();
        // Everyone is deep; the outermost calls of each are seen last, and kept.
        let all = |used| (1..=100).map(move |thread| (thread, 20, used));
        assert_eq!(look(&mut watch, all(0)), []);
        assert_eq!(look(&mut watch, all(100)), []);
        let accused = look(&mut watch, all(101));
        for thread in 1..=100 {
            assert!(accused.contains(&(thread, 1)), "thread {thread}");
        }
    }

    #[test]
    fn every_thread_has_a_place() {
        let mut watch = Watch::new();
        // One thread has taken all places before the others come.
        let deep = || [(0, WATCHED_MAXIMUM as u64, 0)].into_iter();
        assert_eq!(look(&mut watch, deep()), []);
        let all = |used| (1..=255).map(move |thread| (thread, 1, used));
        assert_eq!(look(&mut watch, deep().chain(all(0))), []);
        assert_eq!(look(&mut watch, all(101)).len(), 255);
    }

    #[test]
    fn forgets_what_returned() {
        let mut watch = Watch::new();
        assert_eq!(look(&mut watch, [(1, WATCHED_MAXIMUM as u64, 0)].into_iter()), []);
        watch.end_look();
        assert_eq!(watch.of_thread, [0; THREADS_MAXIMUM]);
        assert_eq!(look(&mut watch, [(1, 5, 200)].into_iter()), [], "another call each");
    }
}
