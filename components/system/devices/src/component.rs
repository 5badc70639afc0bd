//! The record's devices, behind the interfaces.

use cairn::record::Record;
use cairn::registers;
use cairn::{Caller, Error, InstanceId, environment};
use cairn_abi::device::register;
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::record::Device;
use cairn_abi::startup::DEVICES_MAXIMUM;
use cairn_devices::{Registers, begin, reset};
use core::sync::atomic::{AtomicBool, Ordering};

/// Bytes of registers up to the device's own part.
const REGISTERS_SIZE: usize = register::CONFIGURATION as usize;

struct Owner;
static OWNER: Owner = Owner;
/// Most devices of all instances.
const ALL_MAXIMUM: usize = INSTANCES_MAXIMUM * DEVICES_MAXIMUM;
/// Somebody is at work on a device, by its place in the record. Its registers select what others read and write.
static BUSY: [AtomicBool; ALL_MAXIMUM] = [const { AtomicBool::new(false) }; ALL_MAXIMUM];

cairn::component! {
    name: "devices",
    exports: {
        devices: cairn_driver_interfaces::Devices = OWNER,
        control: cairn_driver_interfaces::DeviceControl = OWNER,
    },
}

/// The registers of one device.
struct InView(registers::Registers);

impl Registers for InView {
    fn read(&self, offset: u64) -> u32 {
        self.0.read_u32(offset as usize)
    }

    fn write(&self, offset: u64, value: u32) {
        self.0.write_u32(offset as usize, value);
    }
}

fn devices() -> Result<&'static [Device], Error> {
    let record = Record::find().ok_or(Error::NotFound)?;
    Ok(record.table(record.header.devices))
}

/// Does something to the device at a place of the record, alone.
fn alone<R>(
    place: usize,
    device: &Device,
    work: impl FnOnce(&InView) -> Result<R, Error>,
) -> Result<R, Error> {
    let section = environment::section("devices").ok_or(Error::NotFound)?;
    let busy = BUSY.get(place).ok_or(Error::Exhausted)?;
    if busy.swap(true, Ordering::Acquire) {
        return Err(Error::Busy);
    }
    let result = work(&InView(section.registers(device.registers as usize, REGISTERS_SIZE)));
    // Who uses the memory next does so after the device has said that it is reset.
    registers::fence();
    busy.store(false, Ordering::Release);
    result
}

/// A device of a driver, with its place in the record.
fn device_of(driver: InstanceId, position: u64) -> Result<(usize, &'static Device), Error> {
    let mut devices = devices()?.iter().enumerate();
    let is_it = |(_, device): &(usize, &Device)| {
        device.instance == driver && u64::from(device.position) == position && device.kind != 0
    };
    devices.find(is_it).ok_or(Error::NotFound)
}

impl cairn_driver_interfaces::Devices for Owner {
    fn begin(&self, caller: Caller, position: u64, wanted: u64) -> Result<u64, Error> {
        let (place, device) = device_of(caller.0, position)?;
        alone(place, device, |registers| begin(registers, device, wanted))
    }

    fn end(&self, caller: Caller, position: u64) -> Result<(), Error> {
        let (place, device) = device_of(caller.0, position)?;
        alone(place, device, reset)
    }
}

impl cairn_driver_interfaces::DeviceControl for Owner {
    fn quiet(&self, instance: InstanceId) -> Result<(), Error> {
        let devices = devices()?.iter().enumerate();
        let mut result = Ok(());
        for (place, device) in devices.filter(|(_, device)| device.instance == instance) {
            // All of them, whatever becomes of one.
            result = result.and(match device.kind {
                0 => Err(Error::NotSupported),
                _ => alone(place, device, reset),
            });
        }
        result
    }
}
