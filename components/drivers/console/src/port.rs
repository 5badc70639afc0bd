//! The 16550 serial port: registers and bits as in the data sheet of National Semiconductor's
//! PC16550D, section 8. The firmware has set the speed.

use cairn::registers::Registers;

/// Receive buffer (read), transmit holding register (write).
const DATA: usize = 0;
const INTERRUPT_ENABLE: usize = 1;
const FIFO_CONTROL: usize = 2;
const LINE_CONTROL: usize = 3;
const MODEM_CONTROL: usize = 4;
const LINE_STATUS: usize = 5;

const ENABLE_RECEIVED: u8 = 1 << 0;
const ENABLE_TRANSMITTED: u8 = 1 << 1;
/// FIFOs on, both emptied, an interrupt for each received byte.
const FIFO_RESET: u8 = 0b0000_0111;
/// Eight data bits, one stop bit, no parity; the divisor is not selected.
const EIGHT_BITS: u8 = 0b0000_0011;
/// Terminal ready, request to send, and the output that lets interrupts through.
const READY: u8 = 0b0000_1011;
const DATA_READY: u8 = 1 << 0;
const TRANSMITTER_EMPTY: u8 = 1 << 5;

/// Bytes that the transmit FIFO takes when it is empty.
pub const TRANSMIT_FIFO: usize = 16;

/// The port.
#[derive(Clone, Copy)]
pub struct Port(Registers);

impl Port {
    /// Sets the port up: it interrupts when a byte was received.
    pub fn begin(registers: Registers) -> Port {
        registers.write_u8(INTERRUPT_ENABLE, 0);
        registers.write_u8(LINE_CONTROL, EIGHT_BITS);
        registers.write_u8(FIFO_CONTROL, FIFO_RESET);
        registers.write_u8(MODEM_CONTROL, READY);
        registers.write_u8(INTERRUPT_ENABLE, ENABLE_RECEIVED);
        Port(registers)
    }

    /// The port as it was set up.
    pub fn at(registers: Registers) -> Port {
        Port(registers)
    }

    /// A received byte.
    pub fn receive(&self) -> Option<u8> {
        (self.0.read_u8(LINE_STATUS) & DATA_READY != 0).then(|| self.0.read_u8(DATA))
    }

    /// Will the FIFO take [`TRANSMIT_FIFO`] bytes?
    pub fn is_transmitter_empty(&self) -> bool {
        self.0.read_u8(LINE_STATUS) & TRANSMITTER_EMPTY != 0
    }

    /// Gives the FIFO a byte.
    pub fn transmit(&self, byte: u8) {
        self.0.write_u8(DATA, byte);
    }

    /// Shall the port interrupt when the FIFO is empty? It does so at once if it is.
    pub fn set_transmit_interrupt(&self, on: bool) {
        // Written as a whole, never changed from what it was: writers and the interrupt thread both
        // do so, and neither can be in the middle of it.
        let wanted = if on { ENABLE_RECEIVED | ENABLE_TRANSMITTED } else { ENABLE_RECEIVED };
        self.0.write_u8(INTERRUPT_ENABLE, wanted);
    }
}
