//! Sources of Debian's packages, fetched once into a folder outside the tree.

use super::Source;
use super::compile::{self, Unit};
use super::link;
use crate::{paths, setup};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::fmt;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use toml::Spanned;

/// `[debian]` of a `component.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// Name of the source package; with `archive`, of a package for the host.
    package: Spanned<String>,
    /// An archive of sources that the package installs.
    archive: Option<String>,
    /// The folder in it whose sources are compiled, and where headers are looked for; of a package whose sources are made, in
    /// what `make` writes.
    sources: Option<Spanned<String>>,
    /// Instead of `sources`: object files that `make` writes, which are linked before all others.
    #[serde(default)]
    objects: Vec<Spanned<String>>,
    /// The command that makes the sources, or the object files, of those of the package.
    #[serde(default)]
    make: Vec<String>,
    /// Files and folders that `make` reads beside the package: when they change, it brings what it wrote up to date.
    #[serde(default)]
    inputs: Vec<Spanned<String>>,
    /// What `make` takes of the host, `COMMAND:PACKAGE` each.
    #[serde(default)]
    needs: Vec<String>,
    /// Names of sources that are left out.
    #[serde(default)]
    without: Vec<Spanned<String>>,
}

/// What cannot be fetched.
#[derive(Debug)]
pub struct Unavailable {
    what: String,
}

impl Unavailable {
    /// The name of what it is.
    pub fn new(what: String) -> Unavailable {
        Unavailable { what }
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} cannot be fetched here", self.what)
    }
}

/// One fetches at a time.
static FETCHING: Mutex<()> = Mutex::new(());

/// One makes at a time: several systems can have the same component.
static MAKING: Mutex<()> = Mutex::new(());

/// In the record, instead of the state of the inputs.
const UNFINISHED: &str = "unfinished\n";

impl Package {
    /// Its name.
    pub fn name(&self) -> &str {
        self.package.get_ref()
    }

    /// The folder of the unpacked package; nothing if it cannot be fetched.
    fn fetch(&self) -> Result<Option<PathBuf>> {
        let _one = FETCHING.lock().expect("no panic under it");
        let script = paths::source().join("tools/cairn/setup/debian-source.sh");
        let mut command = Command::new(&script);
        command.arg(self.package.get_ref()).args(&self.archive).stderr(Stdio::inherit());
        let output =
            command.output().with_context(|| format!("cannot start {}", paths::shown(&script)))?;
        let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok(output.status.success().then(|| PathBuf::from(folder)))
    }

    /// Its name and its version.
    pub fn version(&self) -> Result<(String, String)> {
        let folder = self.fetch()?.unwrap_or_default();
        let folder = folder.file_name().unwrap_or_default().to_string_lossy();
        let version = folder.rsplit_once('-').map(|(_, version)| version.to_owned());
        Ok((self.name().to_owned(), version.unwrap_or_default()))
    }

    /// Why it cannot be had, if it cannot.
    pub fn unavailable(&self) -> Result<Option<Unavailable>> {
        let is_there = self.fetch()?.is_some();
        let what = format!("Debian's sources of `{}`", self.package.get_ref());
        Ok((!is_there).then_some(Unavailable { what }))
    }

    /// What is wrong with the description.
    pub fn check(&self, source: &Source) -> Result<()> {
        match (&self.sources, self.objects.first()) {
            (Some(_), None) => Ok(()),
            (None, Some(first)) if self.make.is_empty() => {
                bail!("{}: `objects` without `make`, the command that makes them", source.at(first))
            }
            (None, Some(_)) => Ok(()),
            (Some(_), Some(both)) => {
                bail!("{}: `objects` and `sources`; expected one of the two", source.at(both))
            }
            (None, None) => bail!(
                "{}: expected `sources`, a folder of the package, or `objects`, which `make` makes",
                source.at(&self.package)
            ),
        }
    }

    /// The folder of the package, or of what `make` has made of it; `output` is the component's.
    fn folder(&self, source: &Source, output: &Path) -> Result<PathBuf> {
        let Some(folder) = self.fetch()? else {
            bail!(
                "{}: the sources of Debian's package `{}` cannot be fetched; the messages above say why",
                source.at(&self.package),
                self.package.get_ref()
            );
        };
        match self.make.split_first() {
            Some((program, arguments)) => self.made(source, output, &folder, program, arguments),
            None => Ok(folder),
        }
    }

