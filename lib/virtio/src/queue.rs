//! The two ends of a queue.

use cairn::Error;
use cairn::abi::device::{AVAILABLE_RING, Descriptor, USED_RING};
use cairn::dma::Device;
use cairn::section::Section;
use cairn_interfaces::DevicesProxy;
use core::sync::atomic::{Ordering, fence};

/// Of a ring: where the index is that its writer moves on, and where its entries begin (virtio 1.2, sections 2.7.6, 2.7.8).
const INDEX: usize = 2;
const ENTRIES: usize = 4;
/// Bytes of an entry of what is done: the first descriptor of the chain, 4, and how much the device wrote, 4.
const DONE_SIZE: usize = 8;

/// What a device that has begun can do.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    /// The device.
    pub device: Device,
    /// The features that driver and device both take.
    pub features: u64,
    sizes: u64,
}

/// Resets the device at `position` of the description's list and lets it begin, with those of the features `wanted` that it has.
pub fn begin(owner: &DevicesProxy, position: usize, wanted: u64) -> Result<Begun, Error> {
    let device = Device::at(position).ok_or(Error::NotFound)?;
    let (features, sizes) = owner.begin(device.position(), wanted)?;
    Ok(Begun { device, features, sizes })
}

impl Begun {
    /// The two ends of a queue, each for one thread at a time. To be called once for each queue.
    pub fn queue(&self, number: usize) -> Result<(Offers, Done), Error> {
        let rings = self.device.rings(number).ok_or(Error::BadArgument)?;
        let size = (self.sizes >> (16 * number)) as u16;
        if !size.is_power_of_two() {
            return Err(Error::Malformed);
        }
        let offers = Offers { device: self.device, number, rings, size, next: 0 };
        Ok((offers, Done { rings, size, next: 0 }))
    }
}

/// What the driver offers the device.
#[derive(Debug)]
pub struct Offers {
    device: Device,
    number: usize,
    rings: Section,
    size: u16,
    next: u16,
}

impl Offers {
    /// How many descriptors the queue has.
    pub fn size(&self) -> u16 {
        self.size
    }

    /// Writes the descriptors of a chain, which begins at `first`. The device must not have the chain.
    pub fn post(&self, first: u16, descriptors: &[Descriptor]) -> Result<(), Error> {
        if usize::from(self.size.saturating_sub(first)) < descriptors.len() {
            return Err(Error::BadArgument);
        }
        self.device.post(self.number, first, descriptors)
    }

    /// Gives the device the chain that begins at `first`; [`Offers::notify`] tells it.
    pub fn offer(&mut self, first: u16) {
        let entry = ENTRIES + usize::from(self.next % self.size) * 2;
        self.rings.store_u16(AVAILABLE_RING as usize + entry, first);
        self.next = self.next.wrapping_add(1);
        // The device sees descriptors and entry before the index.
        fence(Ordering::Release);
        self.rings.store_u16(AVAILABLE_RING as usize + INDEX, self.next);
    }

    /// The device looks at what it was given.
    pub fn notify(&self) -> Result<(), Error> {
        self.device.notify(self.number)
    }
}

/// What the device has done.
#[derive(Debug)]
pub struct Done {
    rings: Section,
    size: u16,
    next: u16,
}

impl Done {
    /// The next chain that the device has done with: its first descriptor and how many bytes it wrote, both as the device says.
    pub fn next(&mut self) -> Option<(u32, u32)> {
        let ring = USED_RING as usize;
        if self.rings.load_u16(ring + INDEX) == self.next {
            return None;
        }
        // The index is read before the entry.
        fence(Ordering::Acquire);
        let entry = ring + ENTRIES + usize::from(self.next % self.size) * DONE_SIZE;
        self.next = self.next.wrapping_add(1);
        Some((self.rings.load_u32(entry), self.rings.load_u32(entry + 4)))
    }
}
