//! A network card (virtio 1.2, section 5.1): buffers wait for frames at one queue, requests to send go through the other.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::dma::{Buffer, Device};
use cairn::sync::Semaphore;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Caller, Error};
use cairn_driver_interfaces::{Devices, Frames};
use cairn_interfaces::waiting::Interrupt;
use cairn_interfaces::{Portals, Successor};
use cairn_virtio::{Done, Requests, VirtioKind};
use core::convert::Infallible;
// Relaxed: a place in the ring belongs to the one whose turn it is.
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering, Ordering::Relaxed};

/// The queues (section 5.1.2).
const RECEIVE: usize = 0;
const SEND: usize = 1;
/// The device says which address it has (section 5.1.3).
const HAS_ADDRESS: u64 = 1 << 5;
/// Before each frame (section 5.1.6); zeros, where no feature gives it a meaning.
const HEADER: usize = 12;

/// Buffers that wait for frames, a power of two, and those for frames to send; of all of them, the bytes.
const WAITING: usize = 4;
const SENDING: usize = 2;
const BYTES: usize = 2048;

struct Card {
    sending: Requests<SENDING, 1>,
    /// A frame has arrived.
    arrived: Semaphore,
    /// Frames in their order, so many that no buffer has two places: `length << 8 | buffer`.
    frames: [AtomicU32; WAITING],
    /// How many frames have been taken out of there.
    taken: AtomicUsize,
    /// A successor is to come: who waits for a frame goes.
    leaves: AtomicBool,
}

static CARD: Card = Card {
    sending: Requests::new(SEND),
    arrived: Semaphore::new(0),
    frames: [const { AtomicU32::new(0) }; WAITING],
    taken: AtomicUsize::new(0),
    leaves: AtomicBool::new(false),
};

cairn::component! {
    name: "card",
    imports: { portals: Portals, devices: Devices },
    exports: { frames: Frames = CARD, successor: Successor = CARD },
    main: main,
}

/// The interrupt thread.
fn main() -> Result<Infallible, Error> {
    let kind = VirtioKind::Network;
    let (device, features) = cairn_virtio::begin(&imports::DEVICES, "virtio-net", HAS_ADDRESS)?;
    if features & HAS_ADDRESS == 0 {
        return Err(Error::NotSupported);
    }
    let mut received = Done::of(&device, kind, RECEIVE)?;
    let mut sent = CARD.sending.begin(&device, kind, SENDING)?;
    for number in 0..WAITING {
        wait_for_frame(&device, number)?;
    }
    let mut count = 0;
    Interrupt::open(&device.registers)?.serve(|| {
        device.acknowledge()?;
        CARD.sending.answer(&mut sent);
        for (number, length) in received.by_ref() {
            // What the device says is whatever it likes.
            if number as usize >= WAITING {
                return Err(Error::Malformed);
            }
            CARD.frames[count % WAITING].store(length << 8 | number, Ordering::Release);
            count += 1;
            CARD.arrived.release()?;
        }
        Ok(())
    })
}

fn buffer(number: usize) -> Buffer {
    Buffer::all().expect("begin has found the device").part(number * BYTES, BYTES)
}

/// Gives the device a buffer, whose descriptor has the buffer's number.
fn wait_for_frame(device: &Device, number: usize) -> Result<(), Error> {
    device.offer(RECEIVE, number as u16, &[buffer(number).descriptor(true, false)?])
}

impl Frames for Card {
    fn address(&self, _: Caller) -> Result<u64, Error> {
        let device = self.sending.device()?;
        Ok(u64::from(device.configuration(0)) | u64::from(device.configuration(4) & 0xffff) << 32)
    }

    fn send(&self, _: Caller, frame: ReadWindow) -> Result<(), Error> {
        if frame.len() > BYTES - HEADER {
            return Err(Error::TooLarge);
        }
        self.sending.make(
            |place, chain| {
                let memory = buffer(WAITING + place).part(0, HEADER + frame.len());
                memory.store(0, 0);
                memory.store_u32(8, 0);
                frame.read_into(0, &memory, HEADER, frame.len())?;
                chain[0] = memory.descriptor(false, false)?;
                Ok(1)
            },
            |_, _| Ok(()),
        )
    }

    fn receive(&self, _: Caller, frame: WriteWindow) -> Result<usize, Error> {
        let device = self.sending.device()?;
        self.arrived.acquire()?;
        if self.leaves.load(Relaxed) {
            // The next one goes, too.
            self.arrived.release()?;
            return Err(Error::Moved);
        }
        let turn = self.taken.fetch_add(1, Relaxed) % WAITING;
        let word = self.frames[turn].load(Ordering::Acquire);
        let (number, length) = ((word & 0xff) as usize, (word >> 8) as usize);
        let count = length.min(BYTES).saturating_sub(HEADER).min(frame.len());
        let copied = frame.write_from(0, &buffer(number), HEADER, count);
        wait_for_frame(&device, number)?;
        copied.map(|_| count)
    }
}

/// Nothing goes over: what was sent is on its way, and frames that nobody has taken are lost, as those are for which there is no buffer.
impl Successor for Card {
    fn call_home(&self, called: bool) -> Result<(), Error> {
        self.leaves.store(called, Relaxed);
        match called {
            true => self.arrived.release(),
            // What nobody took.
            false => self.arrived.try_acquire().map(drop),
        }
    }

    fn export_state(&self, _: u64, _: WriteWindow) -> Result<usize, Error> {
        Ok(0)
    }

    fn import_state(&self, size: u64, _: u64, _: ReadWindow) -> Result<(), Error> {
        match size {
            0 => self.sending.has_begun(),
            _ => Err(Error::VersionMismatch),
        }
    }
}
