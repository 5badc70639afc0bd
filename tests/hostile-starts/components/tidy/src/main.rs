//! An innocent callee, which needs its time.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::time::{now, ticks};
use cairn_interfaces::Threads;
use cairn_test_hostile_starts_contract as contract;
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// Half of what callees of the dead have.
const MICROSECONDS: u64 = 50_000;

struct Server;
static SERVER: Server = Server;
static WORKED: AtomicU64 = AtomicU64::new(0);
static DISTURBED: AtomicU64 = AtomicU64::new(0);

cairn::component! {
    name: "hostile-starts-tidy",
    imports: { threads: Threads },
    exports: { tidy: contract::Tidy = SERVER },
}

impl contract::Tidy for Server {
    fn work(&self) -> Result<(), Error> {
        let result = imports::THREADS.sleep_until(now() + ticks(MICROSECONDS));
        WORKED.fetch_add(1, SeqCst);
        DISTURBED.fetch_add(u64::from(result.is_err()), SeqCst);
        result
    }

    fn counts(&self) -> Result<(u64, u64), Error> {
        Ok((WORKED.load(SeqCst), DISTURBED.load(SeqCst)))
    }
}
