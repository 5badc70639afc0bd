//! Holds calls for a while.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::time::{now, ticks};
use cairn_interfaces as interfaces;
use cairn_test_relay::Relay;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Server {
    finished: AtomicU64,
}
static SERVER: Server = Server { finished: AtomicU64::new(0) };

cairn::component! {
    name: "last",
    imports: { threads: interfaces::Threads },
    exports: { relay: cairn_test_relay::Relay = SERVER },
}

impl Relay for Server {
    fn hold(&self, microseconds: u64) -> Result<u64, Error> {
        imports::THREADS.sleep_until(now() + ticks(microseconds))?;
        self.finished.fetch_add(1, Relaxed);
        Ok(self.finished.load(Relaxed))
    }
}
