//! What sections begin with, with what comes from packages of Debian and what is built: the file `content.toml` of a folder names these.

use crate::c_component::Unavailable;
use crate::{interfaces, paths, setup};
use anyhow::{Context, Result, anyhow, bail};
use cairn_description::System;
use cairn_description::content::{self, Archive, Format, MANIFEST};
use cairn_description::model::Section;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use toml::Spanned;

/// `content.toml` of a folder.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    /// How the archive is written.
    #[serde(default)]
    format: Written,
    #[serde(default)]
    package: Vec<Package>,
    /// The command that makes further files.
    #[serde(default)]
    make: Vec<Spanned<String>>,
    /// The interfaces whose headers it finds.
    #[serde(default)]
    interfaces: Vec<Spanned<String>>,
    /// Symbolic links: where each target has some.
    #[serde(default)]
    links: BTreeMap<String, Vec<Spanned<String>>>,
}

/// By the words of a manifest.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Written {
    #[default]
    Tar,
    Cpio,
}

impl Written {
    fn format(self) -> Format {
        match self {
            Written::Tar => Format::Tar,
            Written::Cpio => Format::Cpio,
        }
    }
}

/// A package, and which of its files go where.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Package {
    name: Spanned<String>,
    version: String,
    architecture: String,
    suite: String,
    sha256: String,
    /// By their paths in the archive: their paths in the package.
    files: BTreeMap<Spanned<String>, Spanned<String>>,
}

/// A manifest with what messages about it need.
struct Source {
    folder: PathBuf,
    shown: String,
    text: String,
    manifest: Manifest,
}

/// What programs of Linux' include beside headers of interfaces.
const FOR_LINUX: [&str; 3] =
    ["lib/linux/cairn.h", "lib/linux/cairn_device.h", "lib/c/cairn_reply.h"];

/// One fetches at a time.
static FETCHING: Mutex<()> = Mutex::new(());

impl Package {
    /// The folder with its files; nothing if it cannot be fetched.
    fn fetch(&self) -> Result<Option<PathBuf>> {
        let _one = FETCHING.lock().expect("no panic under it");
        let script = paths::source().join("tools/cairn/setup/debian-package.sh");
        let mut command = Command::new(&script);
        command.args([self.name.get_ref(), &self.version, &self.architecture]);
        command.args([&self.suite, &self.sha256]).stderr(Stdio::inherit());
        let output =
            command.output().with_context(|| format!("cannot start {}", paths::shown(&script)))?;
        let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok(output.status.success().then(|| PathBuf::from(folder)))
    }
}

impl Source {
    /// The manifest of a folder; `None`: it has none.
    fn read(folder: &Path) -> Result<Option<Source>> {
        if content::is_complete(folder) {
            return Ok(None);
        }
        let file = folder.join(MANIFEST);
        let shown = paths::shown(&file);
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {shown}"))?;
        let manifest = toml::from_str(&text).with_context(|| shown.clone())?;
        Ok(Some(Source { folder: folder.to_owned(), shown, text, manifest }))
    }

    /// File and line of a value.
    fn at<T>(&self, value: &Spanned<T>) -> String {
        let before = &self.text[..value.span().start];
        format!("{}:{}", self.shown, before.matches('\n').count() + 1)
    }

