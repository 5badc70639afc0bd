//! Cargo, for the host and for the bare machine.

use crate::packages::Package;
use crate::paths::{self, Workspace};
use crate::source_names;
use anyhow::{Context, Result, bail};
use cairn_abi::address::{IMAGE_OFFSET, REGION_SIZE};
use cairn_description::model::Profile;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// The bare machine.
pub const TARGET: &str = "riscv64imac-unknown-none-elf";
/// The same with its floating-point unit.
const FLOAT_TARGET: &str = "riscv64gc-unknown-none-elf";

/// What is linked, which decides how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Linked at its final address by its own linker script.
    Nucleus,
    /// Position-independent from address 0; the image builder moves it to its region.
    Component,
    /// The same, computing with the floating-point unit.
    FloatComponent,
}

impl Kind {
    const fn target(self) -> &'static str {
        match self {
            Kind::Nucleus | Kind::Component => TARGET,
            Kind::FloatComponent => FLOAT_TARGET,
        }
    }
}

/// What it is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// To run: optimised as a whole.
    Run(Profile),
    /// To read what it says of itself: quickly, and anew only where something changed.
    Read,
}

/// The one place that says how code for the machine is compiled and linked.
fn target_flags(workspace: &Workspace, kind: Kind, purpose: Purpose) -> Result<Vec<String>> {
    let mut flags: Vec<String> = Vec::new();
    if purpose != Purpose::Read {
        flags.extend(source_names::for_rust(workspace)?);
    }
    if let Ok(linker) = std::env::var("CAIRN_LINKER") {
        flags.extend([format!("-Clinker={linker}"), "-Clinker-flavor=ld.lld".into()]);
    }
    if kind != Kind::Nucleus {
        // The tables say where a function keeps the address to which it returns: the host follows calls by them.
        flags.extend(["-Crelocation-model=pic", "-Cforce-unwind-tables=yes"].map(str::to_owned));
        flags.extend(component_link().iter().map(|argument| format!("-Clink-arg={argument}")));
        if purpose == Purpose::Read {
            // Code that is not optimised is larger.
            flags.push(format!("-Clink-arg=--defsym=HOT_SIZE={REGION_SIZE:#x}"));
        }
    }
    Ok(flags)
}

/// How every component is linked, whatever its language.
pub fn component_link() -> Vec<String> {
    let link = [
        "-pie",
        "--no-dynamic-linker",
        // Constants that hold addresses stay in read-only data, though they are relocated.
        "-znotext",
        "-znorelro",
        "-zmax-page-size=4096",
        // What files note of functions that are not linked.
        "-zdead-reloc-in-nonalloc=.cairn.*=0",
    ];
    let by_script = [
        format!("--defsym=IMAGE_OFFSET={IMAGE_OFFSET:#x}"),
        format!("--defsym=REGION_SIZE={REGION_SIZE:#x}"),
        format!("-T{}", paths::source().join("lib/cairn/component.ld").display()),
    ];
    link.into_iter().map(str::to_owned).chain(by_script).collect()
}

/// Cargo, as set-up chose it, in a folder.
pub fn cargo(subcommand: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CAIRN_CARGO").unwrap_or("cargo".into()));
    command.arg(subcommand).current_dir(folder);
    if !std::io::stderr().is_terminal() {
        command.arg("--quiet");
    }
    command
}

/// Lets cargo build `core` and `alloc` from source where they are not packaged for bare machines, as on Debian.
pub fn with_library(command: &mut Command) {
    if std::env::var("CAIRN_RUST").is_ok_and(|rust| rust == "debian") {
        command.arg("-Zbuild-std=core,alloc").env("RUSTC_BOOTSTRAP", "1");
    }
}

/// The profile of what is compiled to be read. What the source can ask for is as in what runs.
const DRAFT: &[&str] = &[
    "inherits=\"dev\"",
    "opt-level=0",
    "debug=false",
    "debug-assertions=false",
    "overflow-checks=false",
    "panic=\"abort\"",
    "incremental=true",
    // Of an interface no code is wanted, of a component little is left.
    "codegen-units=1",
    "package.\"*\".opt-level=0",
];

/// The profile of components of systems in development, here because it is that of every workspace, a product's too.
const DEVELOPMENT: &[&str] = &["inherits=\"release\"", "overflow-checks=true"];

/// The profile of the nucleus, which by another name has a folder of its own: where names of sources are flags, cargo has the output of
/// one build script for all flags, and would make everything anew whenever the nucleus and components are built by turns.
const NUCLEUS: &[&str] = &["inherits=\"release\""];

/// Compiles packages of a workspace for the bare machine.
fn build(workspace: &Workspace, kind: Kind, purpose: Purpose) -> Result<Command> {
    let flags = target_flags(workspace, kind, purpose)?;
    let mut command = cargo("build", &workspace.folder);
    command
        .args(["--target", kind.target(), "--target-dir"])
        .arg(workspace.target.join("machine"))
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    with_library(&mut command);
    let (profile, settings) = match purpose {
        Purpose::Run(_) if kind == Kind::Nucleus => ("nucleus", NUCLEUS),
        Purpose::Run(Profile::Release) => (Profile::Release.name(), &[][..]),
        Purpose::Run(Profile::Development) => (Profile::Development.name(), DEVELOPMENT),
        Purpose::Read => ("draft", DRAFT),
    };
    command.args(["--profile", profile]);
    for setting in settings {
        command.args(["--config", &format!("profile.{profile}.{setting}")]);
    }
    Ok(command)
}

