//! Errors of calls as the traits' errors.

use cairn::Error;
use cairn_driver_interfaces::I2cError;
use core::fmt;
use embedded_hal::{digital, i2c, spi};

/// A call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault(pub Error);

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault(error)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl core::error::Error for Fault {}

impl digital::Error for Fault {
    fn kind(&self) -> digital::ErrorKind {
        digital::ErrorKind::Other
    }
}

impl spi::Error for Fault {
    fn kind(&self) -> spi::ErrorKind {
        spi::ErrorKind::Other
    }
}

impl embedded_io::Error for Fault {
    fn kind(&self) -> embedded_io::ErrorKind {
        use embedded_io::ErrorKind;
        match self.0 {
            Error::NotFound | Error::NoPortal => ErrorKind::NotFound,
            Error::NotAllowed => ErrorKind::PermissionDenied,
            Error::Dead => ErrorKind::BrokenPipe,
            Error::BadArgument | Error::BadPointer | Error::TooLarge => ErrorKind::InvalidInput,
            Error::Malformed => ErrorKind::InvalidData,
            Error::TimedOut => ErrorKind::TimedOut,
            Error::Cancelled => ErrorKind::Interrupted,
            Error::NotSupported => ErrorKind::Unsupported,
            Error::Exhausted => ErrorKind::OutOfMemory,
            _ => ErrorKind::Other,
        }
    }
}

/// A transaction on a bus of two wires failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct I2cFault(pub I2cError);

impl From<Error> for I2cFault {
    fn from(error: Error) -> I2cFault {
        I2cFault(I2cError::Portal(error))
    }
}

impl i2c::Error for I2cFault {
    fn kind(&self) -> i2c::ErrorKind {
        use i2c::{ErrorKind, NoAcknowledgeSource};
        match self.0 {
            I2cError::NoDevice => ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address),
            I2cError::NotAcknowledged => ErrorKind::NoAcknowledge(NoAcknowledgeSource::Data),
            I2cError::ArbitrationLost => ErrorKind::ArbitrationLoss,
            I2cError::BusFault => ErrorKind::Bus,
            I2cError::Portal(_) => ErrorKind::Other,
        }
    }
}
