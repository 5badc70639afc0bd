//! Object files to a component.

use super::compile::{Compiler, Object, changed};
use super::{COMPILER, Source, answer};
use crate::{cargo, paths, setup};
use anyhow::{Context, Result, bail};
use object::{Object as _, ObjectSection, ObjectSymbol, SectionFlags};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is set up when code of a component is entered (`lib/c/enter.S`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    has_thread_local: bool,
    has_constructors: bool,
    says_ready: bool,
}

/// Where the file is that says what was set up the last time.
fn memory(output: &Path) -> PathBuf {
    output.join("setup")
}

impl Setup {
    /// Of what was linked.
    pub fn of(executable: &Path) -> Result<Setup> {
        let bytes = fs::read(executable)
            .with_context(|| format!("cannot read {}", executable.display()))?;
        let elf = object::File::parse(&*bytes)
            .with_context(|| format!("cannot read {}", executable.display()))?;
        let address = |name| {
            let symbol = elf.symbols().find(|symbol| symbol.name() == Ok(name));
            symbol.map(|symbol| symbol.address())
        };
        let has_thread_local = elf.sections().any(|section| match section.flags() {
            SectionFlags::Elf { sh_flags } => {
                sh_flags as u32 & object::elf::SHF_TLS != 0 && section.size() > 0
            }
            _ => false,
        });
        let has_constructors = address("cairn_constructors") != address("cairn_constructors_end");
        let says_ready = address("cairn_ready").is_some();
        Ok(Setup { has_thread_local, has_constructors, says_ready })
    }

    /// What there may be, by the end of its macro's name.
    fn parts(&mut self) -> [(&mut bool, &'static str); 3] {
        [
            (&mut self.has_thread_local, "THREAD_LOCAL"),
            (&mut self.has_constructors, "CONSTRUCTORS"),
            (&mut self.says_ready, "READY"),
        ]
    }

    fn names(mut self) -> impl Iterator<Item = &'static str> {
        self.parts().map(|(is_there, name)| (*is_there).then_some(name)).into_iter().flatten()
    }

    /// As the last time.
    pub fn remembered(output: &Path) -> Setup {
        let text = fs::read_to_string(memory(output)).unwrap_or_default();
        let mut setup = Setup::default();
        for (is_there, name) in setup.parts() {
            *is_there = text.lines().any(|line| line == name);
        }
        setup
    }

    pub fn remember(self, output: &Path) -> Result<()> {
        let text = self.names().map(|name| format!("{name}\n")).collect::<String>();
        fs::write(memory(output), text).context("cannot write what was found")
    }

    /// A folder for what another build makes, which does not know when this changes.
    pub fn folder(self) -> String {
        let names = self.names().map(|name| format!("-{}", name.to_lowercase()));
        format!("build{}", names.collect::<String>())
    }

    /// Flags by which sources know.
    pub fn defines(self) -> Vec<String> {
        let mut defines: Vec<String> = self.names().map(|name| format!("-DCAIRN_{name}")).collect();
        if !defines.is_empty() {
            defines.insert(0, "-DCAIRN_ENTERED".to_owned());
        }
        defines
    }
}

/// Symbols that the library leaves to the component, with what the component has to say.
const LEFT: &[(&str, &str)] = &[
    ("cairn_library_console", "it uses stdin, stdout or stderr: write `CAIRN_STDIO(CONSOLE);`"),
    ("cairn_library_clock", "it sleeps by the C library: write `CAIRN_SLEEP(CLOCK);`"),
];