    /// A path that stays in its folder.
    fn inside<'a>(&self, value: &'a Spanned<String>) -> Result<&'a Path> {
        let path = Path::new(value.get_ref());
        let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        if !is_inside || path.as_os_str().is_empty() {
            bail!(
                "{}: `{}` leads elsewhere; expected a path without `/` at its begin and without `..`, as bin/sh",
                self.at(value),
                value.get_ref()
            );
        }
        Ok(path)
    }

    /// Writes what programs of Linux' include that call components or serve them: the headers of the interfaces, and what these include.
    fn write_headers(&self, folder: &Path) -> Result<()> {
        let workspace = paths::workspace_at(&self.folder);
        let mut files = vec![(cairn_headers::ABI_FILE.to_owned(), cairn_headers::abi())];
        for name in &self.manifest.interfaces {
            let found = interfaces::find(&workspace, name.get_ref());
            files.push(interfaces::header_file(&found.with_context(|| self.at(name))?)?);
        }
        for path in FOR_LINUX {
            let path = paths::source().join(path);
            let name = path.file_name().expect("it is a file").to_string_lossy().into_owned();
            let text = fs::read_to_string(&path);
            files.push((name, text.with_context(|| format!("cannot read {}", path.display()))?));
        }
        for (name, text) in files {
            let file = folder.join(name);
            fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        }
        Ok(())
    }

    /// Adds what the command makes, which finds the folder to fill in `CAIRN_OUTPUT`, and those headers in `CAIRN_HEADERS`. Programs for the
    /// machine come from the compiler of components in C.
    fn make(
        &self,
        archive: &mut Archive,
        program: &Spanned<String>,
        arguments: &[Spanned<String>],
    ) -> Result<()> {
        let at = self.at(program);
        let both = paths::temporary(&paths::target().join("content"));
        let (folder, headers) = (both.join("made"), both.join("headers"));
        for folder in [&folder, &headers] {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        if !self.manifest.interfaces.is_empty() {
            self.write_headers(&headers)?;
        }
        // The command runs elsewhere.
        let [folder, headers] = [folder, headers].map(|folder| paths::real(&folder));
        let mut command = Command::new(program.get_ref());
        command.args(arguments.iter().map(Spanned::get_ref));
        command.env("CAIRN_OUTPUT", &folder).env("CAIRN_HEADERS", &headers);
        command.current_dir(&self.folder).stdout(Stdio::null());
        let status = command
            .status()
            .with_context(|| format!("{at}: cannot start `{}` of `make`", program.get_ref()))?;
        let added = match status.success() {
            true => Ok(archive.add_all(&folder)?),
            false => Err(anyhow!("{at}: `make` failed; the messages above say why")),
        };
        fs::remove_dir_all(&both).with_context(|| format!("cannot remove {}", both.display()))?;
        added
    }

    /// Adds what it names; `fetch` has the files of a package.
    fn add(
        &self,
        archive: &mut Archive,
        fetch: impl Fn(&Package) -> Result<Option<PathBuf>>,
    ) -> Result<()> {
        for package in &self.manifest.package {
            let at = self.at(&package.name);
            let name = package.name.get_ref();
            let folder = fetch(package)?.ok_or_else(|| {
                anyhow!(
                    "{at}: Debian's package `{name}` cannot be fetched; the messages above say why"
                )
            })?;
            for (to, from) in &package.files {
                let file = folder.join(self.inside(from)?);
                archive.add(self.inside(to)?, &file).with_context(|| {
                    format!(
                        "{}: no `{}` in {}; expected a file of the package `{name}`",
                        self.at(from),
                        from.get_ref(),
                        folder.display()
                    )
                })?;
            }
        }
        if let Some((program, arguments)) = self.manifest.make.split_first() {
            self.make(archive, program, arguments)?;
        }
        for (target, names) in &self.manifest.links {
            for name in names {
                archive.link(self.inside(name)?, target);
            }
        }
        Ok(())
    }
}

/// Where the content of a section is.
fn place(section: &Section) -> Option<PathBuf> {
    Some(paths::files().place(section.content.as_ref()?))
}

/// What one section begins with; nothing if it has no content.
fn bytes(section: &Section) -> Result<Vec<u8>> {
    let Some(place) = place(section) else { return Ok(Vec::new()) };
    let read = || -> Result<Vec<u8>> {
        let Some(source) = Source::read(&place)? else { return Ok(content::read(&place)?) };
        if !source.manifest.make.is_empty() {
            setup::need(setup::C_COMPILER)?;
        }
        let mut archive = Archive::of(&place)?;
        source.add(&mut archive, Package::fetch)?;
        Ok(archive.bytes(source.manifest.format.format())?)
    };
    read().with_context(|| format!("the content of the section `{}`", section.name))
}

/// What the sections of a system begin with, in order.
pub fn of(system: &System) -> Result<Vec<Vec<u8>>> {
    system.sections.iter().map(bytes).collect()
}

/// A package that a section's content needs and that cannot be had.
pub fn unavailable(system: &System) -> Result<Option<Unavailable>> {
    for place in system.sections.iter().filter_map(place) {
        let packages = Source::read(&place)?.map(|source| source.manifest.package);
        for package in packages.into_iter().flatten() {
            if package.fetch()?.is_none() {
                let name = package.name.get_ref();
                return Ok(Some(Unavailable::new(format!("Debian's package `{name}`"))));
            }
        }
    }
    Ok(None)
}

