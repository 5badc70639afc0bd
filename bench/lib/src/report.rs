//! The lines that the host reads: `BENCH name unit divisor minimum median p99 maximum samples`, in the
//! end `BENCH-END`.

use crate::text::text;
use crate::{Distribution, Samples, Summary, order};
use cairn::exclusive::Exclusive;
use cairn::registers::Registers;
use core::fmt::Arguments;

/// Transmitter holding register of a 16550.
const TRANSMIT: usize = 0;
/// Line status register; its bit 5: the holding register is empty.
const STATUS: usize = 5;
const EMPTY: u8 = 1 << 5;

/// Writes lines to a serial port, without interrupts, or by a function.
pub struct Report {
    output: Output,
}

enum Output {
    Serial(Registers),
    Function(fn(&[u8])),
}

static SAMPLES: Exclusive<Samples> = Exclusive::new(Samples::EMPTY);

impl Report {
    /// The instance's first device is the serial port.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Report {
        let serial = cairn::environment::device(0)
            .expect("the description gives this instance the serial port");
        Report { output: Output::Serial(serial) }
    }

    /// Where another component has the serial port.
    pub fn through(function: fn(&[u8])) -> Report {
        Report { output: Output::Function(function) }
    }

    /// Takes samples by `body` and reports them, each to be divided by `divisor` by the reader; does
    /// nothing if this benchmark was not asked for.
    pub fn samples(&mut self, name: Arguments, divisor: u64, body: impl FnOnce(&mut Samples)) {
        let name = text(name);
        let name = name.text();
        if !order::wants(name) {
            return;
        }
        let summaries = SAMPLES.with(|samples| {
            samples.clear();
            body(samples);
            [("cycles", samples.cycles.summary()), ("instructions", samples.instructions.summary())]
        });
        assert!(summaries.iter().any(|(_, summary)| summary.is_some()), "{name} takes samples");
        for (unit, summary) in summaries {
            let Some(summary) = summary else { continue };
            self.line(format_args!(
                "BENCH {name} {unit} {divisor} {} {} {} {} {}\n",
                summary.minimum, summary.median, summary.p99, summary.maximum, summary.count
            ));
        }
    }

    /// Nothing follows.
    pub fn end(&mut self) {
        self.line(format_args!("BENCH-END\n"));
    }

    /// A line in one piece, so that others' lines do not get into it.
    fn line(&self, line: Arguments) {
        let line = text(line);
        match &self.output {
            Output::Serial(serial) => {
                for byte in line.text().bytes() {
                    while serial.read_u8(STATUS) & EMPTY == 0 {}
                    serial.write_u8(TRANSMIT, byte);
                }
            }
            Output::Function(function) => function(line.text().as_bytes()),
        }
    }

    /// Reports misses of the TLB, unless they were not asked for.
    pub fn misses(&self, name: &str, samples: &mut Distribution) {
        if order::wants(name) {
            let summary = samples.summary().expect("samples were taken");
            let Summary { minimum, median, p99, maximum, count } = summary;
            self.line(format_args!(
                "BENCH {name} misses 1 {minimum} {median} {p99} {maximum} {count}\n"
            ));
        }
    }
}
