//! Hands on to the console what the supervisor writes, but keeps its thread at the first line of a boot until somebody lets it go.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::time::{now, ticks};
use cairn::window::{ReadWindow, WriteWindow};
use cairn_app_interfaces::Echo;
use cairn_interfaces::{self as interfaces, Console, WriteOnlyConsole};
// Relaxed: it orders nothing.
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

struct Holder;
static HOLDER: Holder = Holder;
static LETS_GO: AtomicBool = AtomicBool::new(false);

cairn::component! {
    name: "holder",
    imports: { console: interfaces::Console, threads: interfaces::Threads },
    exports: { console: Console = HOLDER, echo: Echo = HOLDER },
    objects: {},
}

impl WriteOnlyConsole for Holder {
    fn write(&self, text: ReadWindow<'_>) -> Result<(), Error> {
        while !LETS_GO.load(Relaxed) {
            imports::THREADS.sleep_until(now() + ticks(10_000))?;
        }
        text.pieces::<256>(|piece| imports::CONSOLE.write(piece))
    }
}

impl Echo for Holder {
    /// Lets go.
    fn add(&self, _: u64, _: u64) -> Result<u64, Error> {
        LETS_GO.store(true, Relaxed);
        Ok(0)
    }

    fn say(&self, _: ReadWindow<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn fill(&self, _: WriteWindow<'_>) -> Result<usize, Error> {
        Ok(0)
    }
}
