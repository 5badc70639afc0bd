//! A server that keeps its only activation for a while.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::time::counter;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_app_interfaces::Echo;
use cairn_interfaces::Threads;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "slow",
    imports: { threads: Threads },
    exports: { echo: Echo = SERVER },
}

impl Echo for Server {
    /// Answers `right` after `left` ticks.
    fn add(&self, left: u64, right: u64) -> Result<u64, Error> {
        imports::THREADS.sleep_until(counter() + left)?;
        Ok(right)
    }

    fn say(&self, _text: ReadWindow<'_>) -> Result<(), Error> {
        Err(Error::NotSupported)
    }

    fn fill(&self, _buffer: WriteWindow<'_>) -> Result<usize, Error> {
        Err(Error::NotSupported)
    }
}
