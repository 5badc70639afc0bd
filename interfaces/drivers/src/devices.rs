//! The device owner.

use cairn::{Caller, Error, InstanceId};

/// What drivers of virtio devices ask for. A device is named by its place among the driver's devices.
#[cairn::interface]
pub trait Devices {
    /// Resets the device and lets it begin, with those features among `wanted` that it has and a driver may take; the value is
    /// these. `NotFound`: it is not the caller's, or nothing of its kind is plugged in; `NotSupported`: the device is of before
    /// version 1, has too small a queue, or refuses; `Busy`: it does not confirm the reset, or another thread is at work on it.
    fn begin(&self, caller: Caller, position: u64, wanted: u64) -> Result<u64, Error>;
    /// Resets the device: it reaches no memory until the next `begin`.
    fn end(&self, caller: Caller, position: u64) -> Result<(), Error>;
}

/// What the supervisor asks for.
#[cairn::interface]
pub trait DeviceControl {
    /// Resets all devices of an instance that reach memory by themselves. `Busy`: one has not confirmed it yet; `NotSupported`:
    /// one cannot be reset. Then its memory must stay what it is.
    fn quiet(&self, instance: InstanceId) -> Result<(), Error>;
}
