//! A control loop of 1 kHz, which can be asked how late it has been.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::time::{counter, ticks};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What the loop tells of itself.
#[cairn::interface]
pub trait Heart {
    /// How often it has beaten since this was asked last.
    fn beats(&self) -> Result<u64, Error>;
    /// The longest time in ticks from when a beat was due to its first instruction, since this was asked last.
    fn latest(&self) -> Result<u64, Error>;
}

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "hostile-demo-heart",
    imports: { threads: cairn_interfaces::Threads },
    exports: { heart: Heart = SERVER },
    main: main,
}

static BEATS: AtomicU64 = AtomicU64::new(0);
static LATEST: AtomicU64 = AtomicU64::new(0);

impl Heart for Server {
    fn beats(&self) -> Result<u64, Error> {
        Ok(BEATS.swap(0, Relaxed))
    }

    fn latest(&self) -> Result<u64, Error> {
        Ok(LATEST.swap(0, Relaxed))
    }
}

fn main() {
    let period = ticks(1000);
    let mut due = counter();
    loop {
        due += period;
        imports::THREADS.sleep_until(due).expect("sleeping does not fail");
        LATEST.fetch_max(counter() - due, Relaxed);
        BEATS.fetch_add(1, Relaxed);
    }
}
