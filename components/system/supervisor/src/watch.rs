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
/// threads that sleep in deep calls hide no other thread's, and none hides the call through which a
/// thread came to it by calling on.
pub const WATCHED_MAXIMUM: usize = THREADS_MAXIMUM;

/// Calls of others that give way to those of one thread at one look: to find each takes a look at all threads.
const DISPLACED_MAXIMUM: u8 = 3;
/// No place; others are named by their numbers plus one, so that an empty table is all zero.
const NONE: u16 = 0;

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
    /// The place of the same thread's next call, or the next free place.
    next: u16,
}

/// The calls seen at the last look. All that one call takes is a look at the other calls of its thread, so that others' calls
/// make no look longer: all threads less urgent than the supervisor wait for it.
pub struct Watch {
    calls: [Watched; WATCHED_MAXIMUM],
    /// Places that were never taken begin here; the first of the others that are free.
    fresh: u16,
    free: u16,
    /// The first of each thread's calls, by its index, and how many there are.
    first: [u16; THREADS_MAXIMUM],
    of_thread: [u16; THREADS_MAXIMUM],
    /// How many calls of others have given way to the thread that is looked at.
    displaced: u8,
}

/// The index in a thread's name.
fn index(thread: u64) -> usize {
    thread as usize % THREADS_MAXIMUM
}

/// The number of a place, if it is one.
fn number(place: u16) -> Option<usize> {
    usize::from(place).checked_sub(1)
}

impl Watch {
    /// Nothing seen yet.
    pub const fn new() -> Watch {
        let none = Watched { thread: 0, header: 0, stamp: 0, used: 0, seen: false, next: NONE };
        Watch {
            calls: [none; WATCHED_MAXIMUM],
            fresh: 0,
            free: NONE,
            first: [NONE; THREADS_MAXIMUM],
            of_thread: [0; THREADS_MAXIMUM],
            displaced: 0,
        }
    }

    /// The places of a thread's calls.
    fn places(&self, thread: usize) -> impl Iterator<Item = usize> + '_ {
        core::iter::successors(number(self.first[thread]), |place| number(self.calls[*place].next))
    }

    /// The thread that `thread` names has run for `used` ticks and is in a call at `header`: whether
    /// the call has executed for longer than it may.
    pub fn see(&mut self, thread: u64, header: u64, limit: Limit, used: u64) -> bool {
        let same = |place: &usize| {
            let call = &self.calls[*place];
            call.thread == thread && call.header == header && call.stamp == limit.stamp
        };
        let found = self.places(index(thread)).find(same);
        if let Some(place) = found {
            let call = &mut self.calls[place];
            call.seen = true;
            return limit.longest.is_some_and(|longest| used.saturating_sub(call.used) > longest);
        }
        self.make_room(thread, header);
        if let Some(place) = self.take_place() {
            let next = self.first[index(thread)];
            let stamp = limit.stamp;
            self.calls[place] = Watched { thread, header, stamp, used, seen: true, next };
            self.first[index(thread)] = place as u16 + 1;
            self.of_thread[index(thread)] += 1;
        }
        false
    }

    fn has_room(&self) -> bool {
        self.free != NONE || usize::from(self.fresh) < WATCHED_MAXIMUM
    }

    fn take_place(&mut self) -> Option<usize> {
        if let Some(place) = number(self.free) {
            self.free = self.calls[place].next;
            return Some(place);
        }
        let fresh = usize::from(self.fresh);
        (fresh < WATCHED_MAXIMUM).then(|| {
            self.fresh += 1;
            fresh
        })
    }

    /// If no place is free, a call gives way to a new one, unless none has to.
    fn make_room(&mut self, thread: u64, header: u64) {
        if self.has_room() {
            return;
        }
        let own = index(thread);
        if self.displaced < DISPLACED_MAXIMUM {
            let most = (0..THREADS_MAXIMUM).max_by_key(|thread| self.of_thread[*thread]);
            // Those of one more than the new call's thread would only change places with it for ever.
            if let Some(most) = most.filter(|most| self.of_thread[own] + 1 < self.of_thread[*most])
            {
                self.displaced += 1;
                let innermost = self.places(most).max_by_key(|place| self.calls[*place].header);
                return self.forget(most, |place, _| Some(place) == innermost);
            }
        }
        let further_in = |place: &usize| {
            let call = &self.calls[*place];
            call.thread == thread && call.header > header
        };
        let found = self.places(own).filter(further_in);
        let innermost = found.max_by_key(|place| self.calls[*place].header);
        self.forget(own, |place, _| Some(place) == innermost);
    }

    /// Forgets those of a thread's calls for which `gives_way`.
    fn forget(&mut self, thread: usize, gives_way: impl Fn(usize, &Watched) -> bool) {
        let mut before: Option<usize> = None;
        let mut place = self.first[thread];
        while let Some(at) = number(place) {
            let next = self.calls[at].next;
            if gives_way(at, &self.calls[at]) {
                match before {
                    None => self.first[thread] = next,
                    Some(before) => self.calls[before].next = next,
                }
                self.calls[at].next = self.free;
                self.free = place;
                self.of_thread[thread] -= 1;
            } else {
                before = Some(at);
            }
            place = next;
        }
    }

    /// The look at the thread with this index is over: what was not seen has returned.
    pub fn end_thread(&mut self, thread: u64) {
        self.displaced = 0;
        let thread = index(thread);
        self.forget(thread, |_, call| !call.seen);
        let mut place = self.first[thread];
        while let Some(at) = number(place) {
            self.calls[at].seen = false;
            place = self.calls[at].next;
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

    impl Watch {
        /// All threads were looked at.
        fn end_look(&mut self) {
            (0..THREADS_MAXIMUM as u64).for_each(|thread| self.end_thread(thread));
        }
    }

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
            // Only of those that were looked at; the others' have not returned.
            watch.displaced = 0;
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
