//! Measuring on a simulated board, in cycles: the same systems, fewer samples of each benchmark.

use super::booted::Booted;
use super::catalogue::{Benchmark, Boot, Catalogue, Filter};
use super::floor::Floors;
use super::native;
use super::results::{Measured, Unit};
use super::{END, Measurement, retired, trace};
use crate::build;
use crate::expect::{Guest, Pattern};
use crate::machine::{self, Console, Machine, Options};
use crate::{paths, simulator};
use anyhow::{Context, Result, anyhow, bail};
use cairn_description::System;
use indicatif::ProgressBar;
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

/// Time for one benchmark system, on a slow host.
const LIMIT: Duration = Duration::from_secs(1800);
/// For one with Linux, which boots for much longer than it measures.
const LINUX_LIMIT: Duration = Duration::from_secs(3 * 3600);
/// Samples of a benchmark; those that take long take fewer.
const SAMPLES: u32 = 100;
/// Most characters of an instance's argument.
const ARGUMENT: usize = 512;
/// Where the components are that take orders.
const COMPONENTS: &str = "bench/components/";

/// What is to be run beside others.
type Job<'a> = Box<dyn FnOnce() -> Outcome + Send + 'a>;

/// What came of a job: its results, and what happened if it broke down.
type Outcome = Result<(Vec<Measured>, Result<()>)>;

/// Boots every system that measures something of interest, `parallel` at a time: each keeps one host
/// processor busy.
pub fn measure(
    catalogue: &Catalogue,
    board: &str,
    filter: &Filter,
    parallel: usize,
    progress: &ProgressBar,
) -> Result<Measurement> {
    let Board { description, machine } = Board::load(board)?;
    let chosen = || catalogue.chosen(filter);
    if chosen().all(|benchmark| benchmark.missing.is_some()) {
        bail!(
            "nothing that was asked for is measured on {board}; bench/benchmarks.toml has the reasons"
        );
    }
    progress.set_length(chosen().filter(|benchmark| benchmark.missing.is_none()).count() as u64);
    progress.set_message("building");
    let mut jobs: Vec<Job> = Vec::new();
    // These take longest, so they begin first.
    for benchmark in chosen().filter(|benchmark| !benchmark.traces.is_empty()) {
        jobs.push(Box::new(move || interrupts_off(benchmark, board, progress)));
    }
    for system in catalogue.systems(filter) {
        let mut parts = system.parts(Some(board))?;
        order(&mut parts.system, &wanted(catalogue, filter, system));
        let variant = system.variant().map_or(board.to_owned(), |name| format!("{name}.{board}"));
        let image = build::image(parts, Some(&variant))?;
        let command = machine::command(&image, &Options::default(), Console::Program)?;
        jobs.push(Box::new(move || boot(system, command, progress)));
    }
    if chosen().any(|benchmark| benchmark.native.is_some()) {
        let command = native::simulated(&description, &machine)?;
        jobs.push(Box::new(move || boot(Booted::native(), command, progress)));
    }
    if chosen().any(|benchmark| benchmark.boot.is_some()) {
        jobs.push(Box::new(move || from_reset(catalogue, board, progress)));
    }
    progress.set_message("floor");
    let floors = Floors::measure(&machine, description.asid_bits.into())?;
    let outcomes = run(jobs, parallel);
    progress.finish_and_clear();
    let mut measured = Vec::new();
    let mut complaints = Vec::new();
    for outcome in outcomes {
        let (results, ended) = outcome?;
        measured.extend(results);
        complaints.extend(ended.err().map(|error| format!("{error:#}")));
    }
    let mut results = catalogue.ordered(filter, measured)?;
    for result in &mut results {
        let benchmark = catalogue.find(&result.name).expect("results are in the catalogue");
        floors.put_beside(benchmark, result);
    }
    native::put_beside_each_other(&mut results);
    Ok(Measurement {
        machine: format!("{board}, cycle by cycle"),
        unit: Unit::Cycles,
        results,
        complaints,
        floors: Some(floors),
    })
}

/// The benchmarks that `system` has to measure; `None`: all of them.
fn wanted(catalogue: &Catalogue, filter: &Filter, system: Booted) -> Option<String> {
    let names = |filter| -> Vec<&str> {
        let measured = catalogue.chosen(filter);
        let by_system = measured.filter(|benchmark| Booted::of(benchmark) == Some(system));
        by_system.map(|benchmark| system.reported(&benchmark.name)).collect()
    };
    let everything = Filter::default();
    let (chosen, all) = (names(filter), names(&everything));
    (chosen.len() < all.len()).then(|| chosen.join(","))
}

/// Tells the measuring components what to measure, and how often.
fn order(system: &mut System, wanted: &Option<String>) {
    for instance in &mut system.instances {
        if !instance.folder.starts_with(COMPONENTS) {
            continue;
        }
        let plain = format!("{} samples={SAMPLES}", instance.argument);
        instance.argument = match wanted {
            // If the names do not fit, everything is measured, and results that were not asked for are left out later.
            Some(names) if plain.len() + names.len() + " only=".len() <= ARGUMENT => {
                format!("{plain} only={names}")
            }
            _ => plain,
        };
    }
}

