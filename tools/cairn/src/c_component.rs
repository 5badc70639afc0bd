//! Components in C and C++: a folder with `component.toml` and `src/`, built with Debian's cross compiler, picolibc, and
//! the linker and linker script of the Rust components.

mod compile;
mod debian;
mod link;
mod messages;

use crate::float::Float;
use crate::{interfaces, paths, setup};
use anyhow::{Context, Result, anyhow, bail};
use cairn_image::Component;
use cairn_loader::Declared;
use compile::{Compiler, Unit};
use link::Setup;
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use toml::Spanned;

pub use debian::Unavailable;
pub use link::linker_line;

const COMPILER: &str = "riscv64-unknown-elf-gcc";
/// What compiling and finding libraries have in common.
const MACHINE: &[&str] = &["-mcmodel=medany", "--specs=picolibc.specs"];

/// The same of a component, by how it computes with floating-point numbers.
fn machine(float: Float) -> Vec<&'static str> {
    let instructions = match float {
        Float::Hard => ["-march=rv64imafdc", "-mabi=lp64d"],
        Float::Soft => ["-march=rv64imac", "-mabi=lp64"],
    };
    [&instructions, MACHINE].concat()
}

/// A program is built once more if it turns out to need something set up; that can show another need.
const ROUNDS: usize = 3;
const NEVER_THE_SAME: &str = "whether it has thread-local variables and constructors, and calls `cairn_ready`, depends on \
    CAIRN_THREAD_LOCAL, CAIRN_CONSTRUCTORS and CAIRN_READY, which follow from that; expected sources that do not look at these";
/// The library's own interfaces: what it works with.
const OF_THE_LIBRARY: &[&str] = &["Clock", "Console", "Lock", "Portals", "WallClock"];

/// `component.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    /// The interfaces whose headers the sources include.
    interfaces: Vec<Spanned<String>>,
    /// How it computes with floating-point numbers.
    #[serde(default)]
    float: Float,
    /// Folders in which headers are looked for, relative to the component's.
    #[serde(default)]
    include: Vec<Spanned<String>>,
    /// Macros: `NAME` or `NAME=VALUE`.
    #[serde(default)]
    defines: Vec<String>,
    /// Further flags for the compiler.
    #[serde(default)]
    flags: Vec<String>,
    /// Archives and object files that are linked as well, relative to the component's folder; `m` for `-lm`.
    #[serde(default)]
    libraries: Vec<Spanned<String>>,
    /// Sources of a package of Debian's.
    debian: Option<debian::Package>,
    /// An executable that others build; then nothing is compiled here.
    prebuilt: Option<Spanned<String>>,
    /// The command that builds it.
    #[serde(default)]
    build: Vec<String>,
}

/// The description with what messages about it need.
struct Source {
    folder: PathBuf,
    /// The description's file, for people.
    shown: String,
    text: String,
    description: Description,
}

impl Source {
    fn read(folder: &Path) -> Result<Source> {
        let file = folder.join("component.toml");
        let shown = paths::shown(&file);
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {shown}"))?;
        let description: Description = toml::from_str(&text).with_context(|| shown.clone())?;
        let source = Source { folder: folder.to_owned(), shown, text, description };
        let description = &source.description;
        if let Some(prebuilt) = &description.prebuilt {
            let others = [
                ("include", description.include.is_empty()),
                ("defines", description.defines.is_empty()),
                ("flags", description.flags.is_empty()),
                ("libraries", description.libraries.is_empty()),
                ("debian", description.debian.is_none()),
            ];
            if let Some((key, _)) = others.iter().find(|(_, is_absent)| !is_absent) {
                bail!(
                    "{}: `prebuilt` and `{key}`: what builds the executable says how; expected one of the two",
                    source.at(prebuilt)
                );
            }
        } else if !description.build.is_empty() {
            bail!("{}: `build` without `prebuilt`, the executable that it makes", source.shown);
        }
        Ok(source)
    }

    /// File and line of a value.
    fn at<T>(&self, value: &Spanned<T>) -> String {
        self.at_offset(value.span().start)
    }

