//! Computes in software what the worker of `tests/float` computes with the floating-point unit.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

#[path = "../../../../float/components/worker/src/orbit.rs"]
mod orbit;

use cairn::Error;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_app_interfaces::Echo;

struct Soft;
static SOFT: Soft = Soft;

impl Echo for Soft {
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
    name: "soft",
    exports: { echo: Echo = SOFT },
}
