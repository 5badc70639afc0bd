//! A queue's ends.

use cairn::Error;
use cairn::abi::device::{USED_RING, VirtioKind};
use cairn::dma::Device;
use cairn::section::Section;
use cairn_driver_interfaces::DevicesProxy;
use core::sync::atomic::{Ordering, fence};

/// Of a ring: where the index is that its writer moves on, and where its entries begin (virtio 1.2, sections 2.7.6, 2.7.8).
const INDEX: usize = 2;
const ENTRIES: usize = 4;
/// Bytes of an entry of what is done: the first descriptor of the chain, 4, and how much the device wrote, 4.
const DONE_SIZE: usize = 8;

/// Resets the device that the description calls `name` and lets it begin, with those of the features `wanted` that it has: the
/// device and these features.
pub fn begin(owner: &DevicesProxy, name: &str, wanted: u64) -> Result<(Device, u64), Error> {
    let device = Device::named(name);
    let features = owner.begin(device.position(), wanted)?;
    Ok((device, features))
}

/// What the device has done: of each chain its first descriptor, and how many bytes the device wrote, both as it says.
///
/// The other end of the queue, where the driver offers, is [`Device::offer`].
#[derive(Debug)]
pub struct Done {
    rings: Section,
    size: u16,
    next: u16,
}

impl Done {
    /// This end of a queue of a device that has begun, of this kind. To be made once.
    pub fn of(device: &Device, kind: VirtioKind, queue: usize) -> Result<Done, Error> {
        let rings = device.rings(queue).ok_or(Error::BadArgument)?;
        Ok(Done { rings, size: kind.descriptors() as u16, next: 0 })
    }
}

/// It goes on after `None`, when the device has done more.
impl Iterator for Done {
    type Item = (u32, u32);

    fn next(&mut self) -> Option<(u32, u32)> {
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
