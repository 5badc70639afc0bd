//! Digital pins.

use crate::Fault;
use cairn::Error;
use cairn_driver_interfaces::PinsProxy;
use embedded_hal::digital::{ErrorType, InputPin, OutputPin, StatefulOutputPin};

/// A pin whose level is read.
#[derive(Debug)]
pub struct Input {
    pins: PinsProxy,
    number: u64,
}

impl Input {
    /// Makes a pin an input.
    pub fn of(pins: PinsProxy, number: u64) -> Result<Input, Error> {
        pins.release(number)?;
        Ok(Input { pins, number })
    }
}

impl ErrorType for Input {
    type Error = Fault;
}

impl InputPin for Input {
    fn is_high(&mut self) -> Result<bool, Fault> {
        Ok(self.pins.level(self.number)?)
    }

    fn is_low(&mut self) -> Result<bool, Fault> {
        Ok(!self.is_high()?)
    }
}

/// A pin whose level is made.
#[derive(Debug)]
pub struct Output {
    pins: PinsProxy,
    number: u64,
    high: bool,
}

impl Output {
    /// Makes a pin an output with this level.
    pub fn of(pins: PinsProxy, number: u64, high: bool) -> Result<Output, Error> {
        pins.drive(number, high)?;
        Ok(Output { pins, number, high })
    }

    fn set(&mut self, high: bool) -> Result<(), Fault> {
        self.pins.drive(self.number, high)?;
        self.high = high;
        Ok(())
    }
}

impl ErrorType for Output {
    type Error = Fault;
}

impl OutputPin for Output {
    fn set_low(&mut self) -> Result<(), Fault> {
        self.set(false)
    }

    fn set_high(&mut self) -> Result<(), Fault> {
        self.set(true)
    }
}

impl StatefulOutputPin for Output {
    fn is_set_high(&mut self) -> Result<bool, Fault> {
        Ok(self.high)
    }

    fn is_set_low(&mut self) -> Result<bool, Fault> {
        Ok(!self.high)
    }
}