    /// The folder with the sources, if the package's sources are compiled; `output` is the component's.
    pub fn sources(&self, source: &Source, output: &Path) -> Result<Option<PathBuf>> {
        let Some(sources) = &self.sources else { return Ok(None) };
        let folder = self.folder(source, output)?.join(sources.get_ref());
        if !folder.is_dir() {
            bail!(
                "{}: no {}; expected a folder of the package, or of what `make` writes",
                source.at(sources),
                folder.display()
            );
        }
        Ok(Some(folder))
    }

    /// The object files.
    pub fn objects(&self, source: &Source, output: &Path) -> Result<Vec<PathBuf>> {
        if self.objects.is_empty() {
            return Ok(Vec::new());
        }
        let folder = self.folder(source, output)?;
        let each = self.objects.iter().map(|object| {
            let file = folder.join(object.get_ref());
            match file.is_file() {
                true => Ok(file),
                false => {
                    bail!("{}: `make` has not made {}", source.at(object), file.display())
                }
            }
        });
        each.collect()
    }

    /// Has the sources made, unless they were by the same command, with the same scripts, of the same package. Where only what it reads
    /// beside has changed, the command finds what it wrote before.
    fn made(
        &self,
        source: &Source,
        output: &Path,
        package: &Path,
        program: &str,
        arguments: &[String],
    ) -> Result<PathBuf> {
        let _one = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        let (made, record) = (output.join("made"), output.join("made.record"));
        let mut line = format!("{}\n{}\n", package.display(), self.make.join(" "));
        for script in &self.make {
            line.push_str(&fs::read_to_string(source.folder.join(script)).unwrap_or_default());
        }
        let inputs = self.state_of_inputs(source)?;
        let before = fs::read_to_string(&record).unwrap_or_default();
        let is_by_same = before.starts_with(&line);
        if is_by_same && before[line.len()..] == inputs {
            return Ok(made);
        }
        let needs: Vec<&str> = self.needs.iter().map(String::as_str).collect();
        setup::need(&needs)?;
        let goes_on = is_by_same && !self.inputs.is_empty();
        for old in [&record, &made].into_iter().filter(|old| old.exists() && !goes_on) {
            let removed = if old.is_dir() { fs::remove_dir_all(old) } else { fs::remove_file(old) };
            removed.with_context(|| format!("cannot remove {}", old.display()))?;
        }
        fs::create_dir_all(&made).with_context(|| format!("cannot make {}", made.display()))?;
        // What is interrupted, or fails, goes on the next time where it was.
        let note = |rest: &str| {
            fs::write(&record, format!("{line}{rest}"))
                .with_context(|| format!("cannot write {}", record.display()))
        };
        note(UNFINISHED)?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&source.folder);
        command.env("CAIRN_PACKAGE", package).env("CAIRN_OUTPUT", &made);
        command.env("CAIRN_LINKER", link::linker_line()?);
        let at = source.at(&self.package);
        let status = command
            .status()
            .with_context(|| format!("{at}: cannot start `{program}` of `make`"))?;
        if !status.success() {
            bail!("{at}: `make` failed; the messages above say why");
        }
        note(&inputs)?;
        Ok(made)
    }

    /// Each file that `make` reads beside the package, with its content's hash.
    fn state_of_inputs(&self, source: &Source) -> Result<String> {
        let mut state = String::new();
        for input in &self.inputs {
            note(&source.existing(input)?, &mut state)?;
        }
        Ok(state)
    }

    /// What is compiled of it.
    pub fn units(&self, source: &Source, output: &Path) -> Result<Vec<Unit>> {
        let Some(folder) = self.sources(source, output)? else { return Ok(Vec::new()) };
        for name in &self.without {
            if !folder.join(name.get_ref()).exists() {
                bail!(
                    "{}: no {}; expected the name of a source that is left out",
                    source.at(name),
                    folder.join(name.get_ref()).display()
                );
            }
        }
        let mut units = Vec::new();
        compile::find(&folder, &mut |file| {
            let is_left = self.without.iter().any(|name| folder.join(name.get_ref()) == file);
            if !is_left {
                units.push(Unit::package(file, &folder));
            }
        })?;
        Ok(units)
    }
}

