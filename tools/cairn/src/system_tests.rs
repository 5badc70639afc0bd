//! Whole-system tests: `tests/NAME/test.toml` says what to boot and what has to happen on its
//! console.

use crate::build::{self, BuiltImage};
use crate::expect::{Guest, Pattern};
use crate::fences;
use crate::machine::{self, Console, Options};
use crate::paths;
use crate::placements::Placements;
use crate::plugged::Plugged;
use crate::test::{Job, Outcome};
use crate::test_disk::TestDisk;
use anyhow::{Context, Result, anyhow, bail};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toml::Spanned;

/// `test.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemTest {
    /// The system to boot: a name in `systems/`, a file of the test's own folder, or a path from the root.
    /// Without it the test has a long form alone.
    pub system: Option<String>,
    /// Further systems in which the same has to happen.
    #[serde(default)]
    pub also: Vec<String>,
    /// Placements in which the same has to happen, beside that of the descriptions.
    #[serde(default)]
    pub placements: Vec<Placements>,
    /// Simulated boards on which it runs too, when they are asked for.
    #[serde(default)]
    pub boards: Vec<String>,
    /// Those of them on which it runs whenever all tests do.
    #[serde(default)]
    pub always: Vec<String>,
    /// Boot an image without its translation fences, to show that the test would notice. Then `boards`
    /// are the only ones on which the test runs.
    #[serde(default)]
    pub without_fences: bool,
    /// Boot on the system's board with no more memory than the build accepts; with a page less it must refuse.
    #[serde(default)]
    pub tight: bool,
    /// Boot on the system's board with domains and regions whose numbers are not those of their instances.
    #[serde(default)]
    pub numbers_apart: bool,
    /// Boot with QEMU's instruction counter, so that the run repeats exactly.
    #[serde(default)]
    pub icount: bool,
    /// Seconds after which the test has failed; on a simulated core ten times as many.
    #[serde(default = "default_limit")]
    pub limit: u64,
    /// The system of its long form, which runs when that is asked for.
    pub long: Option<String>,
    /// Another test, whose steps come first, all but the last, which ends its system.
    pub after: Option<String>,
    /// The disk of the system's first driver of one.
    pub disk: Option<TestDisk>,
    /// The guest's exit status; without it the test ends after its last step.
    pub exit: Option<i32>,
    /// What has to happen, in order.
    pub steps: Vec<Spanned<Step>>,
    /// File and line of each of them.
    #[serde(skip)]
    places: Vec<String>,
}

/// For what hangs: a host that is busy takes several times as long as one that is not.
const fn default_limit() -> u64 {
    400
}

/// A long form has so many times as long; what it printed lies in `target/test-output`.
const LONG_LIMIT: u64 = 60;

/// A simulated core is slower than QEMU by much more, but tests that are meant for one are short.
const SIMULATED_LIMIT: u64 = 10;

/// A step of a test.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Wait for this text.
    Expect(String),
    /// Wait for this regular expression.
    ExpectMatch(String),
    /// Wait for all of these regular expressions, in any order.
    ExpectAll(Vec<String>),
    /// This text must not come from here to the end.
    ExpectNot(String),
    /// Type this line.
    Send(String),
    /// Type this, and no return.
    Type(String),
}

impl Step {
    /// What it waits for, or what must not come.
    fn patterns(&self) -> Result<Vec<Pattern>> {
        match self {
            Step::Expect(text) | Step::ExpectNot(text) => Ok(vec![Pattern::text(text)]),
            Step::ExpectMatch(expression) => Ok(vec![Pattern::expression(expression)?]),
            Step::ExpectAll(expressions) => {
                expressions.iter().map(|expression| Pattern::expression(expression)).collect()
            }
            Step::Send(_) | Step::Type(_) => Ok(Vec::new()),
        }
    }
}

