//! A driver that is its own device: it writes the answers into its rings, at times that it says, and looks whether who asked gets
//! the answer to that, and asks when everything before it is answered, though the device would take two at a time.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::abi::device::USED_RING;
use cairn::dma::{Buffer, Device};
use cairn::time::{now, ticks};
use cairn::window::{ReadWindow, WriteWindow};
use cairn_app_interfaces::Echo;
use cairn_interfaces::{Portals, Threads};
use cairn_virtio::{Requests, VirtioKind};
use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};

struct Driver {
    requests: Requests<2, 1>,
    /// Requests that were offered, the place of the last one, and of how many there is an answer.
    offered: AtomicU64,
    place: AtomicU64,
    answered: AtomicU64,
    /// When the next answer comes, in ticks.
    at: AtomicU64,
}

static DRIVER: Driver = Driver {
    requests: Requests::new(0),
    offered: AtomicU64::new(0),
    place: AtomicU64::new(0),
    answered: AtomicU64::new(0),
    at: AtomicU64::new(0),
};

cairn::component! {
    name: "driver",
    imports: { portals: Portals, threads: Threads },
    exports: { echo: Echo = DRIVER },
    main: main,
}

fn main() -> Result<(), Error> {
    let device = Device::named("virtio-rng");
    let rings = device.rings(0).ok_or(Error::NotFound)?;
    let ring = USED_RING as usize;
    let mut done = DRIVER.requests.begin(&device, VirtioKind::Random, 2)?;
    loop {
        imports::THREADS.sleep_until(now() + ticks(20))?;
        let answered = DRIVER.answered.load(SeqCst);
        if DRIVER.offered.load(SeqCst) == answered {
            continue;
        }
        let at = now() + ticks(200);
        DRIVER.at.store(at, SeqCst);
        // Asleep it would be late, now more, now less.
        while now() < at {}
        let count = VirtioKind::Random.descriptors() as usize;
        let entry = ring + 4 + answered as usize % count * 8;
        rings.store_u32(entry, DRIVER.place.load(SeqCst) as u32);
        rings.store_u32(entry + 4, 1);
        DRIVER.answered.store(answered + 1, SeqCst);
        rings.store_u16(ring + 2, answered as u16 + 1);
        DRIVER.requests.answer(&mut done);
    }
}

impl Echo for Driver {
    /// A request; 1, if its answer was there before it was asked, 2, if the device had another one still, which somebody gave up.
    fn add(&self, _: u64, _: u64) -> Result<u64, Error> {
        let memory = Buffer::all().ok_or(Error::NotSupported)?;
        let is_answered = || self.answered.load(SeqCst) == self.offered.load(SeqCst);
        let overtakes = Cell::new(false);
        self.requests.make(
            |place, chain| {
                chain[0] = memory.part(0, 8).descriptor(true, false)?;
                overtakes.set(!is_answered());
                self.place.store(place as u64, SeqCst);
                self.offered.fetch_add(1, SeqCst);
                Ok(1)
            },
            |_, _| Ok(if overtakes.get() { 2 } else { u64::from(!is_answered()) }),
        )
    }

    fn say(&self, _: ReadWindow) -> Result<(), Error> {
        Err(Error::NotSupported)
    }

    /// When the next answer comes.
    fn fill(&self, _: WriteWindow) -> Result<usize, Error> {
        Ok(self.at.load(SeqCst) as usize)
    }
}
