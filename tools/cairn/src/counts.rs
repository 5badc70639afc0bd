//! Calls over each connection: `./cairn run --count FILE` counts them, `./cairn check --placements --profile FILE` reads them.
//!
//! A system that counts has a word for each portal. They are read from the emulated machine's memory when the run
//! has ended.

use crate::build::{self, BuiltImage, Parts};
use crate::guest_memory::GuestMemory;
use anyhow::{Context, Result};
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
}

impl Counting {
    /// Builds `system` so that it counts into `file`.
    pub fn new(system: &str, board: Option<&str>, file: &Path) -> Result<Counting> {
        // Now: whoever misspells it should not wait for a run that is lost.
        File::create(file).with_context(|| format!("cannot write {}", file.display()))?;
        let mut parts = Parts::new(system, board)?;
        parts.system.counting = true;
        let system = parts.system.name.to_string();
        let image = build::image(parts, Some(&format!("{}.counting", board.unwrap_or("own"))))?;
        Ok(Counting { image, system, file: file.to_owned() })
    }

    /// Writes the counts of the run that has ended; how many calls they are.
    pub fn write(&self, memory: &GuestMemory) -> Result<u64> {
        let report = self.image.file.with_extension("json");
        let report: Report = serde_json::from_str(&fs::read_to_string(&report)?)?;
        let file = memory.open()?;
        let mut counts = Counts { system: self.system.clone(), calls: Vec::new() };
        for instance in &report.instances {
            for portal in &instance.portals {
                let Some(counter) = portal.counter else { continue };
                let mut word = [0; 8];
                file.read_exact_at(&mut word, counter - memory.base)
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
