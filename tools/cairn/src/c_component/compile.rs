//! Sources to object files. An object file stays if its source, the headers that it includes and its command line are as
//! they were.

use super::link::Setup;
use super::{COMPILER, Source, machine, messages};
use crate::{paths, source_names};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

const COMPILE: &[&str] = &[
    "-O2",
    "-g",
    "-fPIE",
    // Unused functions are not linked.
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-common",
    // What the library has of them, picolibc's headers offer for other systems only.
    "-D_POSIX_TIMERS=1",
    "-D_POSIX_MONOTONIC_CLOCK=200809L",
    "-c",
];
const C: &[&str] = &["-std=gnu11"];
/// Without tables for exceptions and types, which no library here reads, and locks around the first use of a static.
const CPP: &[&str] = &[
    "-std=gnu++20",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    // A descriptor leaves most of its members out.
    "-Wno-missing-field-initializers",
];

/// Whose a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// The component.
    Own,
    /// Somebody else, who knows nothing of Cairn.
    Package,
    /// The library; linked if it is used.
    Library,
    /// The library; linked always.
    Start,
}

/// A source.
#[derive(Clone, Debug)]
pub struct Unit {
    file: PathBuf,
    owner: Owner,
    /// Its object file's name, relative to the output's folder.
    object: PathBuf,
}

impl Unit {
    fn new(file: PathBuf, root: &Path, owner: Owner, folder: &str) -> Unit {
        let relative = file.strip_prefix(root).unwrap_or(&file);
        let object = Path::new(folder).join(format!("{}.o", relative.display()));
        Unit { file, owner, object }
    }

    pub fn own(file: PathBuf, root: &Path) -> Unit {
        Unit::new(file, root, Owner::Own, "own")
    }

    pub fn package(file: PathBuf, root: &Path) -> Unit {
        Unit::new(file, root, Owner::Package, "package")
    }

    pub fn library(file: PathBuf, root: &Path) -> Unit {
        Unit::new(file, root, Owner::Library, "library")
    }

    pub fn start(file: PathBuf) -> Unit {
        let root = file.parent().expect("a file is in a folder").to_owned();
        Unit::new(file, &root, Owner::Start, "library")
    }
}

/// An object file.
#[derive(Clone, Debug)]
pub struct Object {
    pub file: PathBuf,
    /// It is linked only if it is used.
    pub is_of_library: bool,
}

/// The sources below a folder, in the order of their names, so that the same sources make the same component.
pub fn find(folder: &Path, take: &mut dyn FnMut(PathBuf)) -> Result<()> {
    let mut entries: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        entries.push(entry?.path());
    }
    entries.sort();
    for path in entries {
        if path.is_dir() {
            find(&path, take)?;
        } else if path.extension().is_some_and(|extension| {
            ["c", "S", "cpp", "cc"].iter().any(|known| extension == *known)
        }) {
            take(path);
        }
    }
    Ok(())
}

/// How the sources of one component are compiled.
pub struct Compiler {
    objects: PathBuf,
    /// Of sources that know of Cairn.
    common: Vec<String>,
    /// What the description says.
    own: Vec<String>,
    library: Vec<String>,
    /// What the sources are called.
    names: Vec<String>,
    setup: Setup,
    machine: Vec<&'static str>,
}

impl Compiler {
    pub fn new(source: &Source, output: &Path, setup: Setup) -> Result<Compiler> {
        let headers = output.join("include");
        let include = |folder: &Path| format!("-I{}", paths::shown(folder));
        let mut common = vec![include(&paths::source().join("lib/c")), include(&headers)];
        common.extend(setup.defines());
        let description = &source.description;
        let mut own = Vec::new();
        for folder in &description.include {
            own.push(include(&source.existing(folder)?));
        }
        let mut fetched = None;
        if let Some(package) = &description.debian {
            package.check(source)?;
            if let Some(folder) = package.sources(source, output)? {
                own.push(include(&folder));
                fetched = Some((folder, package.name()));
            }
        }
        let names = source_names::for_c(fetched);
        own.extend(description.defines.iter().map(|define| format!("-D{define}")));
        own.extend(description.flags.iter().cloned());
        let library = vec![include(&headers.join("library"))];
        let machine = machine(description.float);
        Ok(Compiler {
            objects: output.join("objects"),
            common,
            own,
            library,
            names,
            setup,
            machine,
        })
    }

    /// What is set up when code of the component is entered.
    pub fn setup(&self) -> Setup {
        self.setup
    }

    /// What all that is compiled and linked for the machine has in common.
    pub fn machine(&self) -> &[&'static str] {
        &self.machine
    }

