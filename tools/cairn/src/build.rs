//! From a system's name to what QEMU boots.

use crate::paths;
use anyhow::{Result, anyhow, bail};
use cairn_description::System;
use std::path::PathBuf;

/// A system, ready to boot.
#[derive(Clone, Debug)]
pub struct BuiltImage {
    /// The file that the firmware starts.
    pub file: PathBuf,
    /// The nucleus, for its size.
    pub nucleus: PathBuf,
    /// `-machine` and what else makes QEMU the system's board.
    pub machine: Vec<String>,
    /// Files with symbols, each with what to add to its addresses.
    pub symbols: Vec<Symbols>,
    /// The layout report, for people.
    pub report: String,
}

/// A file with symbols.
#[derive(Clone, Debug)]
pub struct Symbols {
    /// The file.
    pub file: PathBuf,
    /// What to add to its addresses.
    pub offset: u64,
}

/// Reads and checks a description: a name in `systems/`, or a file below the root.
pub fn description(system: &str) -> Result<System> {
    cairn_description::load(&paths::root(), system).map_err(|report| anyhow!("{report}"))
}

/// Builds the bootable image of `system`.
pub fn build(system: &str) -> Result<BuiltImage> {
    let system = description(system)?;
    let _ = machine(&system)?;
    bail!("cannot build `{}`: the image builder is not connected yet", *system.name)
}

/// Everything that can be said of `system` without booting it.
pub fn check(system: &str) -> Result<()> {
    build(system).map(|_| ())
}

/// QEMU's arguments for the system's board.
pub fn machine(system: &System) -> Result<Vec<String>> {
    let board = &system.board;
    let Some(qemu) = &board.qemu else {
        bail!(
            "{}: QEMU does not emulate this board; expected a table [qemu] in it",
            board.name.place.path()
        );
    };
    let mut arguments = vec![
        "-machine".to_owned(),
        qemu.machine.clone(),
        "-cpu".to_owned(),
        qemu.cpu.clone(),
        "-m".to_owned(),
        format!("{}k", *board.memory.size / 1024),
        "-smp".to_owned(),
        board.harts.to_string(),
    ];
    arguments.extend(qemu.arguments.iter().cloned());
    Ok(arguments)
}
