//! A link of a chain of calls.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_test_hostile_nest::Hop;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Server {
    calls: AtomicU64,
}
static SERVER: Server = Server { calls: AtomicU64::new(0) };

cairn::component! {
    name: "hostile-hop",
    imports: { next: Hop },
    exports: { hop: Hop = SERVER },
}

impl Hop for Server {
    fn go(&self, steps: u64) -> Result<u64, Error> {
        self.calls.fetch_add(1, Relaxed);
        assert!(steps > 0, "on purpose");
        imports::NEXT.go(steps - 1).map(|links| links + 1)
    }

    fn count(&self) -> Result<u64, Error> {
        Ok(self.calls.load(Relaxed))
    }
}
