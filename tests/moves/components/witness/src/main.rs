//! Calls a counter all the time, and notes which calls were not answered.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::{Error, time};
use cairn_interfaces as interfaces;
use cairn_test_replaced_contract::{Counter, Witness};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "moves-witness",
    imports: { threads: interfaces::Threads, counter: Counter },
    exports: { witness: Witness = SERVER },
    main: main,
}

/// Between two calls.
const MICROSECONDS: u64 = 30;

struct Server;
static SERVER: Server = Server;
// Relaxed: counts.
static ANSWERED: AtomicU64 = AtomicU64::new(0);
static LOST: AtomicU64 = AtomicU64::new(0);

impl Witness for Server {
    fn seen(&self) -> Result<(u64, u64), Error> {
        Ok((ANSWERED.load(Relaxed), LOST.load(Relaxed)))
    }
}

fn main() {
    loop {
        let of = if imports::COUNTER.add(0).is_ok() { &ANSWERED } else { &LOST };
        of.fetch_add(1, Relaxed);
        let _ = imports::THREADS.sleep_until(time::now() + time::ticks(MICROSECONDS));
    }
}
