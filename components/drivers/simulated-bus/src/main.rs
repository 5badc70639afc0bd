//! Buses and pins for boards without: on the two wires a sensor of temperature, on the serial bus a display, whose pin for data is
//! [`DATA`] and whose reset is [`RESET`]; and a wire from pin 8 to pin 9.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::sync::Mutex;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_driver_interfaces::{I2c, I2cError, Operation, OperationKind, Pins, Spi, operations};
use cairn_interfaces::Portals;
use cairn_simulated_bus::Surroundings;
use cairn_simulated_bus::display::Display;
use cairn_simulated_bus::sensor::{ADDRESS, Sensor};
use core::ops::Range;

/// Most operations of a transaction.
const OPERATIONS: usize = 32;
/// Pins.
const PINS: usize = 16;
/// High: a byte for the display is data. Low: a command.
const DATA: usize = 0;
/// Low: the display is as after power-on.
const RESET: usize = 1;
/// The ends of a wire.
const WIRE: [usize; 2] = [8, 9];

struct State {
    sensor: Sensor,
    display: Display,
    /// What a pin is driven to; an input is pulled low.
    driven: [Option<bool>; PINS],
}

struct Bus;
static BUS: Bus = Bus;
static STATE: Mutex<State> =
    Mutex::new(State { sensor: Sensor::new(), display: Display::new(), driven: [None; PINS] });

cairn::component! {
    name: "simulated-bus",
    imports: { portals: Portals },
    exports: { i2c: I2c = BUS, spi: Spi = BUS, pins: Pins = BUS, surroundings: Surroundings = BUS },
}

impl State {
    fn level(&self, pin: usize) -> bool {
        let other = match WIRE {
            [one, other] if pin == one => self.driven[other],
            [other, one] if pin == one => self.driven[other],
            _ => None,
        };
        self.driven[pin].or(other).unwrap_or(false)
    }
}

fn with<R, E: From<Error>>(body: impl FnOnce(&mut State) -> Result<R, E>) -> Result<R, E> {
    // Who is called home is to know it.
    let refused = |error| if error == Error::Cancelled { error } else { Error::Busy };
    body(&mut *STATE.lock().map_err(refused)?)
}

/// A transaction, by its operations; each byte goes through `byte`, with its position in the operation.
fn transact<E: From<Error>>(
    list: ReadWindow,
    data: WriteWindow,
    mut byte: impl FnMut(Operation, usize, u8) -> Result<u8, E>,
) -> Result<(), E> {
    let mut buffer = [0; OPERATIONS * Operation::SIZE];
    let list = list.copy(&mut buffer)?;
    for (operation, Range { start, end }) in operations(list, data.len())? {
        for at in start..end {
            let mut one = [0];
            data.as_read().read(at, &mut one)?;
            let answer = byte(operation, at - start, one[0])?;
            if operation.kind != OperationKind::Write {
                data.write(at, &[answer])?;
            }
        }
    }
    Ok(())
}

impl I2c for Bus {
    fn transact(
        &self,
        address: u16,
        operations: ReadWindow,
        data: WriteWindow,
    ) -> Result<(), I2cError> {
        if address != ADDRESS {
            return Err(I2cError::NoDevice);
        }
        with(|state| {
            transact(operations, data, |operation, position, byte| match operation.kind {
                OperationKind::Write if state.sensor.write(position, byte) => Ok(byte),
                OperationKind::Write => Err(I2cError::NotAcknowledged),
                OperationKind::Read => Ok(state.sensor.read(position)),
                _ => Err(Error::Malformed.into()),
            })
        })
    }
}

impl Spi for Bus {
    fn transact(&self, operations: ReadWindow, data: WriteWindow) -> Result<(), Error> {
        with(|state| {
            let is_data = state.level(DATA);
            transact(operations, data, |operation, _, byte| {
                let sent = if operation.kind == OperationKind::Read { 0 } else { byte };
                if state.level(RESET) {
                    state.display.take(sent, is_data);
                }
                // It says nothing, so the wire stays high.
                Ok(u8::MAX)
            })
        })
    }
}

fn pin(number: u64) -> Result<usize, Error> {
    usize::try_from(number).ok().filter(|pin| *pin < PINS).ok_or(Error::NotFound)
}

impl Pins for Bus {
    fn drive(&self, number: u64, high: bool) -> Result<(), Error> {
        let pin = pin(number)?;
        with(|state| {
            state.driven[pin] = Some(high);
            if !state.level(RESET) {
                state.display = Display::new();
            }
            Ok(())
        })
    }

    fn release(&self, number: u64) -> Result<(), Error> {
        let pin = pin(number)?;
        with(|state| {
            state.driven[pin] = None;
            Ok(())
        })
    }

    fn level(&self, number: u64) -> Result<bool, Error> {
        let pin = pin(number)?;
        with(|state| Ok(state.level(pin)))
    }
}

impl Surroundings for Bus {
    fn set_temperature(&self, eighths: i64) -> Result<(), Error> {
        let eighths = i16::try_from(eighths).map_err(|_| Error::BadArgument)?;
        with(|state| {
            state.sensor.set_temperature(eighths);
            Ok(())
        })
    }

    fn pixel(&self, x: u64, y: u64) -> Result<u16, Error> {
        with(|state| state.display.pixel(x as usize, y as usize).ok_or(Error::NotFound))
    }
}