    fn at_offset(&self, offset: usize) -> String {
        format!("{}:{}", self.shown, self.text[..offset].matches('\n').count() + 1)
    }

    /// A file or folder that the description names, relative to its own folder.
    fn existing(&self, name: &Spanned<String>) -> Result<PathBuf> {
        let path = self.folder.join(name.get_ref());
        if !path.exists() {
            bail!(
                "{}: no {}; expected a path relative to the component's folder",
                self.at(name),
                paths::shown(&path)
            );
        }
        Ok(path)
    }
}

/// Whether the folder, as a description calls it, holds a component in C.
pub fn is_one(folder: &str) -> bool {
    let folder = paths::component(folder);
    folder.join("component.toml").exists() && !folder.join("Cargo.toml").exists()
}

/// Builds the component in a folder, as a description calls it. Returns its file.
pub fn build(folder: &str) -> Result<(PathBuf, Component)> {
    setup::need(setup::C_COMPILER)?;
    let source = paths::component(folder);
    // A product has those of Cairn's tree built there, once for all products.
    let target = paths::workspace_at(&source).target;
    let output = target.join("machine/c").join(folder.trim_start_matches('/'));
    build_into(&source, &output).with_context(|| format!("component `{folder}`"))
}

/// The package of Debian's whose sources the component in a folder needs and that cannot be had.
pub fn unavailable(folder: &str) -> Result<Option<Unavailable>> {
    let source = Source::read(&paths::component(folder))?;
    source.description.debian.as_ref().map_or(Ok(None), debian::Package::unavailable)
}

/// The package of Debian's, with its version, that the component in a folder has sources of.
pub(crate) fn fetched(folder: &str) -> Result<Option<(String, String)>> {
    let source = Source::read(&paths::component(folder))?;
    source.description.debian.as_ref().map(debian::Package::version).transpose()
}

/// Builds the component in `source`; what `output` has of it and is as it would be made stays.
pub fn build_into(source: &Path, output: &Path) -> Result<(PathBuf, Component)> {
    let source = Source::read(source)?;
    let headers = output.join("include");
    fs::create_dir_all(&headers).with_context(|| format!("cannot make {}", headers.display()))?;
    let interfaces = write_headers(&source, &headers)?;
    let executable = match &source.description.prebuilt {
        Some(prebuilt) => prebuilt_executable(&source, prebuilt, output)?,
        None => compiled(&source, output)?,
    };
    let bytes =
        fs::read(&executable).with_context(|| format!("cannot read {}", executable.display()))?;
    let mut component = Component::read(bytes).map_err(|error| anyhow!(error))?;
    interfaces::verify(&component.descriptor, &interfaces).context("its CAIRN_COMPONENT")?;
    // In Rust, a macro leaves this in the file.
    component.descriptor.texts = interfaces.into_iter().filter_map(|one| one.text).collect();
    Ok((executable, component))
}

/// Has `make` make the executable. What is set up when code of the component is entered shows only in what is linked, so it
/// is supposed to be as the last time, and what was wrongly supposed is done anew.
fn settled(
    source: &Source,
    output: &Path,
    make: impl Fn(&Compiler) -> Result<PathBuf>,
) -> Result<PathBuf> {
    let mut setup = Setup::remembered(output);
    for _ in 0..ROUNDS {
        let executable = make(&Compiler::new(source, output, setup)?)?;
        let needed = Setup::of(&executable)?;
        if needed == setup {
            return Ok(executable);
        }
        setup = needed;
        setup.remember(output)?;
    }
    bail!("{}: {NEVER_THE_SAME}", source.shown)
}

/// Compiles and links.
fn compiled(source: &Source, output: &Path) -> Result<PathBuf> {
    let units = units(source, output)?;
    let executable = output.join("component");
    settled(source, output, |compiler| {
        let objects = compiler.compile(&units)?;
        link::link(source, compiler, &objects, output, &executable)?;
        Ok(executable.clone())
    })
}

