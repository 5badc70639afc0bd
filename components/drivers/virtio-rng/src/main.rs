//! Random bytes from a virtio device (virtio 1.2, section 5.4).
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::dma::Buffer;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_driver_interfaces::{Devices, Random};
use cairn_interfaces::waiting::Interrupt;
use cairn_interfaces::{Portals, Successor};
use cairn_virtio::{Requests, VirtioKind};
use core::convert::Infallible;

/// Most bytes of one answer.
const BYTES: usize = 512;

struct Source {
    requests: Requests<4, 1>,
}

static SOURCE: Source = Source { requests: Requests::new(0) };

cairn::component! {
    name: "virtio-rng",
    imports: { portals: Portals, devices: Devices },
    exports: { random: Random = SOURCE, successor: Successor = SOURCE },
    main: main,
}

/// The interrupt thread.
fn main() -> Result<Infallible, Error> {
    let (device, _) = cairn_virtio::begin(&imports::DEVICES, "virtio-rng", 0)?;
    let most = Buffer::all().map_or(0, |memory| memory.size() / BYTES);
    let mut done = SOURCE.requests.begin(&device, VirtioKind::Random, most)?;
    Interrupt::open(&device.registers)?.serve(|| {
        device.acknowledge()?;
        SOURCE.requests.answer(&mut done);
        Ok(())
    })
}

/// Nobody is to find them there again.
fn forget(bytes: &Buffer) {
    (0..bytes.size()).for_each(|at| bytes.set_byte(at, 0));
}

impl Random for Source {
    fn fill(&self, buffer: WriteWindow) -> Result<usize, Error> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let memory = Buffer::all().ok_or(Error::NotSupported)?;
        let bytes = |place| memory.part(place * BYTES, buffer.len().min(BYTES));
        self.requests.make(
            |place, chain| {
                let bytes = bytes(place);
                // Who gave a request up has left its bytes there, and the device may write less than it says.
                forget(&bytes);
                chain[0] = bytes.descriptor(true, false)?;
                Ok(1)
            },
            |place, length| {
                let bytes = bytes(place);
                let count = bytes.size().min(length as usize);
                let written = buffer.write_from(0, &bytes, 0, count);
                forget(&bytes);
                written.map(|()| count)
            },
        )
    }
}

/// Nothing goes over. Requests are answered before a successor comes, which serves when its device has begun.
impl Successor for Source {
    fn call_home(&self, _: bool) -> Result<(), Error> {
        Ok(())
    }

    fn export_state(&self, _: u64, _: WriteWindow) -> Result<usize, Error> {
        Ok(0)
    }

    fn import_state(&self, size: u64, _: u64, _: ReadWindow) -> Result<(), Error> {
        match size {
            0 => self.requests.has_begun(),
            _ => Err(Error::VersionMismatch),
        }
    }
}
