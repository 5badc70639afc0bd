//! A virtio disk (virtio 1.2, section 5.2).
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod queue;
mod successor;

use cairn::Error;
use cairn::abi::address::{PAGE_SIZE, WINDOW_MAXIMUM};
use cairn::dma::Buffer;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_driver_interfaces::{BlockQueue, Blocks, Devices, blocks_checked};
use cairn_interfaces::waiting::Interrupt;
use cairn_interfaces::{Portals, Successor};
use cairn_virtio::{Descriptor, Requests, VirtioKind};
use core::convert::Infallible;
// Relaxed: requests are taken, by an exchange that orders them, after the features are known.
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Most requests at a time.
const PLACES: usize = 16;
/// A request is a header, data, and a byte for the status.
const CHAIN: usize = 3;
/// Bytes of data of a request: as much as a window has.
const DATA: usize = WINDOW_MAXIMUM as usize;
/// The first page of the memory has the headers and states of all places, so far apart; the data lie behind it.
const HEADERS: usize = PAGE_SIZE as usize;
const HEADER_STRIDE: usize = 64;
const HEADER_SIZE: usize = 16;

/// Features (section 5.2.3): the disk cannot be written; it can flush.
const READ_ONLY: u64 = 1 << 5;
const FLUSH: u64 = 1 << 9;

/// What a request asks for (section 5.2.6).
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum Kind {
    Read = 0,
    Write = 1,
    Flush = 4,
}

struct Disk {
    requests: Requests<PLACES, CHAIN>,
    features: AtomicU64,
}

static DISK: Disk = Disk { requests: Requests::new(0), features: AtomicU64::new(0) };

cairn::component! {
    name: "virtio-blk",
    imports: { portals: Portals, devices: Devices },
    exports: {
        blocks: Blocks = DISK,
        queue: BlockQueue = queue::QUEUE,
        successor: Successor = successor::STATE,
    },
    arguments: { queue: &str = "" },
    main: main,
}

/// The interrupt thread.
fn main() -> Result<Infallible, Error> {
    // What the description lacks is said at once.
    let _ = cairn_queue::blocks::section(arguments::queue());
    let (device, features) =
        cairn_virtio::begin(&imports::DEVICES, "virtio-blk", READ_ONLY | FLUSH)?;
    DISK.features.store(features, Relaxed);
    let mut done = DISK.requests.begin(&device, VirtioKind::Block, places())?;
    Interrupt::open(&device.registers)?.serve(|| {
        device.acknowledge()?;
        DISK.requests.answer(&mut done);
        Ok(())
    })
}

/// How many places the memory has.
fn places() -> usize {
    let most = Buffer::all().map_or(0, |memory| memory.size().saturating_sub(HEADERS) / DATA);
    most.min(PLACES)
}

/// Where a request of a place lies.
struct Request {
    header: Buffer,
    data: Buffer,
    status: Buffer,
}

impl Request {
    fn at(place: usize, bytes: usize) -> Result<Request, Error> {
        let memory = Buffer::all().ok_or(Error::NotSupported)?;
        let header = place * HEADER_STRIDE;
        Ok(Request {
            header: memory.part(header, HEADER_SIZE),
            data: memory.part(HEADERS + place * DATA, bytes),
            status: memory.part(header + HEADER_SIZE, 1),
        })
    }
}

impl Disk {
    fn has(&self, feature: u64) -> bool {
        self.features.load(Relaxed) & feature != 0
    }

    /// One that cannot has no cache that forgets (section 5.2.6.2).
    fn can_flush(&self) -> bool {
        self.has(FLUSH)
    }

    /// The number of blocks, as the device says.
    fn blocks(&self) -> Result<u64, Error> {
        let device = self.requests.device()?;
        Ok(u64::from(device.configuration(0)) | u64::from(device.configuration(4)) << 32)
    }

    fn request(
        &self,
        kind: Kind,
        first: u64,
        bytes: usize,
        before: impl FnOnce(&Buffer) -> Result<(), Error>,
        after: impl FnOnce(&Buffer) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if bytes > DATA {
            return Err(Error::TooLarge);
        }
        self.requests.make(
            |place, chain| prepare(kind, first, bytes, before, place, chain),
            |place, length| answer(kind, place, bytes, length, after),
        )
    }
}

/// Fills in a request of a place, of at most [`DATA`] bytes; how many descriptors it has.
fn prepare(
    kind: Kind,
    first: u64,
    bytes: usize,
    before: impl FnOnce(&Buffer) -> Result<(), Error>,
    place: usize,
    chain: &mut [Descriptor; CHAIN],
) -> Result<usize, Error> {
    let Request { header, data, status } = Request::at(place, bytes)?;
    before(&data)?;
    header.store(0, kind as u64);
    header.store(8, first);
    status.set_byte(0, u8::MAX);
    let mut count = 0;
    let mut add = |descriptor| {
        chain[count] = descriptor;
        count += 1;
    };
    add(header.descriptor(false, true)?);
    if bytes > 0 {
        add(data.descriptor(kind == Kind::Read, true)?);
    }
    add(status.descriptor(true, false)?);
    Ok(count)
}

/// What the device answered to a request of a place, and how many bytes it says it wrote.
fn answer(
    kind: Kind,
    place: usize,
    bytes: usize,
    length: u32,
    after: impl FnOnce(&Buffer) -> Result<(), Error>,
) -> Result<(), Error> {
    let Request { data, status, .. } = Request::at(place, bytes)?;
    match status.byte(0) {
        // What the device has not written is another request's (virtio 1.2, section 2.7.8.2).
        0 if kind == Kind::Read && length as usize <= bytes => Err(Error::Unknown),
        0 => after(&data),
        2 => Err(Error::NotSupported),
        _ => Err(Error::Unknown),
    }
}

impl Blocks for Disk {
    fn size(&self) -> Result<(u64, bool), Error> {
        Ok((self.blocks()?, !self.has(READ_ONLY)))
    }

    fn read(&self, first: u64, buffer: WriteWindow) -> Result<(), Error> {
        let bytes = buffer.len();
        blocks_checked(self.blocks()?, first, bytes)?;
        let copy = |data: &Buffer| buffer.write_from(0, data, 0, bytes);
        self.request(Kind::Read, first, bytes, |_| Ok(()), copy)
    }

    fn write(&self, first: u64, buffer: ReadWindow) -> Result<(), Error> {
        let bytes = buffer.len();
        blocks_checked(self.blocks()?, first, bytes)?;
        let copy = |data: &Buffer| buffer.read_into(0, data, 0, bytes);
        self.request(Kind::Write, first, bytes, copy, |_| Ok(()))
    }

    fn flush(&self) -> Result<(), Error> {
        if !self.can_flush() {
            return Ok(());
        }
        self.request(Kind::Flush, 0, 0, |_| Ok(()), |_| Ok(()))
    }
}
