//! In place of a driver of random bytes: one that leaves its device at work in all of its memory, one that looks whether it finds anything there that it has not
//! brought about, and others that do not serve.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::dma::{Buffer, Device};
use cairn::time::{now, ticks};
use cairn::window::{ReadWindow, WriteWindow};
use cairn_driver_interfaces::{Devices, Random};
use cairn_interfaces::{Portals, Successor};
use cairn_virtio::VirtioKind;
// Relaxed: stored before the state is taken, and so before anybody calls.
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What it does, by its argument.
const LEAVES: u64 = 1;
const LOOKS: u64 = 2;
const FAULTS: u64 = 3;
const SLEEPS: u64 = 4;
const LIES: u64 = 5;

/// It has not looked yet.
const NOT_YET: u64 = u64::MAX;
/// For so long it looks: its device would have written.
const LOOK_MICROSECONDS: u64 = 5_000;

struct Source;
static SOURCE: Source = Source;
/// How many words it found that were not zero, before its device began.
static FOUND: AtomicU64 = AtomicU64::new(NOT_YET);

cairn::component! {
    name: "replaced-drivers-source",
    imports: { portals: Portals, devices: Devices },
    exports: { random: Random = SOURCE, successor: Successor = SOURCE },
    arguments: { kind: u64 },
    main: main,
}

fn main() -> Result<(), Error> {
    match arguments::kind() {
        FAULTS => panic!("on purpose"),
        LOOKS => {
            let before = dirty();
            let until = now() + ticks(LOOK_MICROSECONDS);
            while now() < until {
                core::hint::spin_loop();
            }
            FOUND.store(before + dirty(), Relaxed);
        }
        _ => FOUND.store(0, Relaxed),
    }
    cairn_virtio::begin(&imports::DEVICES, "virtio-rng", 0).map(drop)
}

fn device() -> Device {
    Device::named("virtio-rng")
}

/// Words that are not zero, in what the device reaches.
fn dirty() -> u64 {
    let memory = Buffer::all().expect("the description has some");
    let rings = device().rings(0).expect("there is a queue");
    let words = |size: usize| (0..size).step_by(8);
    let in_memory = words(memory.size()).filter(|at| memory.load(*at) != 0).count();
    (in_memory + words(rings.size()).filter(|at| rings.load(*at) != 0).count()) as u64
}

impl Random for Source {
    fn fill(&self, _: WriteWindow) -> Result<usize, Error> {
        if arguments::kind() == LEAVES {
            // All of the memory, many times, and nobody waits for it.
            let memory = Buffer::all().ok_or(Error::NotSupported)?;
            let count = VirtioKind::Random.descriptors() as usize;
            let size = memory.size() / count;
            for number in 0..count {
                let part = memory.part(number * size, size);
                device().offer(0, number as u16, &[part.descriptor(true, false)?])?;
            }
        }
        Ok(FOUND.load(Relaxed) as usize)
    }
}

impl Successor for Source {
    fn call_home(&self, _: bool) -> Result<(), Error> {
        Ok(())
    }

    fn export_state(&self, _: u64, part: WriteWindow) -> Result<usize, Error> {
        Ok(if arguments::kind() == LIES { part.len() + 1 } else { 0 })
    }

    fn import_state(&self, _: u64, _: u64, _: ReadWindow) -> Result<(), Error> {
        let has_looked = FOUND.load(Relaxed) != NOT_YET;
        if has_looked && arguments::kind() != SLEEPS { Ok(()) } else { Err(Error::NotReady) }
    }
}
