//! Tests that run on the host: the unit and integration tests of every crate that can be built
//! for it.

use crate::cargo::{Artifact, artifacts, cargo};
use crate::paths;
use crate::test::{Job, Outcome};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Packages whose tests need crates that ask others for more features. What is built by one command has the features that any of it asks for, so with
/// these the host command and all below it would be compiled once more.
const APART: [&str; 2] = ["cairn-macros", "cairn-queue"];

/// Test programs that take minutes: they begin first, so that one is not alone at the end.
const LONGEST: [&str; 3] = [" product", " calls", " editor"];

/// What of packages is built by one command, and whether those are apart.
type Group<'a> = (Vec<&'a str>, bool);

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    targets: Vec<Target>,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
    /// Its manifest says nothing else.
    test: bool,
}

impl Package {
    fn has(&self, kind: &str) -> bool {
        self.targets.iter().any(|target| target.kind.iter().any(|one| one == kind))
    }

    /// Whether its program can only be a component, wherever it lies.
    fn is_component(&self) -> bool {
        let uses_cairn = self.dependencies.iter().any(|one| one.name == "cairn");
        self.has("bin") && uses_cairn
    }

    /// What of the package `cargo test` can build for the host; `None` if nothing.
    ///
    /// A program of these folders runs on the bare machine only, and cargo builds a package's
    /// programs for its integration tests. One that has tests of its own is built for the host as such a test.
    fn selection(&self) -> Option<Vec<&str>> {
        let path = paths::shown(&self.manifest_path);
        let bare = ["components/", "tests/", "bench/", "examples/"];
        if path.starts_with("nucleus/") {
            None
        } else if !bare.iter().any(|folder| path.starts_with(folder)) && !self.is_component() {
            Some(vec!["--tests"])
        } else if self.has("bin") && self.tests_its_program() {
            Some(if self.has("lib") { vec!["--lib", "--bins"] } else { vec!["--bins"] })
        } else if !self.has("lib") {
            None
        } else if self.has("bin") {
            Some(vec!["--lib"])
        } else {
            Some(vec!["--lib", "--tests"])
        }
    }

    /// Whether its program begins without a main function on the machine alone, so that tests can be in it.
    fn tests_its_program(&self) -> bool {
        if self
            .targets
            .iter()
            .any(|target| !target.test && target.kind.iter().any(|one| one == "bin"))
        {
            return false;
        }
        let program = self.manifest_path.with_file_name("src/main.rs");
        std::fs::read_to_string(program)
            .is_ok_and(|text| text.contains("cfg_attr(not(test), no_main)"))
    }

    /// Whether one of its tests can have `filter` in its name, by the names of its programs and by the
    /// words of its sources: a look at files, where building takes minutes.
    fn may_match(&self, filter: &str) -> bool {
        let programs = self.targets.iter().map(|target| program_name(&self.name, &target.name));
        let folder = self.manifest_path.parent().expect("a manifest is in a folder");
        let mut names: BTreeSet<String> = programs.collect();
        if names.iter().any(|name| name.contains(filter)) {
            return true;
        }
        for part in ["src", "tests"] {
            collect_names(&folder.join(part), &mut names);
        }
        can_match(filter, &names)
    }
}

/// A test program's name on the terminal.
fn program_name(package: &str, target: &str) -> String {
    format!("host {package} {target}")
}

/// Adds the names of modules and functions in the sources of `folder`, and of its files.
fn collect_names(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect_names(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let words = text.split(|one: char| !one.is_alphanumeric() && one != '_');
            let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
            let named = words.windows(2).filter(|pair| ["fn", "mod"].contains(&pair[0]));
            names.extend(named.map(|pair| pair[1].to_owned()));
        }
    }
}

/// Whether `filter` can be part of a test's name, made of `names` with `::` between them.
fn can_match(filter: &str, names: &BTreeSet<String>) -> bool {
    filter.split("::").all(|part| names.iter().any(|name| name.contains(part)))
}

