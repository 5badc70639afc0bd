//! The interrupt dispatcher.

use cairn::Error;

/// Where the nucleus enters the dispatcher.
#[cairn::interface]
pub trait InterruptUpcalls {
    /// A device interrupts.
    fn external(&self) -> Result<(), Error>;
}

/// A device's interrupt, for its driver: an object. Drivers have `waiting::Interrupt`, which waits for it as well.
#[cairn::interface]
pub trait Interrupt {
    /// The device has been served and has lowered its line: its source may interrupt again.
    fn acknowledge(&self) -> Result<(), Error>;
}

/// What a supervisor needs of the dispatcher.
#[cairn::interface]
pub trait InterruptControl {
    /// A source's driver is no more: it is masked, and signals nobody from now on. `NotSupported`: no controller is there.
    fn retire(&self, source: u32) -> Result<(), Error>;
}

/// Interrupts, as drivers have them.
pub(crate) mod waited {
    use super::InterruptProxy;
    use crate::SemaphoreProxy;
    use cairn::Error;
    use cairn::registers::Registers;
    use core::convert::Infallible;

    /// An interrupt of a device, for the thread that serves it. It comes, the thread has the device lower its line and acknowledges;
    /// until then the interrupt does not come again, so a device that interrupts without end holds up nobody else.
    #[derive(Clone, Copy, Debug)]
    pub struct Interrupt {
        signal: SemaphoreProxy,
        source: InterruptProxy,
    }

    impl Interrupt {
        /// Opens the interrupt of a device: it comes from now on. `NotFound`: the board gives it none.
        pub fn open(device: &Registers) -> Result<Interrupt, Error> {
            Interrupt::open_one(device, 0)
        }

        /// Opens one of several, in the order in which the board has them.
        pub fn open_one(device: &Registers, number: u32) -> Result<Interrupt, Error> {
            let first = device.interrupt_portal().filter(|_| number < device.interrupts());
            // The portals of an interrupt are those of its semaphore, and its acknowledgement.
            let portals = SemaphoreProxy::METHODS + InterruptProxy::METHODS;
            let first = first.ok_or(Error::NotFound)? + number * portals;
            let interrupt = Interrupt {
                signal: SemaphoreProxy::at(first),
                source: InterruptProxy::at(first + SemaphoreProxy::METHODS),
            };
            // What nobody has acknowledged yet does not come.
            interrupt.acknowledge()?;
            Ok(interrupt)
        }

        /// Waits until it comes.
        #[inline(always)]
        pub fn wait(&self) -> Result<(), Error> {
            self.signal.p()
        }

        /// It may come again: the device has lowered its line.
        #[inline(always)]
        pub fn acknowledge(&self) -> Result<(), Error> {
            self.source.acknowledge()
        }

        /// Serves it for ever: `served` looks after the device each time it has come. It ends with the first error.
        pub fn serve(
            &self,
            mut served: impl FnMut() -> Result<(), Error>,
        ) -> Result<Infallible, Error> {
            loop {
                self.wait()?;
                served()?;
                self.acknowledge()?;
            }
        }

        /// The semaphore that it raises, to wait in other ways.
        pub fn signal(&self) -> SemaphoreProxy {
            self.signal
        }
    }
}