impl SystemTest {
    /// Reads `file`.
    pub fn read(file: &Path) -> Result<SystemTest> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", paths::shown(file)))?;
        let mut test: SystemTest = toml::from_str(&text).with_context(|| paths::shown(file))?;
        let line = |step: &Spanned<Step>| text[..step.span().start].matches('\n').count() + 1;
        let place = |step| format!("{}:{}", paths::shown(file), line(step));
        test.places = test.steps.iter().map(place).collect();
        for (step, place) in test.steps.iter().zip(&test.places) {
            step.get_ref().patterns().with_context(|| place.clone())?;
        }
        if let Some(first) = &test.after {
            let mut first = SystemTest::read(&self::file(first))
                .with_context(|| format!("{}: `after`", paths::shown(file)))?;
            let steps = first.steps.len().saturating_sub(1);
            test.steps.splice(..0, first.steps.drain(..steps));
            test.places.splice(..0, first.places.drain(..steps));
        }
        if let Some(disk) = &mut test.disk {
            let folder = file.parent().unwrap_or(Path::new("."));
            disk.read(folder, test.exit.is_some()).with_context(|| paths::shown(file))?;
        }
        if let Some(board) = test.always.iter().find(|board| !test.boards.contains(board)) {
            bail!("{}: `always` has {board}, `boards` does not", paths::shown(file));
        }
        if test.system.is_none() && (test.long.is_none() || !test.also.is_empty()) {
            bail!("{}: expected `system`, or `long` alone", paths::shown(file));
        }
        if !test.placements.is_empty() && (test.without_fences || test.tight || test.numbers_apart)
        {
            bail!(
                "{}: `placements` is for images that nothing else changes: expected no `without_fences`, `tight`, `numbers_apart`",
                paths::shown(file)
            );
        }
        Ok(test)
    }

    /// The systems of the test called `name`, as they are loaded.
    fn descriptions(&self, name: &str) -> impl Iterator<Item = String> {
        self.system.iter().chain(&self.also).map(move |system| description(name, system))
    }

    /// Boots `image` and goes through the steps: the console's transcript, which an error has, too.
    pub fn run(&self, image: &BuiltImage) -> Result<String> {
        let types = self.steps.iter().any(|step| matches!(step.get_ref(), Step::Send(_)));
        let mut disk = self.disk.as_ref().map(TestDisk::make).transpose()?;
        let devices = disk.iter().map(|disk| Plugged::Disk(disk.file.clone())).collect();
        let icount = self.icount;
        let options = Options { icount, skip_waiting: !types, devices, ..Options::default() };
        let command = machine::command(image, &options, Console::Program)?;
        let times = if image.machine.is_cycle_exact() { SIMULATED_LIMIT } else { 1 };
        let mut guest = Guest::start(command, Duration::from_secs(self.limit * times))?;
        let mut result = self.drive(&mut guest);
        let transcript = guest.transcript().trim_end().to_owned();
        if let (Ok(()), Some(disk)) = (&result, &mut disk) {
            result = disk.check(&transcript);
        }
        result.map_err(|error| anyhow!("the console's transcript:\n{transcript}\n\n{error:#}"))?;
        Ok(transcript)
    }

    fn drive(&self, guest: &mut Guest) -> Result<()> {
        for (index, (step, place)) in self.steps.iter().zip(&self.places).enumerate() {
            let step = step.get_ref();
            let patterns = step.patterns()?;
            let result = match step {
                Step::Expect(_) | Step::ExpectMatch(_) => guest.wait_for(&patterns[0]),
                Step::ExpectAll(_) => guest.wait_for_all(&patterns),
                Step::ExpectNot(_) => {
                    patterns.into_iter().for_each(|pattern| guest.forbid(pattern));
                    Ok(())
                }
                Step::Send(line) => guest.send(line),
                Step::Type(text) => guest.type_in(text),
            };
            result.with_context(|| format!("{place}: step {}", index + 1))?;
        }
        let Some(expected) = self.exit else { return Ok(()) };
        let status = guest.wait_for_exit()?;
        if status.code() != Some(expected) {
            bail!("expected exit status {expected}, the guest ended with {status}");
        }
        Ok(())
    }
}

/// The folders of `tests/` that hold a test, in alphabetical order.
pub fn names() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(paths::project().join("tests")).into_iter().flatten() {
        let entry = entry?;
        if entry.path().join("test.toml").exists() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// A system of the test called `name`, as it is loaded.
fn description(name: &str, system: &str) -> String {
    match system {
        path if path.contains('/') => path.to_owned(),
        file if file.ends_with(".toml") => format!("tests/{name}/{file}"),
        system => system.to_owned(),
    }
}

/// A test in one of its systems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its name.
    pub name: String,
    /// The description.
    system: String,
    /// The board that it runs on if that is not the one of its system.
    board: Option<String>,
    /// Where instances run of which the description does not say so.
    placements: Placements,
    is_long: bool,
}