/// A board, and what stands for it.
struct Board {
    description: cairn_description::Board,
    machine: simulator::Machine,
}

impl Board {
    fn load(name: &str) -> Result<Board> {
        let board = cairn_description::load_board(&paths::files(), name)
            .map_err(|report| anyhow!("{report}"))?;
        match Machine::of(&board) {
            Machine::Simulator(machine) => Ok(Board { description: board, machine }),
            Machine::Qemu(_) | Machine::Hardware(_) => bail!(
                "the board `{name}` is not simulated: expected one with a table [simulator], such as rocket-rtl, or no --board for QEMU"
            ),
        }
    }
}

/// The longest time without an interrupt, from the traces of several systems.
fn interrupts_off(benchmark: &Benchmark, board: &str, progress: &ProgressBar) -> Outcome {
    let mut lengths = trace::Lengths::new();
    for system in &benchmark.traces {
        progress.set_message(format!("trace of system {system}"));
        retired::add(system, board, &mut lengths)?;
    }
    progress.inc(1);
    Ok((trace::result(&benchmark.name, &lengths).into_iter().collect(), Ok(())))
}

/// How soon after reset components run.
fn from_reset(catalogue: &Catalogue, board: &str, progress: &ProgressBar) -> Outcome {
    progress.set_message("boot");
    let [any, hello] = retired::boot(board)?;
    let results = catalogue.benchmarks.iter().filter_map(|benchmark| {
        let cycles = match benchmark.boot? {
            Boot::Any => any,
            Boot::Hello => hello,
        };
        Some(Measured::once(&benchmark.name, cycles))
    });
    progress.inc(1);
    Ok((results.collect(), Ok(())))
}

/// Runs jobs, so many at a time.
fn run(jobs: Vec<Job>, parallel: usize) -> Vec<Outcome> {
    let left = Mutex::new(jobs.into_iter());
    let outcomes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..parallel {
            scope.spawn(|| {
                loop {
                    let next = left.lock().expect("nobody panics while taking a job").next();
                    let Some(job) = next else { break };
                    let outcome = job();
                    outcomes.lock().expect("nobody panics while storing").push(outcome);
                }
            });
        }
    });
    outcomes.into_inner().expect("nobody panics while storing")
}

fn boot(system: Booted, command: Command, progress: &ProgressBar) -> Outcome {
    let mut guest = Guest::start(command, if system.is_of_linux() { LINUX_LIMIT } else { LIMIT })?;
    let line = Pattern::expression(&format!("^BENCH (\\S+) (cycles|misses) .*\n|^{END}"))?;
    let mut seen = 0;
    let ended = loop {
        if let Err(error) = guest.wait_for(&line) {
            break Err(error);
        }
        let transcript = guest.transcript();
        let counts = |line: &&str| line.contains(" cycles ") || line.contains(" misses ");
        let results = transcript.lines().filter(counts).count();
        if transcript.contains(END) {
            break Ok(());
        }
        if results > seen {
            seen = results;
            progress.set_message(format!("system {system}"));
            progress.inc(1);
        }
    };
    let transcript = guest.transcript();
    let ended = ended.with_context(|| {
        format!("system `{system}`; its console's transcript:\n{}\n", transcript.trim_end())
    });
    Ok((Measured::of_transcript(system, &transcript, Unit::Cycles)?, ended))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(wanted: Option<&str>) -> System {
        let path = "bench/systems/yields.toml";
        let mut system =
            cairn_description::load_from(&paths::files(), path, Some("rocket-rtl")).unwrap();
        order(&mut system, &wanted.map(str::to_owned));
        system
    }

    fn argument(system: &System, name: &str) -> String {
        system.instances[system.instance(name).unwrap()].argument.clone()
    }

    #[test]
    fn only_measuring_components_get_orders() {
        let all = system(None);
        assert_eq!(argument(&all, "yielder0"), "first samples=100");
        assert_eq!(argument(&all, "idle"), "");
        let some = system(Some("thread.yield.2"));
        assert_eq!(argument(&some, "yielder3"), "3 samples=100 only=thread.yield.2");
        let long = system(Some(&"x".repeat(600)));
        assert_eq!(argument(&long, "yielder3"), "3 samples=100");
    }

    #[test]
    fn a_system_that_measures_all_of_its_benchmarks_needs_no_names() {
        let catalogue = Catalogue::read(Some("rocket-rtl")).unwrap();
        let wanted = |part: &str| {
            let filter = Filter { part: part.to_owned(), quick: false };
            wanted(&catalogue, &filter, Booted::as_described("yields"))
        };
        assert_eq!(wanted("thread.yield"), None);
        assert_eq!(wanted("thread.yield.4").as_deref(), Some("thread.yield.4"));
    }
}
