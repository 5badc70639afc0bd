//! The console of a Linux that is a load: when it says that it is one, who measures is told so.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::window::ReadWindow;
use cairn::{Error, environment};
use cairn_bench::LOADS;
use cairn_interfaces::{Console, WriteOnlyConsole};
use core::sync::atomic::Ordering;

struct Sink;
static SINK: Sink = Sink;

cairn::component! {
    name: "sink",
    exports: { console: Console = SINK },
    objects: {},
}

/// What Linux says; it counts for all loads.
const LOADED: &[u8] = b"loaded";

impl WriteOnlyConsole for Sink {
    fn write(&self, text: ReadWindow<'_>) -> Result<(), Error> {
        let load = environment::section("load").ok_or(Error::NotFound)?;
        let [_, ready] = load.words(2) else { return Err(Error::BadArgument) };
        text.pieces::<128>(|piece| {
            if piece.starts_with(LOADED) {
                ready.fetch_add(LOADS, Ordering::Release);
            }
            Ok(())
        })
    }
}
