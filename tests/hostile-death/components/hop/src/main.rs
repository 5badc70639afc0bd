//! A link of a chain of calls.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::sync::Mutex;
use cairn_interfaces::Portals;
use cairn_test_hostile_nest::Hop;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Server {
    calls: AtomicU64,
}
static SERVER: Server = Server { calls: AtomicU64::new(0) };
static FIRST_USE: Mutex<u64> = Mutex::new(0);

cairn::component! {
    name: "hostile-hop",
    imports: { next: Hop, portals: Portals },
    exports: { hop: Hop = SERVER },
}

impl Hop for Server {
    fn go(&self, steps: u64) -> Result<u64, Error> {
        self.calls.fetch_add(1, Relaxed);
        assert!(steps > 0, "on purpose");
        let behind = imports::NEXT.go(steps - 1);
        if behind == Err(Error::InvocationOverflow) {
            // On the way back, at each depth: the portal manager can be called, but what it calls itself needs more frames
            // than are left, or has just enough. It must not take that for its own end.
            let opened = imports::PORTALS.open("nobody.nothing", 0, &[]);
            assert!(matches!(opened, Err(Error::InvocationOverflow | Error::NotFound)));
            let made = imports::PORTALS.semaphore(0);
            assert!(matches!(made, Err(Error::Exhausted)));
            // What a component waits by is made at its first use, wherever that is.
            *FIRST_USE.lock()? += 1;
        }
        behind.map(|links| links + 1)
    }

    fn count(&self) -> Result<u64, Error> {
        Ok(self.calls.load(Relaxed))
    }
}
