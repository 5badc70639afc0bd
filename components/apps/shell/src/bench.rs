//! `bench`: small measurements in the running system, as it is, with whatever else runs in it.

use crate::away::{self, Outcome};
use crate::screen::Screen;
use crate::{imports, listing};
use cairn::abi::domain::PORTAL_OWN_DOMAIN;
use cairn::exclusive::Exclusive;
use cairn::measure::{self, unused_mark};
use cairn::{Error, time};
use cairn_shell::samples::{Samples, counts_instructions};
use cairn_shell::words::Word;
use core::fmt::{Result, Write};

/// Samples of each measurement.
const SAMPLES: usize = 101;
/// Calls in a sample where only time can be told, and one alone is shorter than a tick.
const BATCH: u64 = 64;

/// What is measured: as in `./cairn bench` where that measures the same.
pub const NAMES: [&str; 6] = [
    "portal.short_circuit",
    "portal.clock",
    "portal.greeter",
    "thread.yield",
    "semaphore.uncontended",
    "portal.open",
];
const EXPLANATIONS: [&str; 6] = [
    "asks for the own domain's number",
    "clock.clock uptime: call, work and return",
    "greeter.echo add: call, work and return",
    "yields to the same thread: no other is ready",
    "V and P, each, that wake nobody and do not wait",
    "opens and closes greeter.echo: name server, code of its portals",
];
/// What is opened.
const ECHO: &str = "greeter.echo";

type Answer<T> = core::result::Result<T, Error>;

/// One call through a portal.
type Call = (u32, [u64; 8]);

/// What to measure, and then what came of it.
struct Measurement {
    name: &'static str,
    meter: Meter,
    samples: Option<Answer<Samples>>,
}

static MEASUREMENT: Exclusive<Measurement> =
    Exclusive::new(Measurement { name: "", meter: Meter::Time(1), samples: None });

/// What tells how much something takes.
#[derive(Clone, Copy)]
enum Meter {
    /// Executed instructions; so many between two counts with nothing there.
    Instructions(u64),
    /// Time, in ticks: so many in a second.
    Time(u64),
}

impl Meter {
    fn new() -> Meter {
        let overheads = [(); 8].map(|()| measure::overhead().instructions as u64);
        match counts_instructions(&overheads) {
            true => Meter::Instructions(overheads[0]),
            false => Meter::Time(imports::CLOCK.time_base().unwrap_or(0).max(1)),
        }
    }

