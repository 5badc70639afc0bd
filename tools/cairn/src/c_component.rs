//! Components in C: a folder with `component.toml` and `src/*.c`, built with Debian's cross
//! compiler, picolibc, and the linker and linker script of the Rust components.

use crate::float::Float;
use crate::{cargo, interfaces, paths, setup};
use anyhow::{Context, Result, anyhow, bail};
use cairn_image::Component;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;
use toml::Spanned;

const COMPILER: &str = "riscv64-unknown-elf-gcc";
/// What compiling and finding libraries have in common.
const MACHINE: &[&str] = &["-mcmodel=medany", "--specs=picolibc.specs"];

/// Of a component, by whether it computes with the floating-point unit.
fn machine(float: bool) -> impl Iterator<Item = &'static str> {
    let instructions = match float {
        true => ["-march=rv64imafdc", "-mabi=lp64d"],
        false => ["-march=rv64imac", "-mabi=lp64"],
    };
    instructions.into_iter().chain(MACHINE.iter().copied())
}
const COMPILE: &[&str] = &[
    "-std=c11",
    "-O2",
    "-g",
    "-Wall",
    "-Wextra",
    "-fPIE",
    "-ffreestanding",
    // Unused functions are not linked.
    "-ffunction-sections",
    "-fdata-sections",
    "-c",
];

/// `component.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    /// The interfaces whose headers the sources include.
    interfaces: Vec<Spanned<String>>,
    /// How it computes with floating-point numbers.
    #[serde(default)]
    float: Float,
}

/// Whether the folder, relative to the root, holds a component in C.
pub fn is_one(folder: &str) -> bool {
    let folder = paths::root().join(folder);
    folder.join("component.toml").exists() && !folder.join("Cargo.toml").exists()
}

/// Builds the component in a folder, relative to the root. Returns its file.
pub fn build(folder: &str) -> Result<(PathBuf, Component)> {
    setup::need(setup::C_COMPILER)?;
    build_into(&paths::root().join(folder), &paths::target().join("machine/c").join(folder))
        .with_context(|| format!("component `{folder}`"))
}

/// Builds the component in `source`. The folder `output` is emptied first.
pub fn build_into(source: &Path, output: &Path) -> Result<(PathBuf, Component)> {
    let headers = output.join("include");
    // An interface that is no longer named must not be found either.
    let _ = std::fs::remove_dir_all(output);
    std::fs::create_dir_all(&headers)
        .with_context(|| format!("cannot make {}", headers.display()))?;
    let float = read_description(&source.join("component.toml"), &headers)?.is_hard();

    let library = paths::root().join("lib/c");
    let mut objects = Vec::new();
    let copy = paths::root().join("lib/cairn/src/arch/riscv64/copy.S");
    for file in [vec![library.join("start.S"), copy], sources(&source.join("src"))?].concat() {
        let object =
            output.join(format!("{}.o", file.file_name().expect("a file has a name").display()));
        let mut command = Command::new(COMPILER);
        command.current_dir(paths::root()).args(machine(float)).args(COMPILE);
        command.arg("-I").arg(&library).arg("-I").arg(&headers).arg("-o").arg(&object);
        // A short path makes short messages.
        run(command.arg(file.strip_prefix(paths::root()).unwrap_or(&file)))?;
        objects.push(object);
    }

    let executable = output.join("component");
    let mut command = linker()?;
    command
        .args(cargo::component_link())
        .arg("--gc-sections")
        .arg("-o")
        .arg(&executable)
        .args(&objects);
    run(command.arg("--start-group").args(libraries(float)?).arg("--end-group"))?;

    let bytes = std::fs::read(&executable)
        .with_context(|| format!("cannot read {}", executable.display()))?;
    let component = Component::read(bytes).map_err(|error| anyhow!(error))?;
    interfaces::verify(&component.descriptor).context("its CAIRN_COMPONENT")?;
    Ok((executable, component))
}

/// Writes the header of the ABI and those of the interfaces that the description names. How it computes.
fn read_description(description: &Path, headers: &Path) -> Result<Float> {
    let shown = paths::shown(description);
    let text =
        std::fs::read_to_string(description).with_context(|| format!("cannot read {shown}"))?;
    let parsed: Description = toml::from_str(&text).with_context(|| shown.clone())?;
    let write = |name: &str, text: String| {
        let file = headers.join(name);
        std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
    };
    write(cairn_headers::ABI_FILE, cairn_headers::abi())?;
    for name in &parsed.interfaces {
        let line = text[..name.span().start].matches('\n').count() + 1;
        let interface =
            interfaces::find(name.get_ref()).with_context(|| format!("{shown}:{line}"))?;
        write(&cairn_headers::file_name(interface), cairn_headers::header(interface))?;
    }
    Ok(parsed.float)
}

/// The C files of a folder, sorted, so that the same sources make the same component.
fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let file = entry?.path();
        if file.extension().is_some_and(|extension| extension == "c") {
            files.push(file);
        }
    }
    if files.is_empty() {
        bail!("{} has no C files; a component in C has its sources there", paths::shown(folder));
    }
    files.sort();
    Ok(files)
}

/// The linker that the Rust components are linked with: GNU ld for the bare machine makes no
/// position-independent executables.
fn linker() -> Result<Command> {
    if let Some(linker) = std::env::var_os("CAIRN_LINKER") {
        return Ok(Command::new(linker));
    }
    let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let library =
        answer(Command::new(rustc).current_dir(paths::root()).args(["--print", "target-libdir"]))?;
    let linker = Path::new(&library).with_file_name("bin").join("rust-lld");
    if !linker.exists() {
        bail!(
            "no linker at {}; it comes with rustup's toolchain, so run ./cairn, which sets it up",
            linker.display()
        );
    }
    let mut command = Command::new(linker);
    command.args(["-flavor", "gnu"]);
    Ok(command)
}

/// The C library and the compiler's own, for the machine.
fn libraries(float: bool) -> Result<[PathBuf; 2]> {
    let ask = |question: &str| answer(Command::new(COMPILER).args(machine(float)).arg(question));
    let variant = ask("-print-multi-directory")?;
    let picolibc = Path::new(setup::PICOLIBC).join("lib").join(variant).join("libc.a");
    Ok([picolibc, PathBuf::from(ask("-print-libgcc-file-name")?)])
}

fn answer(command: &mut Command) -> Result<String> {
    let output =
        command.output().with_context(|| format!("cannot start {:?}", command.get_program()))?;
    if !output.status.success() {
        bail!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs a tool whose messages go to the user as they are.
fn run(command: &mut Command) -> Result<()> {
    let status =
        command.status().with_context(|| format!("cannot start {:?}", command.get_program()))?;
    if !status.success() {
        bail!(
            "it does not build; the messages above say where (of an interface's header that is not there: `interfaces` in \
             component.toml has to name the interface)"
        );
    }
    Ok(())
}
