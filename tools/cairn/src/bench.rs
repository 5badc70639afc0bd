//! `./cairn bench`: boots the benchmark systems, prints what they measured beside budgets and other
//! systems' figures, writes JSON and plots, holds the limits.

mod booted;
mod catalogue;
mod emulated;
mod floor;
mod limits;
mod native;
mod plot;
mod results;
mod retired;
mod side_by_side;
mod simulated;
mod table;
mod trace;

use crate::paths;
use crate::test::{Job, Outcome};
use anyhow::{Context, Result, bail};
use catalogue::{Catalogue, Filter};
use floor::Floors;
use indicatif::{ProgressBar, ProgressStyle};
use limits::Limits;
use results::{Measured, Report, Unit};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The last line of a benchmark system.
const END: &str = "BENCH-END";
/// Simulators that run side by side.
const PARALLEL: usize = 2;
/// The board on which `./cairn test` measures.
const TESTED: &str = "rocket-rtl";

/// What `./cairn bench` was asked.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Only benchmarks with this in their name.
    pub filter: String,
    /// On this simulated board, in cycles; else in QEMU, in instructions.
    pub board: Option<String>,
    /// Only benchmarks that the catalogue marks as quick.
    pub quick: bool,
    /// A further file for the JSON.
    pub json: Option<PathBuf>,
    /// Fail when a median is above its limit.
    pub check: bool,
    /// Write the medians as the new limits.
    pub set_limits: bool,
}

/// What was measured.
pub struct Measurement {
    /// On which machine.
    machine: String,
    unit: Unit,
    results: Vec<Measured>,
    /// Error messages of systems that broke down.
    complaints: Vec<String>,
    /// The least that is possible, where that was measured.
    floors: Option<Floors>,
}

/// Measures, prints and writes. Says whether the limits hold.
pub fn run(request: &Request) -> Result<bool> {
    let board = request.board.as_deref();
    if request.quick && board.is_none() {
        bail!("--quick is for simulated boards, which are slow: expected --board as well");
    }
    let catalogue = Catalogue::read(board)?;
    let filter = Filter { part: request.filter.clone(), quick: request.quick };
    let measurement = measure(&catalogue, board, &filter, PARALLEL, &progress_bar())?;
    measurement.complaints.iter().for_each(|text| eprintln!("cairn: {text}"));
    print!("{}", table::table(&catalogue, &measurement, &filter));
    let trusted_lines = side_by_side::trusted_lines(&catalogue, &measurement.results, board)?;
    if let Some(lines) = &trusted_lines {
        print!("\n{}\n", side_by_side::table(&catalogue, &measurement.results, lines));
    }

    let folder = paths::target().join("bench").join(board.unwrap_or(""));
    std::fs::create_dir_all(&folder)?;
    let Measurement { machine, unit, results, complaints, .. } = measurement;
    let report = Report::new(machine, unit, results, trusted_lines);
    let text = serde_json::to_string_pretty(&report)? + "\n";
    for file in [Some(&folder.join("results.json")), request.json.as_ref()].into_iter().flatten() {
        write(file, &text)?;
    }
    let mut written = vec![paths::shown(&folder.join("results.json"))];
    for plot in &catalogue.plots {
        if let Some(picture) = plot::draw(plot, unit, &report.results)? {
            let file = folder.join(&plot.file);
            write(&file, &picture)?;
            written.push(paths::shown(&file));
        }
    }
    println!("written: {}", written.join(", "));
    let limits = Limits::of(board, request.quick);
    if request.set_limits {
        limits.write(&catalogue, &report.results)?;
    }
    let broken = match request.check {
        true => limits.broken(&catalogue, &filter, &report.results)?,
        false => Vec::new(),
    };
    broken.iter().for_each(|line| eprintln!("{line}"));
    Ok(broken.is_empty() && complaints.is_empty())
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

/// The jobs that hold the limits, if their names contain `filter`: of everything in QEMU, of a
/// quick run on a simulated board, and of Linux; in a product those of which it has limits.
pub fn jobs(filter: &str) -> Vec<Job> {
    let jobs = [
        ("bench: limits".to_owned(), None, ""),
        (format!("bench: {TESTED}"), Some(TESTED), ""),
        (format!("bench: {}", native::SYSTEM), None, native::SYSTEM),
    ];
    let has_limits = |board: Option<&str>, part: &str| {
        part.is_empty() && Limits::of(board, board.is_some()).exist()
    };
    jobs.into_iter()
        .filter(|(name, ..)| name.contains(filter))
        .filter(|(_, board, part)| !paths::is_product() || has_limits(*board, part))
        .map(|(name, board, part)| Job { name, run: Box::new(move || hold(board, part)) })
        .collect()
}

fn hold(board: Option<&str>, part: &str) -> Result<Outcome> {
    let is_of_linux = part == native::SYSTEM;
    if is_of_linux && let Some(explanation) = native::unavailable()? {
        return Ok(Outcome { skipped: 1, explanation, ..Outcome::default() });
    }
    let mut catalogue = Catalogue::read(board)?;
    // What the bare machine takes is recorded: it takes long to build Linux for it.
    catalogue.benchmarks.retain(|benchmark| benchmark.native.is_none());
    let filter = Filter { part: part.to_owned(), quick: board.is_some() };
    let limits = Limits::of(board, filter.quick);
    // Another job has the other processor.
    let Measurement { mut results, mut complaints, .. } =
        measure(&catalogue, board, &filter, 1, &ProgressBar::hidden())?;
    if is_of_linux {
        let recorded = limits.read()?;
        native::put_beside(|name| recorded.get(name).copied(), &mut results);
    }
    let broken = limits.broken(&catalogue, &filter, &results)?;
    let passed = results.len().saturating_sub(broken.len());
    complaints.extend(broken);
    Ok(Outcome {
        passed,
        failed: complaints.len(),
        explanation: complaints.join("\n"),
        ..Outcome::default()
    })
}

fn write(file: &Path, text: &str) -> Result<()> {
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

fn measure(
    catalogue: &Catalogue,
    board: Option<&str>,
    filter: &Filter,
    parallel: usize,
    progress: &ProgressBar,
) -> Result<Measurement> {
    if catalogue.chosen(filter).all(|benchmark| benchmark.missing.is_some()) {
        bail!(
            "nothing measures a benchmark with `{}` in its name; bench/benchmarks.toml has the names",
            filter.part
        );
    }
    match board {
        None => emulated::measure(catalogue, filter, progress),
        Some(board) => simulated::measure(catalogue, board, filter, parallel, progress),
    }
}