/// What is compiled: the component's own sources, those of its package, and the library.
fn units(source: &Source, output: &Path) -> Result<Vec<Unit>> {
    let own = source.folder.join("src");
    let mut units = Vec::new();
    compile::find(&own, &mut |file| units.push(Unit::own(file, &own)))?;
    if units.is_empty() {
        bail!(
            "{} has no files *.c, *.S, *.cpp or *.cc; a component in C has its sources there",
            paths::shown(&own)
        );
    }
    if let Some(package) = &source.description.debian {
        units.extend(package.units(source, output)?);
    }
    units.extend(units_of_library()?);
    Ok(units)
}

/// The executable that another build makes: with `build`, that is run first, and makes it in the output's folder.
fn prebuilt_executable(
    source: &Source,
    prebuilt: &Spanned<String>,
    output: &Path,
) -> Result<PathBuf> {
    let Some((program, arguments)) = source.description.build.split_first() else {
        return source.existing(prebuilt);
    };
    if program == "make" {
        setup::need(&["make:make"])?;
    }
    settled(source, output, |compiler| {
        let objects = compiler.compile(&units_of_library()?)?;
        let folder = output.join(compiler.setup().folder());
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let executable = folder.join(prebuilt.get_ref());
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&source.folder).env("CAIRN_OUTPUT", &folder);
        command.env("CC", COMPILER).env("CFLAGS", compiler.flags_for_others().join(" "));
        command.env("CAIRN_LINK", link::for_others(compiler, &objects)?);
        command.env("CAIRN_EXECUTABLE", &executable);
        let status = command.status().with_context(|| {
            format!("{}: cannot start `{program}` of `build`", source.at(prebuilt))
        })?;
        if !status.success() {
            bail!("{}: `build` failed; the messages above say why", source.at(prebuilt));
        }
        if !executable.exists() {
            bail!(
                "{}: `build` has not made {}; it finds that path in CAIRN_EXECUTABLE",
                source.at(prebuilt),
                executable.display()
            );
        }
        Ok(executable)
    })
}

/// The library's sources.
fn units_of_library() -> Result<Vec<Unit>> {
    let library = paths::source().join("lib/c");
    let sources = library.join("src");
    let mut units = vec![
        Unit::start(library.join("start.S")),
        Unit::library(library.join("enter.S"), &library),
        Unit::start(paths::source().join("lib/cairn/src/arch/riscv64/copy.S")),
    ];
    compile::find(&sources, &mut |file| units.push(Unit::library(file, &sources)))?;
    Ok(units)
}

/// Writes the header of the ABI, those of the interfaces that the description names, and those of the library's. Returns the
/// description's.
fn write_headers(source: &Source, headers: &Path) -> Result<Vec<Declared>> {
    let library = headers.join("library");
    fs::create_dir_all(&library)?;
    let workspace = paths::workspace_at(&source.folder);
    let named = source.description.interfaces.iter();
    let named = named
        .map(|name| interfaces::find(&workspace, name.get_ref()).with_context(|| source.at(name)));
    let named: Vec<Declared> = named.collect::<Result<_>>()?;
    let mut own = vec![(cairn_headers::ABI_FILE.to_owned(), cairn_headers::abi())];
    for one in &named {
        own.push(interfaces::header_file(one)?);
    }
    let mut others = Vec::new();
    for name in OF_THE_LIBRARY {
        others.push(interfaces::header_file(&interfaces::own(name)?)?);
    }
    for (folder, files) in [(headers, own), (&library, others)] {
        // An interface that is no longer named must not be found either.
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let is_kept = files.iter().any(|(name, _)| path.ends_with(name));
            if path.is_file() && !is_kept {
                let _ = fs::remove_file(path);
            }
        }
        for (name, text) in files {
            write_if_changed(&folder.join(name), &text)?;
        }
    }
    Ok(named)
}

/// Leaves a file alone that says the same already: what was made of it stays.
fn write_if_changed(file: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(file).is_ok_and(|before| before == text) {
        return Ok(());
    }
    let new = paths::temporary(file);
    fs::write(&new, text)
        .and_then(|()| fs::rename(&new, file))
        .with_context(|| format!("cannot write {}", file.display()))
}

/// What a program answers.
pub(crate) fn answer(command: &mut Command) -> Result<String> {
    let output =
        command.output().with_context(|| format!("cannot start {:?}", command.get_program()))?;
    if !output.status.success() {
        bail!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
