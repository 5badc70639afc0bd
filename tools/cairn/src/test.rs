//! `./cairn test`: host tests, then benchmarks and whole systems; a line for each, a closing line for
//! all.

use crate::{bench, host_tests, known, paths, profile, setup, system_tests};
use anyhow::{Result, anyhow, bail};
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Tests that run at the same time; whole systems keep one host processor busy each.
const PARALLEL: usize = 2;

/// Lines of a failed test's output on the terminal.
const LINES_SHOWN: usize = 80;
/// Characters of such a line.
const COLUMNS_SHOWN: usize = 200;

/// What came of a job.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Tests that passed.
    pub passed: usize,
    /// Tests that failed.
    pub failed: usize,
    /// Tests that cannot run here; `explanation` says why.
    pub skipped: usize,
    /// For people, if something failed.
    pub explanation: String,
}

/// Something to run that counts as one test or more.
pub struct Job {
    /// Its name on the terminal.
    pub name: String,
    /// Runs it. An error counts as one failed test.
    pub run: Box<dyn Fn() -> Result<Outcome> + Send + Sync>,
}

/// What a filter chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// Only the whole system of this name, so that its user does not wait for others.
    System,
    /// All tests of the crates on the host.
    Host,
    /// The limits of the benchmarks.
    Bench,
    /// All whole systems.
    Systems,
    /// Whatever has the filter in its name.
    Part,
}

impl Choice {
    fn of(filter: &str, systems: &[String]) -> Choice {
        match filter {
            name if systems.iter().any(|system| system == name) => Choice::System,
            "host" => Choice::Host,
            "bench" => Choice::Bench,
            "systems" => Choice::Systems,
            _ => Choice::Part,
        }
    }
}

/// Runs the tests that `filter` chooses: the name of a folder of tests/ that one alone; `host`,
/// `bench` or `systems` all of that kind; else every test with the filter in its name. Says whether all
/// passed and there was one. On another `board` only whole systems run, those that are made for it.
pub fn run(filter: &str, board: Option<&str>) -> Result<bool> {
    let start = Instant::now();
    known::sources_stay();
    let systems = system_tests::names()?;
    let choice = Choice::of(filter, &systems);
    let host = match choice {
        _ if board.is_some() => Vec::new(),
        Choice::Host => host_tests::jobs("")?,
        Choice::Part => host_tests::jobs(filter)?,
        Choice::System | Choice::Bench | Choice::Systems => Vec::new(),
    };
    // The benchmarks take longest, so they begin first.
    let mut machine: Vec<Job> = match choice {
        _ if board.is_some() => Vec::new(),
        Choice::Bench | Choice::Part => measured(filter),
        Choice::System | Choice::Host | Choice::Systems => Vec::new(),
    };
    let chosen = systems.iter().filter(|name| match choice {
        Choice::System => *name == filter,
        Choice::Systems => true,
        Choice::Part => name.contains(filter),
        Choice::Host | Choice::Bench => false,
    });
    let chosen: Vec<String> = chosen.cloned().collect();
    machine.extend(system_tests::jobs(system_tests::runs(&chosen, board)?));
    if let Some(board) = board.filter(|_| machine.is_empty()) {
        cairn_description::load_board(&paths::files(), board)
            .map_err(|report| anyhow!("{report}"))?;
        let made = system_tests::runs(&systems, Some(board))?;
        let made: Vec<&str> = made.iter().map(|run| run.name.as_str()).collect();
        let made = if made.is_empty() { "none is".into() } else { made.join(", ") };
        bail!(
            "no test that `{filter}` chooses is made for the board {board}; of all tests: {made}"
        );
    }
    if host.is_empty() && machine.is_empty() && !chosen.is_empty() {
        let boards = Vec::from_iter(system_tests::boards(&chosen)?).join(" or ");
        bail!("`{filter}` runs on other boards alone: add --board {boards}");
    }
    if host.is_empty() && machine.is_empty() {
        bail!("no test has `{filter}` in its name{}", did_you_mean(filter, &systems));
    }
    // What builds a component in C asks for the compiler itself; tests of that are among Cairn's own.
    if !host.is_empty() && !paths::is_product() {
        setup::need(setup::C_COMPILER)?;
    }
    if host.iter().any(|job| job.name.ends_with(" debugger")) {
        setup::need(setup::DEBUGGER)?;
    }
    let mut outcome = run_jobs(&host);
    let machine = run_jobs(&machine);
    outcome.passed += machine.passed;
    outcome.failed += machine.failed;
    outcome.skipped += machine.skipped;
    Ok(close(&outcome, start))
}

/// What is measured: a product measures its own benchmarks, if it has some.
fn measured(filter: &str) -> Vec<Job> {
    let own = if paths::is_product() { Vec::new() } else { profile::jobs(filter) };
    let is_measured = paths::bench() == paths::project();
    let benchmarks = if is_measured { bench::jobs(filter) } else { Vec::new() };
    benchmarks.into_iter().chain(own).collect()
}

