//! Sources of Debian's packages, fetched once into a folder outside the tree.

use super::Source;
use super::compile::{self, Unit};
use crate::paths;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::fmt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use toml::Spanned;

/// `[debian]` of a `component.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// Name of the source package.
    package: Spanned<String>,
    /// The folder in it whose sources are compiled, and where headers are looked for.
    sources: Spanned<String>,
    /// Names of sources that are left out.
    #[serde(default)]
    without: Vec<Spanned<String>>,
}

/// A package that cannot be fetched.
#[derive(Debug)]
pub struct Unavailable {
    package: String,
}

impl fmt::Display for Unavailable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Debian's sources of `{}` cannot be fetched here", self.package)
    }
}

/// One fetches at a time.
static FETCHING: Mutex<()> = Mutex::new(());

impl Package {
    /// The folder of the unpacked package; nothing if it cannot be fetched.
    fn fetch(&self) -> Result<Option<PathBuf>> {
        let _one = FETCHING.lock().expect("no panic under it");
        let script = paths::root().join("tools/cairn/setup/debian-source.sh");
        let mut command = Command::new(&script);
        command.arg(self.package.get_ref()).stderr(Stdio::inherit());
        let output =
            command.output().with_context(|| format!("cannot start {}", paths::shown(&script)))?;
        let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok(output.status.success().then(|| PathBuf::from(folder)))
    }

    /// Why it cannot be had, if it cannot.
    pub fn unavailable(&self) -> Result<Option<Unavailable>> {
        let is_there = self.fetch()?.is_some();
        let package = self.package.get_ref().clone();
        Ok((!is_there).then_some(Unavailable { package }))
    }

    /// The folder with the sources.
    pub fn sources(&self, source: &Source) -> Result<PathBuf> {
        let Some(folder) = self.fetch()? else {
            bail!(
                "{}: the sources of Debian's package `{}` cannot be fetched; the messages above say why",
                source.at(&self.package),
                self.package.get_ref()
            );
        };
        let folder = folder.join(self.sources.get_ref());
        if !folder.is_dir() {
            bail!(
                "{}: no {}; expected a folder of the package",
                source.at(&self.sources),
                folder.display()
            );
        }
        Ok(folder)
    }

    /// What is compiled of it.
    pub fn units(&self, source: &Source) -> Result<Vec<Unit>> {
        let folder = self.sources(source)?;
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
