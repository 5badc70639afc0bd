//! Sources of Debian's packages, fetched once into a folder outside the tree.

use super::Source;
use super::compile::{self, Unit};
use crate::paths;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use toml::Spanned;

/// `[debian]` of a `component.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// Name of the source package.
    package: Spanned<String>,
    /// The folder in it whose sources are compiled, and where headers are looked for; of a package whose sources are made, in
    /// what `make` writes.
    sources: Spanned<String>,
    /// The command that makes the sources of those of the package.
    #[serde(default)]
    make: Vec<String>,
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
        command.arg(self.package.get_ref()).stderr(Stdio::inherit());
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

    /// The folder with the sources; `output` is the component's.
    pub fn sources(&self, source: &Source, output: &Path) -> Result<PathBuf> {
        let Some(folder) = self.fetch()? else {
            bail!(
                "{}: the sources of Debian's package `{}` cannot be fetched; the messages above say why",
                source.at(&self.package),
                self.package.get_ref()
            );
        };
        let folder = match self.make.split_first() {
            Some((program, arguments)) => self.made(source, output, &folder, program, arguments)?,
            None => folder,
        };
        let folder = folder.join(self.sources.get_ref());
        if !folder.is_dir() {
            bail!(
                "{}: no {}; expected a folder of the package, or of what `make` writes",
                source.at(&self.sources),
                folder.display()
            );
        }
        Ok(folder)
    }

    /// Has the sources made, unless they were by the same command, with the same scripts, of the same package.
    fn made(
        &self,
        source: &Source,
        output: &Path,
        package: &Path,
        program: &str,
        arguments: &[String],
    ) -> Result<PathBuf> {
        let (made, record) = (output.join("made"), output.join("made.record"));
        let mut line = format!("{}\n{}\n", package.display(), self.make.join(" "));
        for script in &self.make {
            line.push_str(&fs::read_to_string(source.folder.join(script)).unwrap_or_default());
        }
        if fs::read_to_string(&record).is_ok_and(|before| before == line) {
            return Ok(made);
        }
        // It speaks of what is removed here, and would of a half of what follows.
        if record.exists() {
            fs::remove_file(&record)
                .with_context(|| format!("cannot remove {}", record.display()))?;
        }
        if made.exists() {
            fs::remove_dir_all(&made)
                .with_context(|| format!("cannot remove {}", made.display()))?;
        }
        fs::create_dir_all(&made).with_context(|| format!("cannot make {}", made.display()))?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&source.folder);
        command.env("CAIRN_PACKAGE", package).env("CAIRN_OUTPUT", &made);
        let at = source.at(&self.sources);
        let status = command
            .status()
            .with_context(|| format!("{at}: cannot start `{program}` of `make`"))?;
        if !status.success() {
            bail!("{at}: `make` failed; the messages above say why");
        }
        fs::write(&record, line).with_context(|| format!("cannot write {}", record.display()))?;
        Ok(made)
    }

    /// What is compiled of it.
    pub fn units(&self, source: &Source, output: &Path) -> Result<Vec<Unit>> {
        let folder = self.sources(source, output)?;
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
            error.ends_with("component.toml:5: `make` failed; the messages above say why"),
            "{error}"
        );
        make(&other).unwrap();
        assert_eq!(runs(), 3, "what failed is not taken for made");
        fs::remove_dir_all(&folder).unwrap();
    }
}
