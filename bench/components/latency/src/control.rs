//! On a simulated core the control device raises an interrupt in so many cycles, and says in which cycle
//! it rose. The hart's own counter of cycles may stop while the hart waits, the device's does not: so
//! all is told in the device's cycles.

use crate::{SLEEP_UNTIL, WARM_UP, spin};
use cairn::environment::device;
use cairn::measure::{self, Stamp, unused_mark};
use cairn::registers::Registers;
use cairn::time::counter;
use cairn_bench::{Load, Report, Rounds, SAMPLES};
use cairn_interfaces::{InterruptProxy, SemaphoreProxy};
use cairn_random::Random;

/// Writing: raise the interrupt in so many cycles; 0 lowers it.
const RAISE: usize = 8;
/// The cycle.
const CYCLE: usize = 16;
/// The cycle in which the interrupt rose.
const RAISED: usize = 24;

/// Cycles until an interrupt: enough for the thread to wait by then, and for the load to run.
const SOON: u64 = 4_000;
const LATE: u64 = 6_000;
/// Ticks that a thread sleeps.
const SHORT: u64 = 40;
const LONG: u64 = 60;

pub struct Control {
    registers: Registers,
    semaphore: SemaphoreProxy,
    interrupt: InterruptProxy,
    clock: Clock,
}

/// The board's time in the device's cycles.
struct Clock {
    /// Cycles in a tick.
    tick: u64,
    /// The cycle, less ticks before it, in which the time became what it is.
    phase: u64,
}

impl Control {
    /// The instance's second device, if the board has it.
    pub fn find(random: &mut Random) -> Option<Control> {
        let registers = device(1)?;
        let first = registers.interrupt_portal().expect("the control device has an interrupt");
        let interrupt = InterruptProxy::at(first + SemaphoreProxy::METHODS);
        interrupt.acknowledge().expect("the first acknowledgement opens the interrupt");
        let clock = Clock::find(&registers, random);
        Some(Control { registers, semaphore: SemaphoreProxy::at(first), interrupt, clock })
    }

    /// The device's cycle at a stamp that was taken right now: the hart has not waited since. Reading
    /// the device takes some cycles until the device sees it, which this adds to the stamp.
    fn cycle_at(&self, stamp: Stamp) -> u64 {
        // The first read fills the caches.
        let ahead = [(); 3].map(|()| {
            let before = Stamp::end().cycles;
            self.registers.read_u64(CYCLE).wrapping_sub(before)
        });
        stamp.cycles.wrapping_add(ahead.into_iter().min().unwrap_or(0))
    }

    /// From the cycle in which a thread's time comes to its first instruction.
    pub fn timer(&self, report: &mut Report, load: Load, random: &mut Random) {
        let rounds = Rounds::new(WARM_UP, SAMPLES, 2);
        report.samples(format_args!("interrupt.timer.{}", load.name()), 1, |samples| {
            for round in rounds.all() {
                let wake = counter() + random.between(SHORT, LONG);
                let words = [0, 0, 0, wake, 0, 0, 0, 0];
                let sample = measure::portal(SLEEP_UNTIL, &words, &unused_mark());
                assert!(sample.reply.status == 0, "sleeping failed");
                let end = self.cycle_at(sample.end);
                if rounds.counts(round) {
                    samples.cycles.add(end as i64 - self.clock.cycle(wake) as i64);
                }
            }
        });
    }

    /// From the device's interrupt to the first instruction of the thread that waits for it.
    pub fn device(&self, report: &mut Report, load: Load, random: &mut Random) {
        let rounds = Rounds::new(WARM_UP, SAMPLES, 2);
        report.samples(format_args!("interrupt.uart.{}", load.name()), 1, |samples| {
            for round in rounds.all() {
                let latency = self.once(random);
                if rounds.counts(round) {
                    samples.cycles.add(latency);
                }
            }
        });
    }

    /// One interrupt.
    fn once(&self, random: &mut Random) -> i64 {
        let before = self.registers.read_u64(RAISED);
        self.registers.write_u64(RAISE, random.between(SOON, LATE));
        let sample = measure::portal(self.semaphore.first_portal(), &[0; 8], &unused_mark());
        assert!(sample.reply.status == 0, "waiting for the interrupt failed");
        let end = self.cycle_at(sample.end);
        let raised = self.registers.read_u64(RAISED);
        assert!(raised != before, "an interrupt comes twice");
        self.registers.write_u64(RAISE, 0);
        self.interrupt.acknowledge().expect("the interrupt's driver acknowledges");
        end as i64 - raised as i64
    }
}

impl Clock {
    /// Reads of the time, each between two of the cycle, bound the cycle in which it changes.
    const READS: usize = 200;
    /// In so many ticks the cycles of one can be told: each end is known to less than two.
    const TICKS: u64 = 1_000;

    fn find(registers: &Registers, random: &mut Random) -> Clock {
        let cycle = || registers.read_u64(CYCLE);
        let (first_time, first_cycle) = (counter(), cycle());
        while counter() < first_time + Clock::TICKS {}
        let (ticks, cycles) = (counter() - first_time, cycle() - first_cycle);
        let tick = (cycles + ticks / 2) / ticks;
        // The time was `time` at some cycle between the two, and less than a tick longer.
        let (mut earliest, mut latest) = (0, u64::MAX);
        for _ in 0..Clock::READS {
            spin(random, 100);
            let (before, time, after) = (cycle(), counter(), cycle());
            earliest = earliest.max(before.saturating_sub((time + 1) * tick));
            latest = latest.min(after - time * tick);
        }
        assert!(earliest <= latest, "the time does not tick in equal steps");
        Clock { tick, phase: earliest.midpoint(latest) }
    }

    /// The cycle in which the time becomes `time`.
    fn cycle(&self, time: u64) -> u64 {
        self.phase + time * self.tick
    }
}