    /// The flags of a component's own sources in C, for another build.
    pub fn flags_for_others(&self) -> Vec<String> {
        let flags = [&self.machine, COMPILE, C].concat();
        let root = paths::project();
        let flags = flags.into_iter().filter(|flag| *flag != "-c").map(str::to_owned);
        flags
            .chain(self.names.iter().cloned())
            .chain(self.common.iter().map(|flag| match flag.strip_prefix("-I") {
                Some(folder) => format!("-I{}", root.join(folder).display()),
                None => flag.clone(),
            }))
            .collect()
    }

    fn command(&self, unit: &Unit) -> Vec<String> {
        let is_cpp =
            unit.file.extension().is_some_and(|extension| extension == "cpp" || extension == "cc");
        let is_c = unit.file.extension().is_some_and(|extension| extension == "c");
        let program = if is_cpp { "riscv64-unknown-elf-g++" } else { COMPILER };
        let language = match (is_cpp, is_c) {
            (true, _) => CPP,
            (_, true) => C,
            _ => &[],
        };
        let mut command = vec![program.to_owned()];
        command.extend([&self.machine, COMPILE, language].concat().into_iter().map(str::to_owned));
        command.extend(self.names.iter().cloned());
        // Warnings of what others wrote are theirs.
        let warnings: &[&str] =
            if unit.owner == Owner::Package { &["-w"] } else { &["-Wall", "-Wextra"] };
        command.extend(warnings.iter().map(|flag| flag.to_string()));
        if unit.owner != Owner::Package {
            command.extend(self.common.iter().cloned());
        }
        command.extend(match unit.owner {
            Owner::Own | Owner::Package => self.own.iter().cloned(),
            Owner::Library | Owner::Start => self.library.iter().cloned(),
        });
        command
    }

    /// Compiles what has changed, several at a time.
    pub fn compile(&self, units: &[Unit]) -> Result<Vec<Object>> {
        let next = AtomicUsize::new(0);
        let failed = Mutex::new(None);
        let work = || {
            loop {
                let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
                if let Err(error) = self.compile_one(unit) {
                    // What nobody has begun is left.
                    next.store(units.len(), Ordering::Relaxed);
                    failed.lock().expect("no panic under it").get_or_insert(error);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..std::thread::available_parallelism().map_or(1, |count| count.get()) {
                scope.spawn(work);
            }
            work();
        });
        match failed.into_inner().expect("no panic under it") {
            Some(error) => Err(error),
            None => Ok(units.iter().map(|unit| self.object(unit)).collect()),
        }
    }

    fn object(&self, unit: &Unit) -> Object {
        Object {
            file: self.objects.join(&unit.object),
            is_of_library: unit.owner == Owner::Library,
        }
    }

    /// Runs the compiler, whose messages the user sees.
    fn run(&self, command: &mut Command) -> Result<()> {
        let output = command
            .output()
            .with_context(|| format!("cannot start {:?}", command.get_program()))?;
        let folders: Vec<&str> =
            self.common.iter().filter_map(|flag| flag.strip_prefix("-I")).collect();
        let messages = String::from_utf8_lossy(&output.stderr);
        eprint!("{}", messages::shown(&messages, &folders));
        if !output.status.success() {
            let header = match messages.contains(".h: No such file") {
                true => {
                    "; of an interface's header, `interfaces` in component.toml has to name the interface"
                }
                false => "",
            };
            bail!("it does not build; the messages above say where{header}");
        }
        Ok(())
    }

    fn compile_one(&self, unit: &Unit) -> Result<()> {
        let object = self.object(unit).file;
        let words = self.command(unit);
        let line = words.join(" ");
        let (record, includes) = (object.with_extension("command"), object.with_extension("d"));
        if fs::read_to_string(&record).is_ok_and(|before| before == line)
            && is_newer(&object, &unit.file, &includes)
        {
            return Ok(());
        }
        let folder = object.parent().expect("a file is in a folder");
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let new = paths::temporary(&object);
        let mut command = Command::new(&words[0]);
        command.current_dir(paths::project()).args(&words[1..]);
        command.args(["-MMD", "-MF"]).arg(&includes).arg("-o").arg(&new);
        // A short path makes short messages.
        self.run(command.arg(paths::shown(&unit.file)))?;
        fs::rename(&new, &object)
            .and_then(|()| fs::write(&record, line))
            .with_context(|| format!("cannot write {}", object.display()))
    }
}

/// When a file was changed last.
pub fn changed(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).and_then(|data| data.modified()).ok()
}

/// Whether an object file is newer than its source and what that includes, by the compiler's list.
fn is_newer(object: &Path, source: &Path, includes: &Path) -> bool {
    let Some(made) = changed(object) else { return false };
    let Ok(list) = fs::read_to_string(includes) else { return false };
    let Some((_, list)) = list.split_once(": ") else { return false };
    let is_older = |file: &Path| changed(file).is_some_and(|time| time < made);
    let root = paths::project();
    is_older(source)
        && list
            .split_whitespace()
            .filter(|word| *word != "\\")
            // The system's own headers change with the compiler only, whose update comes with new times.
            .all(|word| is_older(&root.join(word)))
}
