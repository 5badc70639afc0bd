//! On QEMU with `-icount shift=0` an instruction is a nanosecond of the emulated machine's time, so a
//! time says at which instruction it comes.

use crate::{SLEEP_UNTIL, WARM_UP, serial::Serial, spin};
use cairn::environment::startup;
use cairn::measure::{self, unused_mark};
use cairn::time::{counter, instructions};
use cairn_bench::{Load, Report, SAMPLES};
use cairn_random::Random;

/// A sample takes as long as the UART needs for four characters.
const UART_SAMPLES: usize = 1_000;
const NANOSECONDS: u64 = 1_000_000_000;
/// What the last read of a stamp counts besides the measured instructions: the read of the cycles.
const READING: i64 = 1;

/// The machine's clock.
pub struct Emulated {
    /// Nanoseconds in a tick.
    tick: u64,
}

impl Emulated {
    /// Panics if instructions are not nanoseconds.
    pub fn new() -> Emulated {
        let tick = NANOSECONDS / startup().time_base;
        let (time, count) = (counter() * tick, instructions());
        assert!(
            count.abs_diff(time) < 2 * tick,
            "boot with -icount shift=0: instructions are not nanoseconds"
        );
        Emulated { tick }
    }

    /// From the time until which a thread sleeps to its first instruction.
    pub fn timer(&self, report: &mut Report, load: Load, random: &mut Random) {
        report.samples(format_args!("interrupt.timer.{}", load.name()), 1, |samples| {
            for round in 0..WARM_UP + SAMPLES {
                let wake = counter() + random.between(20, 60);
                let words = [0, 0, 0, wake, 0, 0, 0, 0];
                let sample = measure::portal(SLEEP_UNTIL, &words, &unused_mark());
                assert!(sample.reply.status == 0, "sleeping failed");
                if round >= WARM_UP {
                    let end = sample.end.instructions as i64 - READING;
                    samples.instructions.add(end - (wake * self.tick) as i64);
                }
            }
        });
    }

    /// From the serial port's interrupt to the first instruction of the thread that waits for it.
    pub fn device(&self, report: &mut Report, load: Load, random: &mut Random) {
        report.samples(format_args!("interrupt.uart.{}", load.name()), 1, |samples| {
            let serial = Serial::begin();
            let delay = serial.delay(random);
            for round in 0..WARM_UP + UART_SAMPLES {
                let due = serial.send() + delay;
                // The load gets a part of the time that varies, so the interrupt finds it anywhere.
                spin(random, 200);
                let end = serial.wait();
                if round >= WARM_UP {
                    samples.instructions.add(end as i64 - READING - due as i64);
                }
            }
            serial.end();
        });
    }
}
