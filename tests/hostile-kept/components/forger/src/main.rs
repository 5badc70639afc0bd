//! Panics with a message that looks like a report on another component, from where a line that is cut goes on.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_app_interfaces::Echo;

struct Forger;
static FORGER: Forger = Forger;

cairn::component! {
    name: "forger",
    exports: { echo: Echo = FORGER },
}

impl Echo for Forger {
    /// Ends behind so many characters.
    fn add(&self, before: u64, _: u64) -> Result<u64, Error> {
        let before = before as usize;
        panic!("{:->before$}supervisor: `greeter` (domain 7) was killed", "");
    }

    fn say(&self, _: ReadWindow<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn fill(&self, _: WriteWindow<'_>) -> Result<usize, Error> {
        Ok(0)
    }
}
