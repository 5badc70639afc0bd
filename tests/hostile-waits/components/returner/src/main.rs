//! Returns from its main function.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::{Error, environment, time};
use cairn_interfaces::Threads;
use cairn_test_hostile_places::Returner;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Server {
    started: AtomicU64,
}
static SERVER: Server = Server { started: AtomicU64::new(0) };

cairn::component! {
    name: "hostile-returner",
    imports: { threads: Threads },
    exports: { returner: Returner = SERVER },
    main: main,
}

/// Starts that the judge looks at, and one more.
const ENOUGH: u64 = 6;

fn main() {
    SERVER.started.store(time::now(), Relaxed);
    // Long enough to be seen; and once it has been tried, it stays.
    let end = if environment::startup().generation < ENOUGH {
        time::now() + time::ticks(5000)
    } else {
        u64::MAX
    };
    let _ = imports::THREADS.sleep_until(end);
}

impl Returner for Server {
    fn started(&self) -> Result<u64, Error> {
        Ok(self.started.load(Relaxed) << 16 | environment::startup().generation)
    }
}
