//! The 16550 serial port: registers and bits as in the data sheet of National Semiconductor's
//! PC16550D, section 8. The firmware has set the speed.

use cairn::Error;
use cairn::registers::interfaces::{Readable, Writeable};
use cairn::registers::{Registers, register_bitfields};

register_bitfields! { u8,
    INTERRUPT_ENABLE [
        /// A byte was received.
        RECEIVED OFFSET(0) NUMBITS(1) [],
        /// The transmit FIFO is empty.
        TRANSMITTED OFFSET(1) NUMBITS(1) [],
    ],
    FIFO_CONTROL [
        ENABLE OFFSET(0) NUMBITS(1) [],
        /// How many received bytes interrupt.
        TRIGGER OFFSET(6) NUMBITS(2) [One = 0],
    ],
    LINE_CONTROL [
        BITS OFFSET(0) NUMBITS(2) [Eight = 3],
        STOP_BITS OFFSET(2) NUMBITS(1) [One = 0],
        PARITY OFFSET(3) NUMBITS(1) [],
        /// The first two registers are the divisor.
        DIVISOR OFFSET(7) NUMBITS(1) [],
    ],
    MODEM_CONTROL [
        TERMINAL_READY OFFSET(0) NUMBITS(1) [],
        REQUEST_TO_SEND OFFSET(1) NUMBITS(1) [],
        /// The output that lets interrupts through.
        OUTPUT_2 OFFSET(3) NUMBITS(1) [],
    ],
    LINE_STATUS [
        DATA_READY OFFSET(0) NUMBITS(1) [],
        TRANSMITTER_EMPTY OFFSET(5) NUMBITS(1) [],
    ],
}

cairn::register_block! {
    /// The port.
    pub struct Port {
        0 => received: Read<u8>,
        0 => transmitted: Write<u8>,
        1 => interrupt_enable: Write<u8, INTERRUPT_ENABLE::Register>,
        2 => fifo_control: Write<u8, FIFO_CONTROL::Register>,
        3 => line_control: Write<u8, LINE_CONTROL::Register>,
        4 => modem_control: Write<u8, MODEM_CONTROL::Register>,
        5 => line_status: Read<u8, LINE_STATUS::Register>,
    }
}

/// Bytes that the transmit FIFO takes when it is empty.
pub const TRANSMIT_FIFO: usize = 16;

impl Port {
    /// Sets the port up: it interrupts when a byte was received.
    pub fn begin(registers: Registers) -> Result<Port, Error> {
        let port = Port::of(registers)?;
        port.interrupt_enable().set(0);
        port.line_control().write(LINE_CONTROL::BITS::Eight + LINE_CONTROL::STOP_BITS::One);
        // What was typed before is kept, and what is on its way to the terminal.
        port.fifo_control().write(FIFO_CONTROL::ENABLE::SET + FIFO_CONTROL::TRIGGER::One);
        port.modem_control().write(
            MODEM_CONTROL::TERMINAL_READY::SET
                + MODEM_CONTROL::REQUEST_TO_SEND::SET
                + MODEM_CONTROL::OUTPUT_2::SET,
        );
        port.interrupt_enable().write(INTERRUPT_ENABLE::RECEIVED::SET);
        Ok(port)
    }

    /// A received byte.
    pub fn receive(&self) -> Option<u8> {
        self.line_status().is_set(LINE_STATUS::DATA_READY).then(|| self.received().get())
    }

    /// Will the FIFO take [`TRANSMIT_FIFO`] bytes?
    pub fn is_transmitter_empty(&self) -> bool {
        self.line_status().is_set(LINE_STATUS::TRANSMITTER_EMPTY)
    }

    /// Gives the FIFO a byte.
    pub fn transmit(&self, byte: u8) {
        self.transmitted().set(byte);
    }

    /// The port does not interrupt any more: it keeps what it receives.
    pub fn silence(&self) {
        self.interrupt_enable().set(0);
    }

    /// Shall the port interrupt when the FIFO is empty? It does so at once if it is.
    pub fn set_transmit_interrupt(&self, on: bool) {
        // Written as a whole, never changed from what it was: writers and the interrupt thread both
        // do so, and neither can be in the middle of it.
        self.interrupt_enable()
            .write(INTERRUPT_ENABLE::RECEIVED::SET + INTERRUPT_ENABLE::TRANSMITTED.val(on.into()));
    }
}
