//! Measures interrupt latency, from the instruction at which the interrupt is due to the first one of
//! the thread that waited for it, while a load of lower priority runs.
//!
//! It depends on QEMU's `-icount shift=0`: an instruction is a nanosecond of the emulated machine's
//! time, so a time says at which instruction it comes.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod serial;

use cairn::Error;
use cairn::abi::domain::PORTAL_FIRST_IMPORT;
use cairn::environment::{section, startup};
use cairn::measure;
use cairn::time::{counter, instructions};
use cairn::window::WriteWindow;
use cairn_bench::{Link, Load, Report, SAMPLES};
use cairn_interfaces::Threads;
use core::sync::atomic::{AtomicI64, Ordering};
use serial::Serial;

/// The target of the load that calls.
struct Own;
static OWN: Own = Own;

cairn::component! {
    name: "latency",
    imports: { threads: Threads },
    exports: { link: Link = OWN },
    main: main,
}

const WARM_UP: usize = 20;
/// A sample takes as long as the UART needs for four characters.
const UART_SAMPLES: usize = 1_000;
const NANOSECONDS: u64 = 1_000_000_000;
/// Index of the portal of `sleep_until`, the second method; its time is the fourth register.
const SLEEP_UNTIL: u32 = PORTAL_FIRST_IMPORT as u32 + 1;

impl Link for Own {
    fn pass(&self, _next: u64, _second: u64, _third: u64) -> Result<u64, Error> {
        Ok(0)
    }
    fn leave(&self, _buffer: WriteWindow, _word: u64) -> Result<(), Error> {
        Err(Error::NotSupported)
    }
    fn touch(&self, _buffer: WriteWindow, _word: u64) -> Result<(), Error> {
        Err(Error::NotSupported)
    }
    fn own_instructions(&self, _method: u64) -> Result<u64, Error> {
        Err(Error::NotSupported)
    }
}

fn main() {
    let chosen = &section("load").expect("the description maps the section `load`").words(1)[0];
    let tick = NANOSECONDS / startup().time_base;
    let (time, count) = (counter() * tick, instructions());
    assert!(
        count.abs_diff(time) < 2 * tick,
        "boot with -icount shift=0: instructions are not nanoseconds"
    );
    let mut report = Report::new();
    let mut random = Random(1);
    for load in Load::ALL {
        chosen.store(load as i64, Ordering::Relaxed);
        timer(&mut report, load, &mut random, tick);
        uart(&mut report, load, &mut random);
    }
    report.end();
}

fn timer(report: &mut Report, load: Load, random: &mut Random, tick: u64) {
    report.samples(format_args!("interrupt.timer.{}", load.name()), 1, |samples| {
        for round in 0..WARM_UP + SAMPLES {
            let wake = counter() + random.between(20, 60);
            let sample =
                measure::portal(SLEEP_UNTIL, &[0, 0, 0, wake, 0, 0, 0, 0], &AtomicI64::new(0));
            assert!(sample.reply.status == 0, "sleeping failed");
            if round >= WARM_UP {
                samples.add(sample.end - wake * tick);
            }
        }
    });
}

fn uart(report: &mut Report, load: Load, random: &mut Random) {
    report.samples(format_args!("interrupt.uart.{}", load.name()), 1, |samples| {
        let serial = Serial::begin();
        let delay = serial.delay(random);
        for round in 0..WARM_UP + UART_SAMPLES {
            let due = serial.send() + delay;
            // The load gets a part of the time that varies, so the interrupt finds it anywhere.
            random.spin(200);
            let end = serial.wait();
            if round >= WARM_UP {
                samples.add(end.wrapping_sub(due));
            }
        }
        serial.end();
    });
}

/// Pseudo-random numbers (xorshift), the same in every run.
pub struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// From `low` to `high`.
    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// A random time, up to so many rounds of a loop.
    pub fn spin(&mut self, rounds: u64) {
        for round in 0..self.between(0, rounds) {
            core::hint::black_box(round);
        }
    }
}
