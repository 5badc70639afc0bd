//! Calls over each connection: `./cairn run --count FILE` counts them, `./cairn check --placements --profile FILE` reads them.
//!
//! A system that counts has a word for each portal. They are read from the emulated machine's memory, which is a file, when the run
//! has ended: nothing in the guest has to answer for it, however it ended.

use crate::build::{self, BuiltImage, Parts};
use crate::machine::{Machine, Options};
use crate::paths;
use anyhow::{Context, Result, bail};
use cairn_image::Report;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// How often each portal of a connection was called.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// The system's name.
    pub system: String,
    /// The calls, in the order of the description. Those of portals that were opened at run time are not among them.
    pub calls: Vec<Calls>,
}

/// The calls of a method over a connection.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calls {
    /// The calling instance.
    pub client: String,
    /// Its import.
    pub import: String,
    /// The method.
    pub method: String,
    /// How many.
    pub calls: u64,
}

impl Counts {
    /// Reads them from a file.
    pub fn read(file: &Path) -> Result<Counts> {
        let text = fs::read_to_string(file)
            .with_context(|| format!("cannot read the counted calls {}", file.display()))?;
        serde_json::from_str(&text).with_context(|| {
            format!("{}: expected what `./cairn run --count FILE` wrote", file.display())
        })
    }
}

/// A system that counts, about to run.
pub struct Counting {
    /// Its image.
    pub image: BuiltImage,
    system: String,
    /// Where the counts go.
    file: PathBuf,
    /// The machine's memory.
    memory: Memory,
    /// Its first physical address.
    base: u64,
    size: u64,
}

/// A file that is no more when this is dropped.
struct Memory(PathBuf);

impl Drop for Memory {
    fn drop(&mut self) {
        // Nothing is lost: it may not have been made yet.
        let _ = fs::remove_file(&self.0);
    }
}

impl Counting {
    /// Builds `system` so that it counts into `file`.
    pub fn new(system: &str, board: Option<&str>, file: &Path) -> Result<Counting> {
        // Now: whoever misspells it should not wait for a run that is lost.
        File::create(file).with_context(|| format!("cannot write {}", file.display()))?;
        let mut parts = Parts::new(system, board)?;
        parts.system.counting = true;
        let [base, size] = [parts.system.board.memory.base, *parts.system.board.memory.size];
        let (system, name) = (parts.system.name.to_string(), parts.system.board.name.clone());
        let image = build::image(parts, Some(&format!("{}.counting", board.unwrap_or("own"))))?;
        if !matches!(image.machine, Machine::Qemu(_)) {
            bail!(
                "--count reads the memory of the emulated machine; expected a board that QEMU emulates: `{name}` is \
                 not one. Run the system on another, with --board"
            );
        }
        let memory = paths::target().join(format!("counted-{}.memory", std::process::id()));
        let memory = Memory(memory);
        Ok(Counting { image, system, file: file.to_owned(), memory, base, size })
    }

    /// What the emulator is told, so that the machine's memory is a file.
    pub fn add_to(&self, options: &mut Options) {
        let backend = format!(
            "memory-backend-file,id=counted,size={},mem-path={},share=on",
            self.size,
            // A comma ends a value, unless there are two.
            self.memory.0.display().to_string().replace(',', ",,")
        );
        let arguments = ["-object", &backend, "-machine", "memory-backend=counted"];
        options.further.extend(arguments.map(str::to_owned));
    }

    /// Writes the counts of the run that has ended; how many calls they are.
    pub fn write(&self) -> Result<u64> {
        let report = self.image.file.with_extension("json");
        let report: Report = serde_json::from_str(&fs::read_to_string(&report)?)?;
        let memory = File::open(&self.memory.0).context("the machine left no memory behind")?;
        let mut counts = Counts { system: self.system.clone(), calls: Vec::new() };
        for instance in &report.instances {
            for portal in &instance.portals {
                let Some(counter) = portal.counter else { continue };
                let mut word = [0; 8];
                memory
                    .read_exact_at(&mut word, counter - self.base)
                    .context("the machine's memory ends before the counters")?;
                counts.calls.push(Calls {
                    client: instance.name.clone(),
                    import: portal.import.clone(),
                    method: portal.method.clone(),
                    calls: u64::from_le_bytes(word),
                });
            }
        }
        fs::write(&self.file, serde_json::to_string_pretty(&counts)? + "\n")
            .with_context(|| format!("cannot write {}", self.file.display()))?;
        Ok(counts.calls.iter().map(|counted| counted.calls).sum())
    }
}
