//! The interrupt dispatcher.

#[cfg(target_os = "none")]
use crate::SemaphoreProxy;
use cairn::Error;
#[cfg(target_os = "none")]
use cairn::registers::Registers;

/// Where the nucleus enters the dispatcher.
#[cairn::interface]
pub trait InterruptUpcalls {
    /// A device interrupts.
    fn external(&self) -> Result<(), Error>;
}

/// A device's interrupt, for its driver: an object.
#[cairn::interface]
pub trait Interrupt {
    /// The device has been served and has lowered its line: its source may interrupt again.
    fn acknowledge(&self) -> Result<(), Error>;
}

#[cfg(target_os = "none")]
impl InterruptProxy {
    /// The interrupt of a device: the semaphore that it raises, and the source that its driver acknowledges. `None`: the
    /// board gives the device no interrupt.
    pub fn of(device: &Registers) -> Option<(SemaphoreProxy, InterruptProxy)> {
        let first = device.interrupt_portal()?;
        let source = first + SemaphoreProxy::METHODS;
        Some((SemaphoreProxy::at(first), InterruptProxy::at(source)))
    }
}