/// Builds the tests of the crates that can have one; a job for each test program with a test whose name,
/// or whose program's name, contains `filter`.
pub fn jobs(filter: &str) -> Result<Vec<Job>> {
    let output =
        cargo("metadata", &paths::project()).args(["--no-deps", "--format-version=1"]).output()?;
    let metadata: Metadata = serde_json::from_slice(&output.stdout).with_context(|| {
        format!("cannot read the workspace:\n{}", String::from_utf8_lossy(&output.stderr))
    })?;
    let mut groups: Vec<(Group, Vec<&str>)> = Vec::new();
    for package in &metadata.packages {
        let Some(selection) = package.selection() else { continue };
        if !package.may_match(filter) {
            continue;
        }
        let group = (selection, APART.contains(&package.name.as_str()));
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, names)) => names.push(&package.name),
            None => groups.push((group, vec![&package.name])),
        }
    }
    let mut jobs = Vec::new();
    for ((selection, _), names) in groups {
        let mut command = cargo("test", &paths::project());
        command.arg("--no-run").args(selection);
        for name in names {
            command.args(["--package", name]);
        }
        for artifact in artifacts(&mut command)? {
            jobs.extend(job(&artifact, filter)?);
        }
    }
    jobs.sort_by_key(|job| !LONGEST.iter().any(|name| job.name.ends_with(name)));
    Ok(jobs)
}

fn job(artifact: &Artifact, filter: &str) -> Result<Option<Job>> {
    let Some(program) = artifact.executable.clone() else { return Ok(None) };
    if artifact.target.kind.iter().any(|kind| kind == "bin") && !artifact.profile.test {
        // Built for an integration test, not one itself.
        return Ok(None);
    }
    let folder = artifact.manifest_path.parent().expect("a manifest is in a folder").to_owned();
    let name = program_name(artifact.package(), &artifact.target.name);
    let filter = if name.contains(filter) { String::new() } else { filter.to_owned() };
    let list = command(&program, &folder, &filter).args(["--list", "--format=terse"]).output()?;
    if !String::from_utf8_lossy(&list.stdout).lines().any(|line| line.ends_with(": test")) {
        return Ok(None);
    }
    let run = Box::new(move || {
        let output = command(&program, &folder, &filter).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let (passed, mut failed) = count(&text);
        if !output.status.success() && failed == 0 {
            // It died before it could count.
            failed = 1;
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        Ok(Outcome { passed, failed, explanation: format!("{text}{errors}"), ..Outcome::default() })
    });
    Ok(Some(Job { name, run }))
}

fn command(program: &Path, folder: &Path, filter: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
    // Tests that compile something look for cargo as cargo itself would tell them.
    if let Some(cargo) = std::env::var_os("CAIRN_CARGO") {
        command.env("CARGO", cargo);
    }
    if !filter.is_empty() {
        command.arg(filter);
    }
    command
}

/// Passed and failed, from a line as `test result: ok. 12 passed; 0 failed; 0 ignored; ...`.
fn count(output: &str) -> (usize, usize) {
    let summary = output.lines().rfind(|line| line.starts_with("test result: ")).unwrap_or("");
    let words: Vec<&str> = summary.split([' ', ';']).filter(|word| !word.is_empty()).collect();
    let before = |what: &str| {
        words
            .windows(2)
            .find(|pair| pair[1] == what)
            .and_then(|pair| pair[0].parse().ok())
            .unwrap_or(0)
    };
    (before("passed"), before("failed"))
}

#[cfg(test)]
mod tests {
    use super::{can_match, collect_names, count};
    use std::collections::BTreeSet;

    #[test]
    fn what_no_test_is_called_is_found_without_building() {
        let mut names = BTreeSet::new();
        collect_names(&crate::paths::source().join("tools/cairn/src"), &mut names);
        for filter in [
            "",
            "what_no_test_is_called",
            "host_tests::tests::what_no",
            "tests::counts_are",
            "_are_",
        ] {
            assert!(can_match(filter, &names), "{filter}");
        }
        // In pieces, so that this test's own name does not match.
        for filter in [["no_", "such_test"].concat(), ["tests::no_", "such_test"].concat()] {
            assert!(!can_match(&filter, &names), "{filter}");
        }
    }

    #[test]
    fn counts_are_read_from_the_summary() {
        let output = "running 3 tests\ntest a ... ok\n\ntest result: FAILED. 2 passed; 1 failed; \
                      4 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        assert_eq!(count(output), (2, 1));
        assert_eq!(count("killed before the end"), (0, 0));
    }
}