/// Runs the long forms of the whole systems with `filter` in their names, and prints what they printed.
pub fn run_long(filter: &str) -> Result<bool> {
    let start = Instant::now();
    let (chosen, others) = system_tests::long_runs(filter)?;
    if chosen.is_empty() {
        let others = others.join(", ");
        bail!("no whole system with `{filter}` in its name has a long form; of all: {others}");
    }
    Ok(close(&run_jobs(&system_tests::jobs(chosen)), start))
}

/// The closing line. Whether all passed.
fn close(outcome: &Outcome, start: Instant) -> bool {
    println!("in {}", seconds(start.elapsed()));
    let skipped = match outcome.skipped {
        0 => String::new(),
        count => format!(", {count} skipped"),
    };
    println!("{} passed, {} failed{skipped}", outcome.passed, outcome.failed);
    outcome.failed == 0 && outcome.passed + outcome.skipped > 0
}

/// A suggestion for a filter that chooses nothing, and the names that exist.
fn did_you_mean(filter: &str, systems: &[String]) -> String {
    format!(
        "{}\nwhole systems, from tests/: {}\nbeside them: host (tests of the crates, which also have names), \
         bench, systems",
        nearest(filter, systems),
        systems.join(", ")
    )
}

/// A suggestion for a word that is not known, to be put behind a message.
pub(crate) fn nearest(word: &str, known: &[String]) -> String {
    let near = known
        .iter()
        .map(|name| (strsim::osa_distance(word, name), name))
        .filter(|(distance, _)| *distance <= 1 + word.len() / 4)
        .min();
    near.map_or(String::new(), |(_, name)| format!("; did you mean `{name}`?"))
}

/// Runs jobs, two at a time, and prints a line for each.
pub fn run_jobs(jobs: &[Job]) -> Outcome {
    let progress = ProgressBar::new(jobs.len() as u64);
    progress.set_style(
        ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {wide_msg}")
            .expect("the template is valid"),
    );
    progress.enable_steady_tick(Duration::from_millis(250));
    let next = AtomicUsize::new(0);
    let total = Mutex::new(Outcome::default());
    thread::scope(|scope| {
        for _ in 0..PARALLEL.min(jobs.len()) {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    progress.set_message(job.name.clone());
                    let start = Instant::now();
                    let outcome = (job.run)().unwrap_or_else(|error| Outcome {
                        failed: 1,
                        explanation: format!("{error:#}"),
                        ..Outcome::default()
                    });
                    let line = line(&job.name, &outcome, start.elapsed());
                    let mut total = total.lock().expect("no test panics while it holds this");
                    total.passed += outcome.passed;
                    total.failed += outcome.failed;
                    total.skipped += outcome.skipped;
                    progress.suspend(|| println!("{line}"));
                    progress.inc(1);
                }
            });
        }
    });
    progress.finish_and_clear();
    total.into_inner().expect("no test panics while it holds this")
}

fn line(name: &str, outcome: &Outcome, time: Duration) -> String {
    if outcome.skipped > 0 {
        return format!("skip {name}: {}", outcome.explanation);
    }
    let verdict = if outcome.failed == 0 { "ok  " } else { "FAIL" };
    let count = match outcome.passed + outcome.failed {
        1 => String::new(),
        tests => format!("{tests} tests"),
    };
    let mut line = format!("{verdict} {name:<48} {count:>10} {:>9}", seconds(time));
    if outcome.failed > 0 {
        line += &explanation(name, &outcome.explanation);
    }
    line
}

/// The end of a failed test's output, and where the whole is.
fn explanation(name: &str, output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    let skipped = lines.len().saturating_sub(LINES_SHOWN);
    let mut text = String::new();
    for line in &lines[skipped..] {
        let shown: String = line.chars().take(COLUMNS_SHOWN).collect();
        text += &format!("\n     | {shown}");
    }
    let folder = paths::target().join("test-output");
    let file = folder.join(format!("{}.txt", name.replace([' ', '/'], "-")));
    if std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&file, output)).is_ok() {
        text += &format!("\n     = all of it: {}", paths::shown(&file));
    }
    text
}

fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::{Choice, did_you_mean};

    #[test]
    fn a_whole_name_comes_before_a_part_of_one() {
        let systems = ["demo", "hostile", "hostile-time"].map(str::to_owned);
        for (filter, choice) in [
            ("hostile", Choice::System),
            ("host", Choice::Host),
            ("bench", Choice::Bench),
            ("systems", Choice::Systems),
            ("hostile-", Choice::Part),
            ("", Choice::Part),
        ] {
            assert_eq!(Choice::of(filter, &systems), choice, "{filter}");
        }
        // A system may have any name.
        assert_eq!(Choice::of("host", &["host".to_owned()]), Choice::System);
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_nearest() {
        let systems = ["demo", "hostile"].map(str::to_owned);
        assert!(did_you_mean("dmo", &systems).starts_with("; did you mean `demo`?"));
        assert!(did_you_mean("quark", &systems).starts_with("\nwhole systems"));
    }
}