    fn unit(&self) -> &'static str {
        match self {
            Meter::Instructions(_) => "instructions",
            Meter::Time(_) => "ns",
        }
    }

    /// Nanoseconds for each of `count`.
    fn each(ticks: u64, per_second: u64, count: u64) -> u64 {
        (u128::from(ticks) * 1_000_000_000 / u128::from(per_second) / u128::from(count)) as u64
    }

    /// Samples of calls that are made in turn; all count alike.
    fn calls(&self, calls: &[Call]) -> Answer<Samples> {
        let mut samples = Samples::new();
        let once = |call: &Call| {
            let sample = measure::portal(call.0, &call.1, &unused_mark());
            match sample.reply.status {
                0 => Ok((sample.end - sample.begin).instructions as u64),
                status => Err(Error::from_status(status)),
            }
        };
        for _ in 0..SAMPLES {
            match *self {
                Meter::Instructions(overhead) => {
                    for call in calls {
                        samples.add(once(call)?.wrapping_sub(overhead));
                    }
                }
                Meter::Time(per_second) => {
                    let begin = time::counter();
                    for _ in 0..BATCH {
                        for call in calls {
                            once(call)?;
                        }
                    }
                    let ticks = time::counter().wrapping_sub(begin);
                    samples.add(Meter::each(ticks, per_second, BATCH * calls.len() as u64));
                }
            }
        }
        Ok(samples)
    }

    /// Samples of `work` as a whole.
    fn work(&self, work: impl Fn() -> Answer<()>) -> Answer<Samples> {
        let mut samples = Samples::new();
        for _ in 0..SAMPLES {
            match *self {
                Meter::Instructions(_) => {
                    let begin = time::instructions();
                    work()?;
                    samples.add(time::instructions().wrapping_sub(begin));
                }
                Meter::Time(per_second) => {
                    let begin = time::counter();
                    work()?;
                    samples.add(Meter::each(time::counter().wrapping_sub(begin), per_second, 1));
                }
            }
        }
        Ok(samples)
    }

    fn measure(&self, name: &str) -> Answer<Samples> {
        match name {
            "portal.short_circuit" => self.calls(&[(PORTAL_OWN_DOMAIN as u32, [0; 8])]),
            "portal.clock" => self.calls(&[(imports::CLOCK.first_portal(), [0; 8])]),
            "portal.greeter" => {
                let first = imports::PORTALS.open(ECHO, 0, &[])?;
                let samples = self.calls(&[(first as u32, [0, 2, 3, 0, 0, 0, 0, 0])]);
                imports::PORTALS.close(first)?;
                samples
            }
            "thread.yield" => self.calls(&[(imports::THREADS.first_portal(), [0; 8])]),
            "semaphore.uncontended" => {
                let semaphore = imports::PORTALS.semaphore(0)?;
                let p = semaphore.first_portal();
                let samples = self.calls(&[(p + 1, [0; 8]), (p, [0; 8])]);
                imports::PORTALS.close(p.into())?;
                samples
            }
            _ => self.work(|| imports::PORTALS.close(imports::PORTALS.open(ECHO, 0, &[])?)),
        }
    }
}

/// Measures where ctrl-C leaves it alone: who is called may keep who calls.
fn measure_away(name: &'static str, meter: Meter) -> Outcome<Answer<Samples>> {
    let prepare = || MEASUREMENT.with(|new| *new = Measurement { name, meter, samples: None });
    let work = || {
        let (name, meter) = MEASUREMENT.with(|wanted| (wanted.name, wanted.meter));
        let samples = meter.measure(name);
        MEASUREMENT.with(|done| done.samples = Some(samples));
    };
    away::perform(prepare, work).with(|| MEASUREMENT.with(|done| done.samples.take()))
}

pub fn run(words: &[Word], screen: &mut Screen) -> Result {
    let filter = words.first().map_or("", |name| name.as_str());
    if !NAMES.iter().any(|name| name.contains(filter)) {
        writeln!(screen, "error: nothing measured here has `{filter}` in its name; there are")?;
        return NAMES.iter().try_for_each(|name| writeln!(screen, "  {name}"));
    }
    let meter = Meter::new();
    writeln!(screen, "{:21}  {:>7}  {:>7}  unit", "what", "minimum", "median")?;
    for (name, explanation) in NAMES.iter().zip(EXPLANATIONS) {
        if !name.contains(filter) {
            continue;
        }
        screen.flush();
        let outcome = measure_away(name, meter);
        if let Some(refusal) = away::refusal(&outcome) {
            return writeln!(screen, "{refusal}");
        }
        let Outcome::Back(samples) = outcome else { return Ok(()) };
        match samples.map(|mut samples| samples.minimum_and_median()) {
            Ok(Some((minimum, median))) => {
                let unit = meter.unit();
                writeln!(screen, "{name:21}  {minimum:>7}  {median:>7}  {unit}, {explanation}")?;
            }
            Ok(None) => writeln!(screen, "{name:21}  error: nothing was measured")?,
            Err(error) => {
                listing::of_portals(error, |why| writeln!(screen, "{name:21}  error: {why}"))?
            }
        }
    }
    match meter {
        Meter::Instructions(_) => writeln!(
            screen,
            "in this system as it runs; `./cairn bench` measures in systems of their own"
        ),
        Meter::Time(_) => writeln!(
            screen,
            "This machine does not count instructions, so this is time, which the emulator's host decides.\n\
             `./cairn run --icount` counts instructions; `./cairn bench` does in systems of their own."
        ),
    }
}