/// The long forms of the tests with `filter` in their names, and the names of all that have one.
pub fn long_runs(filter: &str) -> Result<(Vec<Run>, Vec<String>)> {
    let (mut chosen, mut all) = (Vec::new(), Vec::new());
    for name in names()? {
        let Some(system) = SystemTest::read(&file(&name))?.long else { continue };
        all.push(name.clone());
        if name.contains(filter) {
            let system = description(&name, &system);
            let placements = Placements::Domain;
            chosen.push(Run { name, system, board: None, placements, is_long: true });
        }
    }
    Ok((chosen, all))
}

/// What there is to run of the tests called `names`: on `board` those that are made for it, or whose own it
/// is; without one each on its own, and on the others that it always runs on.
pub fn runs(names: &[String], board: Option<&str>) -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    for name in names {
        let test = SystemTest::read(&file(name))?;
        let descriptions: Vec<String> = test.descriptions(name).collect();
        for system in &descriptions {
            let on = |board: Option<&str>| Run {
                name: name.clone(),
                system: system.clone(),
                board: board.map(str::to_owned),
                placements: Placements::Domain,
                is_long: false,
            };
            match board {
                Some(board) if test.boards.iter().any(|other| other == board) => {
                    runs.push(on(Some(board)));
                }
                Some(board) if !test.without_fences => {
                    let system = cairn_description::load_from(&paths::files(), system, None)
                        .map_err(|report| anyhow!("{report}"))?;
                    if *system.board.name == board {
                        runs.push(on(None));
                    }
                }
                Some(_) => {}
                None => {
                    if !test.without_fences {
                        runs.push(on(None));
                    }
                    runs.extend(test.always.iter().map(|board| on(Some(board))));
                    let placed =
                        |placements: &Placements| Run { placements: *placements, ..on(None) };
                    runs.extend(test.placements.iter().map(placed));
                }
            }
        }
    }
    Ok(runs)
}

/// The boards that the tests called `names` are made for, beside their own.
pub fn boards(names: &[String]) -> Result<BTreeSet<String>> {
    let tests = names.iter().map(|name| SystemTest::read(&file(name)));
    let boards: Result<Vec<_>> = tests.map(|test| Ok(test?.boards)).collect();
    Ok(boards?.into_iter().flatten().collect())
}

fn file(name: &str) -> PathBuf {
    paths::project().join("tests").join(name).join("test.toml")
}

/// A job for each of these.
pub fn jobs(runs: Vec<Run>) -> Vec<Job> {
    // Builds share cargo's folder; one at a time, while another test's system runs.
    let building = Arc::new(Mutex::new(()));
    let job = |Run { name, system, board, placements, is_long }: Run| {
        let building = Arc::clone(&building);
        // A further system is a file of the test's folder, or one that says what it is.
        let stem = system.trim_end_matches(".toml").rsplit('/').next().unwrap_or(&name);
        let shown = if stem.starts_with(&name) { stem.to_owned() } else { name.clone() };
        let shown = board.as_ref().map_or(shown.clone(), |board| format!("{shown} on {board}"));
        let shown = match placements {
            Placements::Domain => shown,
            Placements::System => format!("{shown}, system in the kernel"),
            Placements::Kernel => format!("{shown}, all in the kernel"),
        };
        let output = shown.clone();
        let run = Box::new(move || {
            let mut test = SystemTest::read(&file(&name))?;
            test.limit *= if is_long { LONG_LIMIT } else { 1 };
            let image = {
                let _one_at_a_time = building.lock().expect("no build panics");
                if let Some(missing) = build::unavailable(&system)? {
                    let explanation = missing.to_string();
                    return Ok(Outcome { skipped: 1, explanation, ..Outcome::default() });
                }
                let image = match (test.tight, test.numbers_apart) {
                    (true, _) => build::tight(&system)?,
                    (_, true) => build::numbers_apart(&system)?,
                    _ => build::build_placed(&system, board.as_deref(), placements)?,
                };
                if test.without_fences { fences::removed(&image)? } else { image }
            };
            let transcript = test.run(&image)?;
            if is_long {
                let file = paths::target().join("test-output").join(format!("{output}.txt"));
                std::fs::create_dir_all(file.parent().expect("it is in a folder"))?;
                std::fs::write(&file, transcript)
                    .with_context(|| format!("cannot write {}", paths::shown(&file)))?;
            }
            Ok(Outcome { passed: 1, ..Outcome::default() })
        });
        Job { name: shown, run }
    };
    runs.into_iter().map(job).collect()
}