/// Links, if anything has changed.
pub fn link(
    source: &Source,
    compiler: &Compiler,
    objects: &[Object],
    output: &Path,
    executable: &Path,
) -> Result<()> {
    let mut libraries = Vec::new();
    for library in &source.description.libraries {
        libraries.push(match library.get_ref().as_str() {
            // picolibc has it in the same archive.
            "m" | "c" => continue,
            _ => source.existing(library)?,
        });
    }
    let mut arguments = cargo::component_link();
    arguments.extend(["--gc-sections".to_owned(), "--undefined=cairn_first_thread".to_owned()]);
    let files = |of_library| {
        let chosen = objects.iter().filter(move |object| object.is_of_library == of_library);
        chosen.map(|object| object.file.display().to_string())
    };
    let first = match &source.description.debian {
        Some(package) => package.objects(source, output)?,
        None => Vec::new(),
    };
    arguments.extend(first.iter().map(|object| object.display().to_string()));
    arguments.extend(files(false));
    // This linker takes from any archive what any file needs; of two definitions the first counts.
    arguments.extend(libraries.iter().map(|library| library.display().to_string()));
    arguments.push("--start-lib".into());
    arguments.extend(files(true));
    arguments.push("--end-lib".into());
    arguments.extend(archives(compiler)?.iter().map(|archive| archive.display().to_string()));

    let line = format!("{:?} {}", compiler.setup(), arguments.join(" "));
    let record = executable.with_extension("link");
    let script = paths::source().join("lib/cairn/component.ld");
    let is_newer = |made| {
        let inputs = objects.iter().map(|object| &object.file);
        let inputs = inputs.chain(&first).chain(&libraries).chain([&script]);
        inputs.map(|file| changed(file)).all(|time| time.is_some_and(|time| time < made))
    };
    if fs::read_to_string(&record).is_ok_and(|before| before == line)
        && changed(executable).is_some_and(is_newer)
    {
        return Ok(());
    }
    let new = paths::temporary(executable);
    let mut command = linker()?;
    command.args(&arguments).arg("-o").arg(&new);
    let output = command.output().context("cannot start the linker")?;
    let messages = String::from_utf8_lossy(&output.stderr);
    eprint!("{messages}");
    if !output.status.success() {
        for (symbol, hint) in LEFT {
            if messages.contains(symbol) {
                bail!(
                    "{hint} once at a file's top level, with the import's first portal (lib/c/cairn_library.h)"
                );
            }
        }
        if let Some(function) = missing_method(&messages) {
            bail!(
                "no source has the function `{function}`, of an interface that the component exports: write it as the header's macro \
                 `..._SERVER` declares it, or correct its name"
            );
        }
        bail!("it does not link; the messages above say what is missing");
    }
    fs::rename(&new, executable)
        .and_then(|()| fs::write(&record, line))
        .with_context(|| format!("cannot write {}", executable.display()))
}

/// The first function that only the descriptor, or what enters the function, names.
fn missing_method(messages: &str) -> Option<&str> {
    messages.split("undefined symbol: ").skip(1).find_map(|part| {
        let symbol = part.lines().next()?;
        let by = ["(CAIRN_COMPONENT)".to_owned(), format!("({symbol}_entry)")];
        by.iter().any(|by| part.contains(by)).then_some(symbol)
    })
}

/// The beginning of a linker's command line for another build, which adds `-o`, its file, and its objects.
pub fn for_others(compiler: &Compiler, objects: &[Object]) -> Result<String> {
    let mut words = vec![linker_line()?];
    words.extend(cargo::component_link());
    words.extend(["--gc-sections".to_owned(), "--undefined=cairn_first_thread".to_owned()]);
    for is_of_library in [false, true] {
        words.extend(is_of_library.then(|| "--start-lib".to_owned()));
        let chosen = objects.iter().filter(|object| object.is_of_library == is_of_library);
        words.extend(chosen.map(|object| object.file.display().to_string()));
        words.extend(is_of_library.then(|| "--end-lib".to_owned()));
    }
    let archives = archives(compiler)?;
    words.extend(archives.iter().map(|archive| archive.display().to_string()));
    // What other builds add by habit, `-lm`, `-lc`, `-lgcc`, is found where these are.
    let folders = archives.iter().filter_map(|archive| archive.parent());
    words.extend(folders.map(|folder| format!("-L{}", folder.display())));
    Ok(words.join(" "))
}

/// The linker that the Rust components are linked with: GNU ld for the bare machine makes no
/// position-independent executables.
fn linker() -> Result<Command> {
    if let Some(linker) = std::env::var_os("CAIRN_LINKER") {
        return Ok(Command::new(linker));
    }
    let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let library = answer(
        Command::new(rustc).current_dir(paths::source()).args(["--print", "target-libdir"]),
    )?;
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

/// The same as the beginning of a command line.
pub fn linker_line() -> Result<String> {
    let linker = linker()?;
    let words = [linker.get_program()].into_iter().chain(linker.get_args());
    Ok(words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" "))
}

/// The C library and the compiler's own, for the machine.
fn archives(compiler: &Compiler) -> Result<[PathBuf; 2]> {
    let ask =
        |question: &str| answer(Command::new(COMPILER).args(compiler.machine()).arg(question));
    let variant = ask("-print-multi-directory")?;
    let picolibc = Path::new(setup::PICOLIBC).join("lib").join(variant).join("libc.a");
    Ok([picolibc, PathBuf::from(ask("-print-libgcc-file-name")?)])
}