/// Compiles a package's library for the bare machine, or its programs if it has none, to be read. Returns the files.
pub fn draft(workspace: &Workspace, package: &Package) -> Result<Vec<PathBuf>> {
    let mut command = build(workspace, Kind::Component, Purpose::Read)?;
    command.args(["--package", &package.id]);
    command.arg(if package.has_library() { "--lib" } else { "--bins" });
    let own = artifacts(&mut command)?.into_iter().filter(|one| one.package_id == package.id);
    Ok(own.flat_map(|artifact| artifact.filenames).collect())
}

/// Builds packages of Cairn's own workspace to run on the bare machine, as released. Returns the executable of each, by package
/// name.
pub fn build_own(kind: Kind, packages: &[&str]) -> Result<BTreeMap<String, PathBuf>> {
    executables(&paths::own_workspace(), kind, Purpose::Run(Profile::Release), packages)
}

/// Builds packages of a workspace for the bare machine. Returns the executable of each, by package name.
pub fn executables(
    workspace: &Workspace,
    kind: Kind,
    purpose: Purpose,
    packages: &[&str],
) -> Result<BTreeMap<String, PathBuf>> {
    if packages.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut command = build(workspace, kind, purpose)?;
    for package in packages {
        command.args(["--package", package]);
    }
    let artifacts = artifacts(&mut command)?;
    let mut executables = BTreeMap::new();
    for package in packages {
        let executable = artifacts
            .iter()
            .find(|artifact| artifact.package() == *package && artifact.executable.is_some())
            .and_then(|artifact| artifact.executable.clone())
            .with_context(|| {
                format!("package `{package}` has no executable; expected a src/main.rs in it")
            })?;
        executables.insert((*package).to_owned(), executable);
    }
    Ok(executables)
}

/// Builds the nucleus.
pub fn build_nucleus() -> Result<PathBuf> {
    let mut executables = build_own(Kind::Nucleus, &["cairn-nucleus"])?;
    Ok(executables.remove("cairn-nucleus").expect("it was built"))
}

/// Something that cargo built.
#[derive(Debug, Deserialize)]
pub struct Artifact {
    package_id: String,
    /// The package's manifest.
    pub manifest_path: PathBuf,
    /// Its target.
    pub target: ArtifactTarget,
    /// How it was compiled.
    pub profile: ArtifactProfile,
    /// All its files.
    #[serde(default)]
    filenames: Vec<PathBuf>,
    /// The file to run, if it is one.
    pub executable: Option<PathBuf>,
}

/// What cargo says of how it was compiled.
#[derive(Debug, Deserialize)]
pub struct ArtifactProfile {
    /// As a test.
    pub test: bool,
}

/// What cargo calls a target: a library, a program or a test.
#[derive(Debug, Deserialize)]
pub struct ArtifactTarget {
    /// Its name.
    pub name: String,
    /// "lib", "bin", "test"...
    pub kind: Vec<String>,
}

impl Artifact {
    /// The package's name, from an identifier like `path+file:///x/name#0.1.0` or `...#name@0.1.0`.
    pub fn package(&self) -> &str {
        let (path, fragment) = self.package_id.rsplit_once('#').unwrap_or(("", &self.package_id));
        match fragment.split_once('@') {
            Some((name, _)) => name,
            None => path.rsplit('/').next().unwrap_or(path),
        }
    }
}

/// How long a build that nobody sees says nothing.
struct Patience {
    next: Instant,
}

impl Patience {
    fn new() -> Patience {
        Patience { next: Instant::now() + Duration::from_secs(3) }
    }

    fn left(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Says what is done, where cargo itself does not.
    fn end(&mut self, done: &[Artifact]) {
        if !std::io::stderr().is_terminal() {
            let last = done.last().map(|last| format!("; `{}` is ready", last.package()));
            eprintln!("cairn: building{}", last.unwrap_or_default());
        }
        self.next = Instant::now() + Duration::from_secs(15);
    }
}

/// Runs a cargo command that builds, and returns what it built, compiler messages shown.
pub fn artifacts(command: &mut Command) -> Result<Vec<Artifact>> {
    let mut child = command
        .arg("--message-format=json-render-diagnostics")
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start cargo; run ./cairn, which sets it up")?;
    let messages = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        // Whoever does not listen any more has had an error.
        messages.lines().try_for_each(|line| sender.send(line)).ok()
    });
    let mut artifacts: Vec<Artifact> = Vec::new();
    let mut patience = Patience::new();
    loop {
        match lines.recv_timeout(patience.left()) {
            Ok(line) => {
                let line = line?;
                if line.starts_with(r#"{"reason":"compiler-artifact""#) {
                    let artifact = serde_json::from_str(&line);
                    artifacts.push(artifact.context("cannot read cargo's messages")?);
                }
            }
            Err(mpsc::RecvTimeoutError::Timeout) => patience.end(&artifacts),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    match child.wait()? {
        status if status.success() => {}
        status if status.code().is_some() => {
            bail!("the build failed; the messages above say where")
        }
        status => bail!("cargo was ended from outside ({status}); is there too little memory?"),
    }
    Ok(artifacts)
}
