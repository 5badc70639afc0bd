//! The 16550 as a source of interrupts: in its loopback mode it receives what it sends, and with a
//! high trigger level it interrupts only when four characters' time has passed since the last
//! character, which is at a known time, whatever runs then.

use crate::spin;
use cairn::environment::device;
use cairn::measure::{self, unused_mark};
use cairn::registers::Registers;
use cairn::time::instructions;
use cairn_interfaces::{InterruptProxy, SemaphoreProxy};
use cairn_random::Random;

/// Data; the low byte of the divisor while the divisor is accessible.
const DATA: usize = 0;
/// Interrupt enable; bit 0: received data.
const ENABLE: usize = 1;
/// Reading: the interrupt's cause. Writing: control of the queues.
const CAUSE: usize = 2;
/// Queues on and emptied, trigger level 14.
const QUEUES: u8 = 0xc7;
const QUEUES_OFF: u8 = 0;
/// Bits of `CAUSE`, and the one that says characters have waited too long.
const CAUSE_MASK: u8 = 0x0f;
const CAUSE_TIMEOUT: u8 = 0x0c;
/// Line control: 5 bits, no parity, one stop bit; bit 7: the divisor is accessible.
const LINE: usize = 3;
const LINE_SHORTEST: u8 = 0;
const LINE_DIVISOR: u8 = 0x80;
/// Modem control; bit 4: loopback.
const MODEM: usize = 4;
const MODEM_LOOPBACK: u8 = 0x10;
/// Line status; bit 0: a character was received.
const STATUS: usize = 5;
const RECEIVED: u8 = 1;

/// Rounds in which the delay is searched; each at another distance from the poll loop's start.
const SEARCHES: usize = 100;

pub struct Serial {
    registers: Registers,
    semaphore: SemaphoreProxy,
    interrupt: InterruptProxy,
}

impl Serial {
    /// Takes the port over: it sends nothing until `end`.
    pub fn begin() -> Serial {
        let registers = device(0).expect("the description gives this instance the serial port");
        let first = registers.interrupt_portal().expect("the serial port has an interrupt");
        registers.write_u8(LINE, LINE_DIVISOR);
        registers.write_u8(DATA, 1);
        registers.write_u8(ENABLE, 0);
        registers.write_u8(LINE, LINE_SHORTEST);
        registers.write_u8(CAUSE, QUEUES);
        registers.write_u8(MODEM, MODEM_LOOPBACK);
        registers.write_u8(ENABLE, 1);
        let interrupt = InterruptProxy::at(first + SemaphoreProxy::METHODS);
        Serial { registers, semaphore: SemaphoreProxy::at(first), interrupt }
    }

    /// Gives the port back to whoever prints.
    pub fn end(self) {
        self.registers.write_u8(ENABLE, 0);
        self.registers.write_u8(MODEM, 0);
        self.registers.write_u8(CAUSE, QUEUES_OFF);
    }

    /// Sends a character to itself; the count of instructions right before.
    pub fn send(&self) -> u64 {
        let count = instructions();
        self.registers.write_u8(DATA, 0);
        count
    }

    /// Waits for the interrupt, and makes ready for the next. The first count after the wait.
    pub fn wait(&self) -> u64 {
        let sample = measure::portal(self.semaphore.first_portal(), &[0; 8], &unused_mark());
        assert!(sample.reply.status == 0, "waiting for the interrupt failed");
        self.empty();
        self.interrupt.acknowledge().expect("the interrupt's driver acknowledges");
        sample.end.instructions
    }

    fn empty(&self) {
        while self.registers.read_u8(STATUS) & RECEIVED != 0 {
            self.registers.read_u8(DATA);
        }
    }

    /// Instructions from [`Serial::send`]'s count to the interrupt: found by polling the port
    /// while its interrupt is masked, from many starting points. A poll that sees the interrupt
    /// counts from right before its load, as `send` counts from right before its store.
    pub fn delay(&self, random: &mut Random) -> u64 {
        let shortest = (0..SEARCHES)
            .map(|_| {
                let sent = self.send();
                spin(random, 100);
                let seen = loop {
                    let count = instructions();
                    if self.registers.read_u8(CAUSE) & CAUSE_MASK == CAUSE_TIMEOUT {
                        break count;
                    }
                };
                self.empty();
                seen - sent
            })
            .min();
        self.interrupt.acknowledge().expect("the interrupt's driver acknowledges");
        shortest.unwrap_or(0)
    }
}
