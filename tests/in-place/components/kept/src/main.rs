//! A counter that is replaced in place, or what does something else when it is asked where its state is.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::in_place::State;
use cairn::window::WriteWindow;
use cairn::{Error, Object, Place, time};
use cairn_interfaces::{self as interfaces, StatePlace};
use cairn_test_replaced_contract::{Cell, Counter};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "in-place-kept",
    imports: {
        memory: interfaces::Memory,
        threads: interfaces::Threads,
        replacement: Option<interfaces::Replacement>,
    },
    exports: { counter: Counter = SERVER, in_place: interfaces::InPlace = SERVER },
    objects: {},
}

struct Server;
static SERVER: Server = Server;

/// More than a page.
struct Kept {
    sums: [AtomicU64; 1024],
}
// Relaxed: a sum, by one operation.
static KEPT: State<Kept> = State::new(Kept { sums: [const { AtomicU64::new(0) }; 1024] });

const VERSION: &str = env!("CARGO_PKG_VERSION");

impl interfaces::InPlace for Server {
    fn state(&self) -> Result<StatePlace, Error> {
        let place = StatePlace::of(&KEPT, 1);
        match VERSION.as_bytes() {
            b"3.0.0" => panic!("on purpose"),
            b"4.0.0" => loop {
                let _ = imports::THREADS.sleep_until(time::now() + time::ticks(1_000_000));
            },
            // It gives its own pages back, and those of the other content.
            b"5.0.0" => {
                let page = place.at + place.pages * 4096;
                for at in (page - (1 << 20)..page + (1 << 20)).step_by(4096) {
                    if imports::MEMORY.free(at, 1).is_ok() {
                        KEPT.sums[0].store(u64::MAX, Relaxed);
                    }
                }
                Ok(place)
            }
            // Before this one is done it asks for another.
            b"6.0.0" => {
                let replacement = imports::REPLACEMENT.get().ok_or(Error::NotSupported)?;
                match [("kept", "same"), ("plain", "plain2")]
                    .map(|(name, package)| replacement.replace(name, package, 10))
                {
                    [Err(Error::Busy), Err(Error::Busy)] => Ok(place),
                    _ => Err(Error::Malformed),
                }
            }
            _ => Ok(place),
        }
    }

    fn version(&self, text: WriteWindow<'_>) -> Result<usize, Error> {
        text.write(0, VERSION.as_bytes())
    }
}

impl Counter for Server {
    fn add(&self, amount: u64) -> Result<u64, Error> {
        KEPT.sums.iter().for_each(|sum| _ = sum.fetch_add(amount, Relaxed));
        Ok(KEPT.sums[0].load(Relaxed))
    }

    fn kind(&self) -> Result<u64, Error> {
        let is_whole = KEPT.sums.iter().all(|sum| sum.load(Relaxed) == KEPT.sums[0].load(Relaxed));
        if is_whole { Ok(VERSION.as_bytes()[2].into()) } else { Err(Error::Malformed) }
    }

    fn cell(&self, _: Place, _: u64) -> Result<Object<dyn Cell>, Error> {
        Err(Error::NotSupported)
    }

    fn wait(&self) -> Result<u64, Error> {
        Err(Error::NotSupported)
    }

    /// Allocates.
    fn wake(&self) -> Result<(), Error> {
        imports::MEMORY.allocate(1).map(drop)
    }

    fn stay(&self, ticks: u64) -> Result<(), Error> {
        imports::THREADS.sleep_until(time::now() + ticks)
    }
}
