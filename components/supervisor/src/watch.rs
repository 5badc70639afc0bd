//! Calls that execute for longer than their export declares.
//!
//! The supervisor looks at the invocation stacks from time to time. A call that it sees at two looks is
//! the same if thread, place and time of the call are; between them the thread has run for as long as
//! the call has executed, calls that it made included. So a call is never accused early, and at the
//! latest two looks after its limit.

use crate::stack::Limit;

/// Calls that are watched at a time; more wait until one of these has returned.
pub const WATCHED_MAXIMUM: usize = 128;

#[derive(Clone, Copy)]
struct Watched {
    thread: u64,
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
}

impl Watch {
    /// Nothing seen yet.
    pub const fn new() -> Watch {
        Watch { calls: [None; WATCHED_MAXIMUM] }
    }

    /// The thread that `thread` names has run for `used` ticks and is in a call at `header`: whether
    /// the call has executed for longer than it may.
    pub fn see(&mut self, thread: u64, header: u64, limit: Limit, used: u64) -> bool {
        let same = |call: &&mut Watched| {
            call.thread == thread && call.header == header && call.stamp == limit.stamp
        };
        if let Some(call) = self.calls.iter_mut().flatten().find(same) {
            call.seen = true;
            return used.saturating_sub(call.used) > limit.longest;
        }
        if let Some(place) = self.calls.iter_mut().find(|place| place.is_none()) {
            *place = Some(Watched { thread, header, stamp: limit.stamp, used, seen: true });
        }
        false
    }

    /// The look is over: what was not seen has returned.
    pub fn end_look(&mut self) {
        for place in &mut self.calls {
            match place {
                Some(call) if call.seen => call.seen = false,
                _ => *place = None,
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

    const LIMIT: Limit = Limit { longest: 100, stamp: 7 };

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

    #[test]
    fn forgets_what_returned_when_it_is_full() {
        let mut watch = Watch::new();
        for thread in 0..200 {
            watch.see(thread, 0x140, LIMIT, 0);
        }
        watch.end_look();
        assert!(watch.see(0, 0x140, LIMIT, 101));
        assert!(!watch.see(199, 0x140, LIMIT, 101), "there was no room");
        watch.end_look();
        assert!(!watch.see(199, 0x140, LIMIT, 202), "watched from here on");
        assert!(watch.see(199, 0x140, LIMIT, 303));
    }
}
