//! The traits by which Rust's embedded ecosystem writes drivers and protocols, over interfaces of Cairn: so crates from the
//! registry run unchanged in a component.
//!
//! | trait | over | here |
//! |---|---|---|
//! | `embedded_hal::delay::DelayNs` | `Clock` | [`Delay`] |
//! | `embedded_hal::i2c::I2c` | `I2c` | [`I2cBus`] |
//! | `embedded_hal::spi::SpiDevice` | `Spi` | [`SpiDevice`] |
//! | `embedded_hal::digital::{InputPin, OutputPin, StatefulOutputPin}` | `Pins` | [`Input`], [`Output`] |
//! | `embedded_io::{Read, ReadReady, Write}` | `Console` | [`ConsoleStream`] |
//! | `embedded_io::Write` | `Terminal` | [`TerminalStream`] |
#![no_std]
#![forbid(unsafe_code)]

mod delay;
mod fault;
mod i2c;
mod pins;
mod spi;
mod staged;
mod stream;

pub use delay::Delay;
pub use fault::{Fault, I2cFault};
pub use i2c::I2cBus;
pub use pins::{Input, Output};
pub use spi::SpiDevice;
pub use stream::{ConsoleStream, TerminalStream};
