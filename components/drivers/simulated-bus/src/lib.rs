//! The simulated devices, and how whoever tests a driver sets what they sense and sees what they show.
#![no_std]
#![forbid(unsafe_code)]

pub mod display;
pub mod sensor;

use cairn::Error;

/// What is around the devices.
#[cairn::interface]
pub trait Surroundings {
    /// How warm it is, in eighths of a degree.
    fn set_temperature(&self, eighths: i64) -> Result<(), Error>;
    /// What the display shows at a place: red, green and blue in 5, 6 and 5 bits. `NotFound`: nothing, since it is off.
    fn pixel(&self, x: u64, y: u64) -> Result<u16, Error>;
}
