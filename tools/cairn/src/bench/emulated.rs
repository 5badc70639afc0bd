//! Measuring in QEMU, in executed instructions.

use super::booted::Booted;
use super::catalogue::{Benchmark, Catalogue, Filter};
use super::results::{Measured, Unit};
use super::{END, Measurement, native, trace};
use crate::build::{self, BuiltImage};
use crate::expect::{Guest, Pattern};
use crate::machine::{self, Console, Options};
use anyhow::{Context, Result};
use indicatif::ProgressBar;
use std::process::Command;
use std::time::Duration;

/// Time for one benchmark system, on a slow host.
const LIMIT: Duration = Duration::from_secs(600);

/// Boots every system that measures something of interest.
pub fn measure(
    catalogue: &Catalogue,
    filter: &Filter,
    progress: &ProgressBar,
) -> Result<Measurement> {
    let systems = catalogue.systems(filter);
    let is_compared = catalogue.chosen(filter).any(|benchmark| benchmark.native.is_some());
    let traced: Vec<&Benchmark> =
        catalogue.chosen(filter).filter(|benchmark| !benchmark.traces.is_empty()).collect();
    progress.set_length((systems.len() + traced.len() + usize::from(is_compared)) as u64);
    let mut measured = Vec::new();
    let mut complaints = Vec::new();
    for system in systems {
        progress.set_message(format!("system {system}"));
        let image = build::image(system.parts(None)?, system.variant())?;
        let (results, ended) = boot(system, &image)?;
        measured.extend(results);
        let sizes = catalogue.chosen(filter).filter(|benchmark| benchmark.memory);
        for benchmark in sizes.filter(|benchmark| Booted::of(benchmark) == Some(system)) {
            let size = Measured::once(&benchmark.name, image.file.metadata()?.len());
            measured.push(Measured { unit: Some(Unit::Bytes), ..size });
        }
        complaints.extend(ended.err().map(|error| format!("{error:#}")));
        progress.inc(1);
    }
    if is_compared {
        progress.set_message("Linux on the bare machine");
        let (results, ended) = native::measure()?;
        measured.extend(results);
        native::put_beside_each_other(&mut measured);
        complaints.extend(ended.err().map(|error| format!("{error:#}")));
        progress.inc(1);
    }
    for benchmark in traced {
        let mut lengths = trace::Lengths::new();
        for system in &benchmark.traces {
            progress.set_message(format!("trace of system {system}"));
            trace::add(system, benchmark.firmware, benchmark.length, &mut lengths)?;
        }
        measured.extend(trace::result(&benchmark.name, &lengths));
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(Measurement {
        machine: "qemu-virt rv64 -icount shift=0".to_owned(),
        unit: Unit::Instructions,
        results: catalogue.ordered(filter, measured)?,
        complaints,
        floors: None,
    })
}

/// What a system measures; `Err` if it broke down, with what it had measured by then.
fn boot(system: Booted, image: &BuiltImage) -> Result<(Vec<Measured>, Result<()>)> {
    // An instruction takes a nanosecond, and while no thread is ready, time is skipped instead of slept.
    let options = Options { icount: true, skip_waiting: true, ..Options::default() };
    let (transcript, ended) = converse(machine::command(image, &options, Console::Program)?, END)?;
    let ended = ended.with_context(|| {
        format!("system `{system}`; its console's transcript:\n{}\n", transcript.trim_end())
    });
    Ok((Measured::of_transcript(system, &transcript, Unit::Instructions)?, ended))
}

/// What a guest says until its last line; `Err` if that does not come.
pub fn converse(command: Command, last: &str) -> Result<(String, Result<()>)> {
    let mut guest = Guest::start(command, LIMIT)?;
    let ended = guest.wait_for(&Pattern::text(last));
    Ok((guest.transcript(), ended))
}
