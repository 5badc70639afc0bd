//! The console of a Linux that is a load: when it says that it is one, who measures is told so.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, Object, Place, environment};
use cairn_interfaces::{Console, Terminal};
use core::sync::atomic::Ordering;

struct Sink;
static SINK: Sink = Sink;

cairn::component! {
    name: "sink",
    exports: { console: Console = SINK },
    objects: {},
}

/// What Linux says, and for how many loads it counts (`bench/components/latency`).
const LOADED: &[u8] = b"loaded";
const LOADS: i64 = 2;

impl Console for Sink {
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

    fn read(&self, _: WriteWindow<'_>) -> Result<usize, Error> {
        Err(Error::NotSupported)
    }

    fn try_read(&self, _: WriteWindow<'_>) -> Result<usize, Error> {
        Err(Error::NotSupported)
    }

    fn read_line(&self, _: WriteWindow<'_>) -> Result<usize, Error> {
        Err(Error::NotSupported)
    }

    fn open(&self, _: Place) -> Result<Object<dyn Terminal>, Error> {
        Err(Error::NotSupported)
    }
}
