//! `./cairn bench`: boots the benchmark systems, prints what they measured beside budgets and other
//! systems' figures, writes JSON and plots, holds the limits.

mod catalogue;
mod limits;
mod plot;
mod results;
mod table;
mod trace;

use crate::build;
use crate::expect::{Guest, Pattern};
use crate::machine::{self, Console, Options};
use crate::paths;
use crate::test::{Job, Outcome};
use anyhow::{Context, Result, bail};
use catalogue::{Benchmark, Catalogue};
use indicatif::{ProgressBar, ProgressStyle};
use results::{Measured, Report};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time for one benchmark system, on a slow host.
const LIMIT: Duration = Duration::from_secs(600);
/// The last line of a benchmark system.
const END: &str = "BENCH-END";

/// What `./cairn bench` was asked.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Only benchmarks with this in their name.
    pub filter: String,
    /// Where the JSON goes as well.
    pub json: Option<PathBuf>,
    /// Fail when a median is above its limit.
    pub check: bool,
    /// Write the medians as the new limits.
    pub set_limits: bool,
}

/// Measures, prints and writes. Says whether the limits hold.
pub fn run(request: &Request) -> Result<bool> {
    let catalogue = Catalogue::read()?;
    let progress = progress_bar();
    let (measured, broken_down) = measure(&catalogue, &request.filter, &progress)?;
    broken_down.iter().for_each(|text| eprintln!("cairn: {text}"));
    print!("{}", table::table(&catalogue, &measured, &request.filter));

    let folder = paths::target().join("bench");
    std::fs::create_dir_all(&folder)?;
    let report = Report::new(measured)?;
    let text = serde_json::to_string_pretty(&report)? + "\n";
    for file in [Some(&folder.join("results.json")), request.json.as_ref()].into_iter().flatten() {
        write(file, &text)?;
    }
    let mut written = vec![paths::shown(&folder.join("results.json"))];
    for plot in &catalogue.plots {
        if let Some(picture) = plot::draw(plot, &report.results)? {
            let file = folder.join(&plot.file);
            write(&file, &picture)?;
            written.push(paths::shown(&file));
        }
    }
    println!("written: {}", written.join(", "));
    if request.set_limits {
        limits::write(&report.results)?;
    }
    let broken = match request.check {
        true => limits::broken(&catalogue, &request.filter, &report.results)?,
        false => Vec::new(),
    };
    broken.iter().for_each(|line| eprintln!("{line}"));
    Ok(broken.is_empty() && broken_down.is_empty())
}

fn progress_bar() -> ProgressBar {
    let progress = ProgressBar::new(0);
    progress.set_style(
        ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {wide_msg}")
            .expect("the template is valid"),
    );
    progress.enable_steady_tick(Duration::from_millis(250));
    progress
}

/// The job that holds the limits, if its name contains `filter`.
pub fn job(filter: &str) -> Option<Job> {
    const NAME: &str = "bench: limits";
    let run = || {
        let catalogue = Catalogue::read()?;
        let (measured, mut complaints) = measure(&catalogue, "", &ProgressBar::hidden())?;
        let broken = limits::broken(&catalogue, "", &measured)?;
        let passed = measured.len().saturating_sub(broken.len());
        complaints.extend(broken);
        Ok(Outcome { passed, failed: complaints.len(), explanation: complaints.join("\n") })
    };
    NAME.contains(filter).then(|| Job { name: NAME.to_owned(), run: Box::new(run) })
}

fn write(file: &Path, text: &str) -> Result<()> {
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// Boots every system that measures something of interest.
/// Returns the results, and what happened in systems that broke down.
fn measure(
    catalogue: &Catalogue,
    filter: &str,
    progress: &ProgressBar,
) -> Result<(Vec<Measured>, Vec<String>)> {
    let systems: BTreeSet<&str> =
        catalogue.chosen(filter).filter_map(|benchmark| benchmark.system.as_deref()).collect();
    let traced: Vec<&Benchmark> =
        catalogue.chosen(filter).filter(|benchmark| !benchmark.traces.is_empty()).collect();
    if systems.is_empty() && traced.is_empty() {
        bail!(
            "nothing measures a benchmark with `{filter}` in its name; bench/benchmarks.toml has the names"
        );
    }
    progress.set_length((systems.len() + traced.len()) as u64);
    let mut measured = Vec::new();
    let mut broken_down = Vec::new();
    for system in systems {
        progress.set_message(format!("system {system}"));
        let (results, ended) = boot(system)?;
        measured.extend(results);
        broken_down.extend(ended.err().map(|error| format!("{error:#}")));
        progress.inc(1);
    }
    for benchmark in traced {
        let mut lengths = trace::Lengths::new();
        for system in &benchmark.traces {
            progress.set_message(format!("trace of system {system}"));
            trace::add(system, &mut lengths)?;
        }
        measured.extend(
            trace::line(&benchmark.name, &lengths)
                .map(|line| Measured::parse(&line))
                .transpose()?,
        );
        progress.inc(1);
    }
    progress.finish_and_clear();
    for result in &measured {
        if catalogue.find(&result.name).is_none() {
            bail!(
                "a system measured `{}`, which bench/benchmarks.toml does not have: add it",
                result.name
            );
        }
    }
    // In the catalogue's order, without what was measured on the way but not asked for.
    let chosen = catalogue
        .chosen(filter)
        .filter_map(|benchmark| measured.iter().find(|result| result.name == benchmark.name))
        .cloned()
        .collect();
    Ok((chosen, broken_down))
}

/// What the system `bench/systems/NAME.toml` measures; `Err` if it broke down, with what it had measured
/// by then.
fn boot(name: &str) -> Result<(Vec<Measured>, Result<()>)> {
    let image = build::build(&format!("bench/systems/{name}.toml"), None)?;
    // An instruction takes a nanosecond, and time that nobody needs is skipped instead of slept.
    let options = Options {
        further: ["-icount", "shift=0,sleep=off"].map(str::to_owned).into(),
        ..Options::default()
    };
    let mut guest = Guest::start(machine::command(&image, &options, Console::Program)?, LIMIT)?;
    let ended = guest.wait_for(&Pattern::text(END));
    let transcript = guest.transcript();
    let ended = ended.with_context(|| {
        format!("system `{name}`; its console's transcript:\n{}\n", transcript.trim_end())
    });
    let lines = transcript.lines().filter_map(|line| line.strip_prefix("BENCH "));
    Ok((lines.map(Measured::parse).collect::<Result<_>>()?, ended))
}
