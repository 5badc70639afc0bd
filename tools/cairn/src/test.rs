//! `./cairn test`: host tests, then benchmarks and whole systems; a line for each, a closing line for
//! all.

use crate::paths;
use anyhow::Result;
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

/// Runs every test whose name contains `filter`; says whether all passed. The name of a folder of
/// tests/ means that folder alone: whoever names it does not want to wait for the host's tests.
pub fn run(filter: &str) -> Result<bool> {
    let start = Instant::now();
    let is_system =
        !filter.is_empty() && paths::root().join("tests").join(filter).join("test.toml").is_file();
    let mut outcome = match is_system {
        true => Outcome::default(),
        false => run_jobs(&crate::host_tests::jobs(filter)?),
    };
    // The benchmarks take longest, so they begin first.
    let mut systems: Vec<Job> =
        if is_system { Vec::new() } else { crate::bench::job(filter).into_iter().collect() };
    systems.extend(crate::system_tests::jobs(filter)?);
    let systems = run_jobs(&systems);
    outcome.passed += systems.passed;
    outcome.failed += systems.failed;
    if outcome.passed + outcome.failed == 0 {
        println!(
            "no test has `{filter}` in its name; tests/ and the crates' own tests were searched"
        );
    }
    println!("in {}", seconds(start.elapsed()));
    println!("{} passed, {} failed", outcome.passed, outcome.failed);
    Ok(outcome.failed == 0 && outcome.passed > 0)
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
