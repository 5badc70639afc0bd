//! Allocates in each call, with a lock for its heap.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::vec;
use cairn::Error;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_app_interfaces::Echo;
use cairn_interfaces::Portals;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Server;
static SERVER: Server = Server;
static CALLS: AtomicU64 = AtomicU64::new(0);

cairn::component! {
    name: "server",
    imports: { portals: Portals },
    exports: { echo: Echo = SERVER },
}

impl Echo for Server {
    /// How often it was called.
    fn add(&self, _: u64, _: u64) -> Result<u64, Error> {
        let numbers = vec![CALLS.fetch_add(1, Relaxed) + 1];
        Ok(core::hint::black_box(&numbers)[0])
    }

    fn say(&self, _: ReadWindow) -> Result<(), Error> {
        Ok(())
    }

    fn fill(&self, _: WriteWindow) -> Result<usize, Error> {
        Ok(0)
    }
}