/// The packages of which a system's sections have files: name, version, architecture.
pub fn fetched(system: &System) -> Result<Vec<[String; 3]>> {
    let mut fetched = Vec::new();
    for place in system.sections.iter().filter_map(place) {
        let packages = Source::read(&place)?.map(|source| source.manifest.package);
        for Package { name, version, architecture, .. } in packages.into_iter().flatten() {
            fetched.push([name.into_inner(), version, architecture]);
        }
    }
    Ok(fetched)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MADE: &str = "[[package]]\nname = \"thing\"\nversion = \"1:2\"\narchitecture = \"riscv64\"\nsuite = \"trixie\"\n\
         sha256 = \"00\"\nfiles = { \"bin/thing\" = \"usr/bin/thing\" }\n[links]\nthing = [\"bin/other\"]\n";

    /// What comes of a folder with this manifest and one file, of a package with one file.
    fn made(name: &str, manifest: &str, is_there: bool) -> Result<Vec<u8>, String> {
        let folder = std::env::temp_dir().join(format!("cairn-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let (own, package) = (folder.join("own"), folder.join("package"));
        fs::create_dir_all(package.join("usr/bin")).unwrap();
        fs::create_dir_all(&own).unwrap();
        fs::write(package.join("usr/bin/thing"), "program").unwrap();
        fs::write(own.join("text"), "text").unwrap();
        fs::write(own.join(MANIFEST), manifest).unwrap();
        let bytes = || -> Result<Vec<u8>> {
            let source = Source::read(&own)?.expect("there is one");
            let mut archive = Archive::of(&own)?;
            source.add(&mut archive, |_| Ok(is_there.then(|| package.clone())))?;
            Ok(archive.bytes(source.manifest.format.format())?)
        };
        let bytes = bytes().map_err(|error| format!("{error:#}"));
        fs::remove_dir_all(folder).unwrap();
        bytes
    }

    #[test]
    fn files_of_packages_and_links_lie_beside_those_of_the_folder() {
        let bytes = made("manifest", MADE, true).unwrap();
        let has = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        assert!(["bin/thing", "program", "bin/other", "text"].iter().all(|text| has(text)));
        assert!(!has(MANIFEST) && !has("usr/bin"));
    }

    #[test]
    fn files_that_are_made_lie_there_too() {
        let command = |script: &str| format!("make = [\"sh\", \"-c\", {script:?}]\n{MADE}");
        let script = "mkdir $CAIRN_OUTPUT/made; cat text text >$CAIRN_OUTPUT/made/twice";
        let bytes = made("manifest-make", &command(script), true).unwrap();
        let has = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        assert!(has("made/twice") && has("texttext"));
        let error = made("manifest-fails", &command("exit 1"), true).unwrap_err();
        assert!(
            error.ends_with("content.toml:1: `make` failed; the messages above say why"),
            "{error}"
        );
        let error = made("manifest-none-such", "make = [\"nosuch-cairn\"]\n", true).unwrap_err();
        assert!(error.contains("content.toml:1: cannot start `nosuch-cairn` of `make`"), "{error}");
    }

    #[test]
    fn mistakes_are_said_with_their_lines() {
        let wrong = |name: &str, old: &str, new: &str| {
            made(name, &MADE.replace(old, new), true).unwrap_err()
        };
        let error = wrong("manifest-file", "usr/bin/thing", "usr/bin/thin");
        assert!(error.contains("content.toml:7: no `usr/bin/thin` in "), "{error}");
        for path in ["../thing", "/bin/thing", ""] {
            let error = wrong("manifest-place", "\"bin/thing\"", &format!("{path:?}"));
            assert!(error.contains("content.toml:7: `") && error.contains("elsewhere"), "{error}");
        }
        let error = wrong("manifest-link", "bin/other", "/bin/other");
        assert!(error.contains("content.toml:9: `/bin/other` leads elsewhere"), "{error}");
        let error = wrong("manifest-key", "suite", "suit");
        assert!(error.contains("unknown field `suit`") && error.contains("|"), "{error}");
        let error = made("manifest-none", MADE, false).unwrap_err();
        assert!(error.contains("content.toml:2: Debian's package `thing` cannot be"), "{error}");
    }
}
