//! How a virtio device is reset and set up (virtio 1.2, sections 3.1.1 and 4.2.3).
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

use cairn_abi::Error;
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::device::*;
use cairn_abi::record::Device;

#[cfg(test)]
mod tests;

/// Bits of the device's status (virtio 1.2, section 2.1).
const ACKNOWLEDGE: u32 = 1;
const DRIVER: u32 = 2;
const DRIVER_OK: u32 = 4;
const FEATURES_OK: u32 = 8;

/// The device follows version 1 of the specification, and takes physical addresses.
const VERSION_1: u64 = 1 << 32;
/// A driver and a device can say at which entry of a ring they want to be woken.
const EVENT_INDEX: u64 = 1 << 29;

/// How often a device is asked whether it has been reset. One that needs longer is asked again later.
const RESET_READS: u32 = 1000;

/// The registers of one device.
pub trait Registers {
    /// Reads one, at an offset.
    fn read(&self, offset: u64) -> u32;
    /// Writes it.
    fn write(&self, offset: u64, value: u32);
}

/// The features that a confined driver of this kind of device may take: none by which payload holds addresses, descriptors lie
/// elsewhere than in the tables, or a queue is used that has none.
pub fn lawful_features(kind: VirtioKind) -> u64 {
    // Each kind's own features are the lowest 24 bits (virtio 1.2, section 2.2).
    let own: u64 = match kind {
        // No queue for control (17), on which the others depend, up to the address of the card (23); not several pairs of
        // queues (22).
        VirtioKind::Network => 0xff_ffff & !(0x7f << 17),
        // Not several queues (12), no zones (17).
        VirtioKind::Block => 0xff_ffff & !(1 << 12 | 1 << 17),
        // Not several ports (1), whose queues are others.
        VirtioKind::Console => 0xff_ffff & !(1 << 1),
        VirtioKind::Random => 0,
    };
    own | VERSION_1 | EVENT_INDEX
}

/// Resets a device. `Busy`: it has not confirmed that yet; it may still use memory.
pub fn reset(registers: &impl Registers) -> Result<(), Error> {
    registers.write(register::STATUS, 0);
    match (0..RESET_READS).any(|_| registers.read(register::STATUS) == 0) {
        true => Ok(()),
        false => Err(Error::Busy),
    }
}

/// Resets the device of the record, and lets it begin with the features among `wanted` that it has, which this answers.
/// `NotFound`: nothing is plugged in, or another kind of device; `NotSupported`: it is older than version 1, has too small a
/// queue, or refuses the features.
pub fn begin(registers: &impl Registers, device: &Device, wanted: u64) -> Result<u64, Error> {
    let kind = VirtioKind::ALL.into_iter().find(|kind| kind.number() == device.kind);
    let kind = kind.ok_or(Error::NotSupported)?;
    if registers.read(register::MAGIC) != register::MAGIC_VALUE
        || registers.read(register::DEVICE) != device.kind
    {
        return Err(Error::NotFound);
    }
    if registers.read(register::VERSION) != 2 {
        return Err(Error::NotSupported);
    }
    reset(registers)?;
    let begun = set_up(registers, device, kind, wanted & lawful_features(kind));
    if begun.is_err() {
        reset(registers)?;
    }
    begun
}

fn set_up(
    registers: &impl Registers,
    device: &Device,
    kind: VirtioKind,
    wanted: u64,
) -> Result<u64, Error> {
    registers.write(register::STATUS, ACKNOWLEDGE | DRIVER);
    let features = offered(registers) & (wanted | VERSION_1);
    if features & VERSION_1 == 0 {
        return Err(Error::NotSupported);
    }
    for (half, bits) in [features as u32, (features >> 32) as u32].into_iter().enumerate() {
        registers.write(register::DRIVER_FEATURES_SELECT, half as u32);
        registers.write(register::DRIVER_FEATURES, bits);
    }
    registers.write(register::STATUS, ACKNOWLEDGE | DRIVER | FEATURES_OK);
    if registers.read(register::STATUS) & FEATURES_OK == 0 {
        return Err(Error::NotSupported);
    }
    for queue in 0..device.queue_count.min(DEVICE_QUEUES_MAXIMUM as u64) {
        let pages = device.queues + queue * QUEUE_PAGES * PAGE_SIZE;
        place(registers, queue, pages, kind.descriptors())?;
    }
    registers.write(register::STATUS, ACKNOWLEDGE | DRIVER | FEATURES_OK | DRIVER_OK);
    Ok(features)
}

fn offered(registers: &impl Registers) -> u64 {
    let half = |number| {
        registers.write(register::DEVICE_FEATURES_SELECT, number);
        u64::from(registers.read(register::DEVICE_FEATURES))
    };
    half(0) | half(1) << 32
}

/// Says where a queue is, and how many descriptors it has.
fn place(registers: &impl Registers, queue: u64, pages: u64, size: u64) -> Result<(), Error> {
    registers.write(register::QUEUE_SELECT, queue as u32);
    let most = u64::from(registers.read(register::QUEUE_MAXIMUM));
    if most < size || registers.read(register::QUEUE_READY) != 0 {
        return Err(Error::NotSupported);
    }
    registers.write(register::QUEUE_SIZE, size as u32);
    let rings = pages + PAGE_SIZE;
    for (low, address) in [
        (register::QUEUE_DESCRIPTORS, pages),
        (register::QUEUE_AVAILABLE, rings + AVAILABLE_RING),
        (register::QUEUE_USED, rings + USED_RING),
    ] {
        registers.write(low, address as u32);
        registers.write(low + 4, (address >> 32) as u32);
    }
    registers.write(register::QUEUE_READY, 1);
    Ok(())
}
