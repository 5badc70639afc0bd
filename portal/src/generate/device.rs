//! What a driver does to its virtio device: short-circuit portals, one for each operation and queue
//! (`cairn_abi::device`).

use super::code::Code;
use super::{Crossing, GenerateError, Generated};
use crate::literal::*;
use crate::plan::Place;
use crate::stencil::{self, Label, Stencil, Value};

/// An operation, and what it is done to. Addresses of registers and descriptors are the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceOperation {
    /// Says that a queue has something.
    Notify {
        /// The device's registers.
        registers: u64,
        /// How many queues the driver has.
        queues: u64,
    },
    /// Acknowledges interrupts.
    Acknowledge {
        /// The device's registers.
        registers: u64,
    },
    /// Writes a word of the configuration.
    Configure {
        /// The device's registers.
        registers: u64,
        /// Bytes of its configuration.
        size: u64,
    },
    /// Writes descriptors.
    Post(DeviceQueue),
    /// Writes descriptors, offers the first one, and says that the queue has something.
    Offer {
        /// The queue.
        queue: DeviceQueue,
        /// Its number.
        number: u64,
        /// Its rings.
        rings: u64,
        /// The device's registers.
        registers: u64,
    },
}

/// A queue of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceQueue {
    /// The table of its descriptors.
    pub descriptors: u64,
    /// How many there are.
    pub count: u64,
    /// Where the device finds the driver's memory for DMA.
    pub device_address: u64,
    /// Bytes of that memory.
    pub size: u64,
}

/// Generates the portal of `crossing.caller` for an operation.
pub fn device(
    operation: DeviceOperation,
    crossing: &Crossing,
    words: &mut [u32],
    address: u64,
) -> Result<Generated, GenerateError> {
    let mut code = Code::new(words, address);
    let start = code.literals()?;
    code.literal(start, LITERAL_MARK, MARK_CALL);
    match operation {
        DeviceOperation::Notify { registers, queues } => {
            code.emit(&stencil::DEVICE_NOTIFY)?;
            code.literal(start, LITERAL_REGISTERS, registers);
            code.literal(start, LITERAL_COUNT, queues);
        }
        DeviceOperation::Acknowledge { registers } => {
            code.emit(&stencil::DEVICE_ACKNOWLEDGE)?;
            code.literal(start, LITERAL_REGISTERS, registers);
        }
        DeviceOperation::Configure { registers, size } => {
            code.emit(&stencil::DEVICE_CONFIGURE)?;
            code.literal(start, LITERAL_REGISTERS, registers);
            code.literal(start, LITERAL_COUNT, size);
        }
        DeviceOperation::Post(queue) => post(&mut code, start, queue)?,
        DeviceOperation::Offer { queue, number, rings, registers } => {
            post(&mut code, start, queue)?;
            code.value(Value::Queue, number as i64);
            code.emit(&stencil::OFFER)?;
            code.literal(start, LITERAL_RINGS, rings);
            code.literal(start, LITERAL_REGISTERS, registers);
        }
    }
    leave(&mut code, crossing, &stencil::DEVICE_DONE)?;
    if !matches!(operation, DeviceOperation::Acknowledge { .. }) {
        code.label(Label::Refused);
        leave(&mut code, crossing, &stencil::DEVICE_REFUSED)?;
    }
    code.resolve()?;
    code.finish(start, 0)
}

/// Descriptors, and where what comes then begins.
fn post(code: &mut Code, start: usize, queue: DeviceQueue) -> Result<(), GenerateError> {
    code.emit(&stencil::POST)?;
    for descriptor in &stencil::POST_DESCRIPTOR {
        code.emit(descriptor)?;
    }
    code.label(Label::Posted);
    code.literal(start, LITERAL_DESCRIPTORS, queue.descriptors);
    code.literal(start, LITERAL_COUNT, queue.count);
    code.literal(start, LITERAL_DEVICE_ADDRESS, queue.device_address);
    code.literal(start, LITERAL_DMA_SIZE, queue.size);
    code.literal(start, LITERAL_LENGTH_MASK, u64::from(u16::MAX));
    Ok(())
}

/// An end, with the status that it answers.
fn leave(code: &mut Code, crossing: &Crossing, status: &Stencil) -> Result<(), GenerateError> {
    code.emit(status)?;
    code.emit(&stencil::DEVICE_SCRUB)?;
    match crossing.caller.place {
        Place::User => code.leave(2, &stencil::DEVICE_LEAVE),
        Place::Kernel => code.emit(&stencil::NO_PORTAL_IN_KERNEL),
        Place::KernelToCompletion { .. } => code.emit_part(&stencil::NO_PORTAL_IN_KERNEL, 1..),
    }
}
