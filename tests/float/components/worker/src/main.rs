//! Computes with the floating-point unit: `add(seed, rounds)` is the bits of a number that takes so many rounds.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod orbit;

use cairn::Error;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_app_interfaces::Echo;

struct Worker;
static WORKER: Worker = Worker;

impl Echo for Worker {
    fn add(&self, left: u64, right: u64) -> Result<u64, Error> {
        Ok(orbit::after(left, right))
    }

    fn say(&self, _: ReadWindow) -> Result<(), Error> {
        Ok(())
    }

    fn fill(&self, _: WriteWindow) -> Result<usize, Error> {
        Ok(0)
    }
}

cairn::component! {
    name: "worker",
    exports: { echo: Echo = WORKER },
}
