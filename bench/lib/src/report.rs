//! The lines that the host reads: `BENCH name divisor minimum median p99 maximum samples`, in the
//! end `BENCH-END`.

use crate::Distribution;
use cairn::exclusive::Exclusive;
use cairn::registers::Registers;
use core::fmt::Write;

/// Transmitter holding register of a 16550.
const TRANSMIT: usize = 0;
/// Line status register; its bit 5: the holding register is empty.
const STATUS: usize = 5;
const EMPTY: u8 = 1 << 5;

/// Writes lines to a serial port, without interrupts.
pub struct Report {
    serial: Registers,
}

static SAMPLES: Exclusive<Distribution> = Exclusive::new(Distribution::EMPTY);

impl Report {
    /// The instance's first device is the serial port.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Report {
        Report { serial: cairn::environment::device(0).expect("the description gives this instance the serial port") }
    }

    /// Takes samples by `body` and reports them, each to be divided by `divisor` by the reader.
    pub fn samples(&mut self, name: core::fmt::Arguments, divisor: u64, body: impl FnOnce(&mut Distribution)) {
        let summary = SAMPLES.with(|samples| {
            samples.clear();
            body(samples);
            samples.summary()
        });
        let summary = summary.expect("a benchmark takes samples");
        let _ = writeln!(
            self,
            "BENCH {name} {divisor} {} {} {} {} {}",
            summary.minimum, summary.median, summary.p99, summary.maximum, summary.count
        );
    }

    /// Nothing follows.
    pub fn end(&mut self) {
        let _ = writeln!(self, "BENCH-END");
    }
}

impl Write for Report {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        for byte in text.bytes() {
            while self.serial.read_u8(STATUS) & EMPTY == 0 {}
            self.serial.write_u8(TRANSMIT, byte);
        }
        Ok(())
    }
}
