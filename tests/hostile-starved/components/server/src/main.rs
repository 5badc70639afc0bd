//! Allocates in each call; where it is asked to, so that much is copied under the lock of the heap.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::vec::Vec;
use cairn::Error;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_app_interfaces::Echo;
use cairn_interfaces::Portals;
use core::hint::black_box;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "server",
    imports: { portals: Portals },
    exports: { echo: Echo = SERVER },
}

/// What is copied when its memory has to grow.
const BYTES: usize = 32 << 10;

impl Echo for Server {
    /// Memory grows so many times.
    fn add(&self, times: u64, _: u64) -> Result<u64, Error> {
        drop(black_box(Vec::<u64>::with_capacity(4)));
        for _ in 0..times {
            let mut grows = Vec::<u8>::with_capacity(BYTES);
            grows.push(0);
            let behind = black_box(Vec::<u8>::with_capacity(1));
            grows.reserve_exact(2 * BYTES);
            drop((black_box(grows), behind));
        }
        Ok(times)
    }

    fn say(&self, _: ReadWindow) -> Result<(), Error> {
        Ok(())
    }

    fn fill(&self, _: WriteWindow) -> Result<usize, Error> {
        Ok(0)
    }
}