/// A line for a file, or for each one in a folder.
fn note(path: &Path, state: &mut String) -> Result<()> {
    let context = || format!("cannot read {}", path.display());
    if path.is_dir() {
        let entries = fs::read_dir(path).and_then(|entries| {
            entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()
        });
        let mut entries = entries.with_context(context)?;
        entries.sort();
        return entries.iter().try_for_each(|entry| note(entry, state));
    }
    let bytes = fs::read(path).with_context(context)?;
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    state.push_str(&format!("{} {:016x}\n", path.display(), hasher.finish()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DESCRIPTION: &str = "interfaces = []\n[debian]\npackage = \"thing\"\nmake = [\"sh\", \"make.sh\"]\nsources = \".\"\n";
    /// One more line for each time.
    const SCRIPT: &str = "cat \"$CAIRN_PACKAGE/text\" >\"$CAIRN_OUTPUT/text\"; echo made >>runs\n";

    #[test]
    fn sources_are_made_once_and_again_when_the_script_has_changed() {
        let folder = std::env::temp_dir().join(format!("cairn-made-{}", std::process::id()));
        let package = folder.join("package");
        fs::create_dir_all(&package).unwrap();
        fs::write(folder.join("component.toml"), DESCRIPTION).unwrap();
        fs::write(package.join("text"), "text").unwrap();
        let make = |script: &str| {
            fs::write(folder.join("make.sh"), script).unwrap();
            let source = Source::read(&folder).unwrap();
            let debian = source.description.debian.as_ref().unwrap();
            let (program, arguments) = debian.make.split_first().unwrap();
            let made = debian.made(&source, &folder.join("output"), &package, program, arguments);
            made.map_err(|error| format!("{error:#}"))
        };
        let runs = || fs::read_to_string(folder.join("runs")).unwrap().lines().count();
        let made = make(SCRIPT).unwrap();
        assert_eq!(fs::read_to_string(made.join("text")).unwrap(), "text");
        make(SCRIPT).unwrap();
        assert_eq!(runs(), 1, "nothing has changed");
        let other = format!("{SCRIPT}# other\n");
        make(&other).unwrap();
        assert_eq!(runs(), 2);
        let error = make("exit 1").unwrap_err();
        assert!(
            error.ends_with("component.toml:3: `make` failed; the messages above say why"),
            "{error}"
        );
        make(&other).unwrap();
        assert_eq!(runs(), 3, "what failed is not taken for made");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn objects_are_brought_up_to_date_when_an_input_changes() {
        let folder = std::env::temp_dir().join(format!("cairn-objects-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let (package, inputs) = (folder.join("package"), folder.join("inputs"));
        fs::create_dir_all(&package).unwrap();
        fs::create_dir_all(inputs.join("inner")).unwrap();
        let description = "interfaces = []\n[debian]\npackage = \"thing\"\nmake = [\"sh\", \"make.sh\"]\n\
             inputs = [\"inputs\"]\nobjects = [\"one\", \"two\"]\n";
        let read = |text: &str| {
            fs::write(folder.join("component.toml"), text).unwrap();
            let source = Source::read(&folder).unwrap();
            source.description.debian.as_ref().unwrap().check(&source).map(|()| source)
        };
        let source = read(description).unwrap();
        // It finds what it wrote before.
        let script = "echo run >>\"$CAIRN_OUTPUT/one\"; ! grep -sq wrong inputs/inner/file\n";
        fs::write(folder.join("make.sh"), script).unwrap();
        let output = folder.join("output");
        let make = || {
            let debian = source.description.debian.as_ref().unwrap();
            let arguments = [debian.make[1].clone()];
            debian.made(&source, &output, &package, "sh", &arguments)
        };
        let runs = || {
            let made = make().unwrap();
            fs::read_to_string(made.join("one")).unwrap().lines().count()
        };
        assert_eq!((runs(), runs()), (1, 1));
        fs::write(inputs.join("inner/file"), "1").unwrap();
        assert_eq!((runs(), runs()), (2, 2));
        fs::write(inputs.join("inner/file"), "wrong").unwrap();
        make().unwrap_err();
        // What was made before that failed is still there.
        fs::write(inputs.join("inner/file"), "2").unwrap();
        assert_eq!(runs(), 4);
        // Another script begins anew.
        fs::write(folder.join("make.sh"), "echo other >>\"$CAIRN_OUTPUT/one\"\n").unwrap();
        assert_eq!(runs(), 1);
        let wrong = |text: &str| read(text).map(|_| ()).unwrap_err().to_string();
        let error = wrong(&description.replace("make = [\"sh\", \"make.sh\"]", ""));
        assert!(
            error.ends_with(":6: `objects` without `make`, the command that makes them"),
            "{error}"
        );
        let error = wrong(&description.replace("inputs = [\"inputs\"]", "sources = \".\""));
        assert!(error.contains(":6: `objects` and `sources`"), "{error}");
        let error = wrong("interfaces = []\n[debian]\npackage = \"thing\"\n");
        assert!(error.contains(":3: expected `sources`"), "{error}");
        fs::remove_dir_all(folder).unwrap();
    }
}
