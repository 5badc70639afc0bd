//! Measures how late a loop of high priority goes on, in instructions, while nothing else happens, and while a
//! component of low priority that has a thousand pages dies and starts again all the time. What counts is the
//! latest of all rounds.
//!
//! On QEMU with `-icount shift=0` an instruction is a nanosecond of the emulated machine's time, so a
//! time says at which instruction it comes.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::abi::domain::PORTAL_FIRST_IMPORT;
use cairn::environment::{argument, section, startup};
use cairn::measure::{self, unused_mark};
use cairn::section::Section;
use cairn::time::counter;
use cairn_bench::Report;
use cairn_interfaces::{Console, Threads};

cairn::component! {
    name: "late",
    imports: { threads: Threads, console: Console },
    main: main,
}

/// Index of the portal of `sleep_until`, the second method; its time is the fourth register.
const SLEEP_UNTIL: u32 = PORTAL_FIRST_IMPORT as u32 + 1;
const ROUNDS: u64 = 5_000;
/// What the loop meets depends on where in a tick of the clock, or of the others' work, it began: as many beginnings are tried, each
/// `PHASE_INSTRUCTIONS` later than the one before.
const PHASES: u64 = 8;
const PHASE_INSTRUCTIONS: u64 = 138;
const NANOSECONDS: u64 = 1_000_000_000;
/// What the last read of a stamp counts besides the measured instructions: the read of the cycles.
const READING: i64 = 1;
/// Words of the section: whether the other component is to die, and how often it began.
const DIES: usize = 0;
const LIVES: usize = 8;

fn main() {
    let section = section("late").expect("the description maps the section `late`");
    let mut report = Report::through(|bytes| _ = imports::CONSOLE.write(bytes));
    // The argument tells the systems of one scheduler from those of another.
    let kind = if argument() == "edf" { "late.edf" } else { "late" };
    report.samples(format_args!("{kind}.idle"), 1, |samples| {
        samples.instructions.add(latest());
    });
    section.store(DIES, 1);
    report.samples(format_args!("{kind}.crash"), 1, |samples| {
        let before = section.load(LIVES);
        samples.instructions.add(latest());
        assert!(lives(&section) > before + 20, "the other component did not die often");
    });
    section.store(DIES, 0);
    report.end();
}

fn lives(section: &Section) -> u64 {
    section.load(LIVES)
}

/// The latest of all phases.
fn latest() -> i64 {
    (1..=PHASES).map(latest_of).max().unwrap_or(0)
}

/// The latest of the rounds of a phase: from the time until which this thread sleeps to its next instruction.
fn latest_of(phase: u64) -> i64 {
    // A round of this loop is two instructions or more.
    (0..PHASE_INSTRUCTIONS / 2).for_each(|_| core::hint::spin_loop());
    let tick = NANOSECONDS / startup().time_base;
    let (mut latest, mut random) = (0, phase);
    for _ in 0..ROUNDS {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // The other component gets from 100 to 300 microseconds.
        let wake = counter() + (100_000 + (random >> 33) % 200_000) / tick;
        let words = [0, 0, 0, wake, 0, 0, 0, 0];
        let sample = measure::portal(SLEEP_UNTIL, &words, &unused_mark());
        assert!(sample.reply.status == 0, "sleeping failed");
        latest = latest.max(sample.end.instructions as i64 - READING - (wake * tick) as i64);
    }
    latest
}
