//! Linux as a component beside the same Linux on the bare machine: what is measured of the one in parts of the other.

use super::booted::Booted;
use super::catalogue::Benchmark;
use super::results::{Measured, Unit};
use super::{END, emulated};
use crate::build;
use crate::c_component;
use crate::contents;
use crate::machine::bound;
use crate::{paths, qemu, simulator};
use anyhow::{Context, Result, anyhow, bail};
use cairn_description::Board;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is measured of both.
const ROWS: &str = "bench/linux/benchmarks.toml";
/// The system with the component, and what others with Linux in them begin with.
pub const SYSTEM: &str = "linux";
/// The system with the component that is measured on a simulated core.
pub const SIMULATED: &str = "linux-cycles";
/// What the rows' names begin with: of the component, of the bare machine.
pub const COMPONENT: &str = "linux.";
pub const BARE: &str = "native.";
/// The section of it that both have as their file system.
const FILES: &str = "initramfs";
/// Where the kernel for the bare machine lies: behind what is started first.
const PLACE: &str = "0x80400000";
/// From where the firmware enters an image to where that is on a simulated core.
const BEHIND: u64 = 0x20_0000;
/// From the end of memory there back to the file system, and to the device tree.
const FILES_PLACE: u64 = 0x200_0000;
const DEVICE_TREE_PLACE: u64 = 0x20_0000;
/// Its command line. Behind `entered=`, bench/linux/entry.S writes how much was executed before it.
const COMMAND_LINE: &str = "console=hvc0 quiet panic=-1 norandmaps entered=0000000000000000";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    group: Vec<Group>,
    /// Those of all rows that are measured on simulated cores, too.
    simulated: Vec<String>,
}

/// Rows with one budget.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    /// The most they may cost as a component, in parts of what they cost on the bare machine.
    ratio: Option<f64>,
    rows: Vec<String>,
}

/// All rows, of the component and then of the bare machine, for QEMU or for a simulated board.
pub fn benchmarks(is_simulated: bool) -> Result<Vec<Benchmark>> {
    let text = std::fs::read_to_string(paths::bench().join(ROWS))
        .with_context(|| format!("cannot read {ROWS}"))?;
    let File { group, simulated } = toml::from_str(&text).context(ROWS)?;
    let rows = || group.iter().flat_map(|group| group.rows.iter().map(|row| (row, group.ratio)));
    let is_short = |row| is_simulated && simulated.contains(row);
    let component = rows().map(|(row, ratio)| Benchmark {
        name: format!("{COMPONENT}{row}"),
        system: Some(if is_short(row) { SIMULATED } else { SYSTEM }.to_owned()),
        // Of instructions; a core has other ones.
        ratio: ratio.filter(|_| !is_simulated),
        long: !is_short(row),
        ..Benchmark::default()
    });
    let bare = rows().map(|(row, _)| Benchmark {
        name: format!("{BARE}{row}"),
        native: Some(format!("{COMPONENT}{row}")),
        long: !is_short(row),
        ..Benchmark::default()
    });
    Ok(component.chain(bare).collect())
}

/// Whether it can be measured here: why not.
pub fn unavailable() -> Result<Option<String>> {
    let missing = build::unavailable(&description(SYSTEM))?;
    Ok(missing.map(|missing| missing.to_string()))
}

fn description(system: &str) -> String {
    format!("bench/systems/{system}.toml")
}

/// Makes Linux for the bare machine, and the file system that the component has in `system`: the folder where they are.
fn made(system: &str) -> Result<PathBuf> {
    let folder = paths::target().join("bench/native");
    std::fs::create_dir_all(&folder)?;
    // Commands run elsewhere.
    let folder = paths::real(&folder);
    run(script("native.sh", &folder).env("CAIRN_LINKER", c_component::linker_line()?))?;
    let description = description(system);
    let system = cairn_description::load_from(&paths::files(), &description, None)
        .map_err(|report| anyhow!("{report}"))?;
    let place = system.sections.iter().position(|section| *section.name == FILES);
    let place = place.with_context(|| format!("{description}: no section `{FILES}`"))?;
    let files = folder.join(FILES);
    std::fs::write(&files, contents::of(&system)?.swap_remove(place))
        .with_context(|| format!("cannot write {}", files.display()))?;
    Ok(folder)
}

fn script(name: &str, folder: &Path) -> Command {
    let mut command = Command::new(paths::source().join("bench/linux").join(name));
    command.env("CAIRN_OUTPUT", folder);
    command
}

fn run(command: &mut Command) -> Result<()> {
    let name = paths::shown(Path::new(command.get_program()));
    let status = command.status().with_context(|| format!("cannot start {name}"))?;
    if !status.success() {
        bail!("{name} failed; the messages above say why");
    }
    Ok(())
}

/// The command that boots Linux on the bare core of `board`, with the file system of the component there. It is built before.
pub fn simulated(board: &Board, machine: &simulator::Machine) -> Result<Command> {
    let folder = made(SIMULATED)?;
    let entry = *board.load_address;
    let kernel = entry + BEHIND;
    let end = board.memory.base + *board.memory.size;
    let (files, device_tree) = (end - FILES_PLACE, end - DEVICE_TREE_PLACE);
    let size = std::fs::metadata(folder.join(FILES))?.len();
    let mut command = script("cycles/bare.sh", &folder);
    command.env("COMMAND_LINE", COMMAND_LINE).env("TIME_BASE", board.time_base.to_string());
    for (name, value) in [
        ("MEMORY", entry),
        ("MEMORY_SIZE", end - entry),
        ("ENTRY", entry),
        ("KERNEL", kernel),
        ("DEVICE_TREE", device_tree),
        ("FILES", files),
        ("FILES_END", files + size),
    ] {
        command.env(name, format!("{value:#x}"));
    }
    run(&mut command)?;
    let placed = [
        ("entry-simulated.bin", entry),
        ("Image", kernel),
        (FILES, files),
        ("device-tree", device_tree),
    ];
    simulator::loaded(machine, &placed.map(|(name, place)| (folder.join(name), place)))
}

/// Builds Linux for the bare machine, boots it with the file system of the component. What it measures; `Err` if it broke down, with what it
/// had measured by then.
pub fn measure() -> Result<(Vec<Measured>, Result<()>)> {
    let folder = made(SYSTEM)?;
    let mut command = bound(qemu::PROGRAM);
    command.args(["-machine", "virt", "-cpu", "rv64", "-m", "128M"]);
    command.args(["-icount", "shift=0,sleep=off"]);
    command.args(["-display", "none", "-monitor", "none", "-serial", "stdio", "-no-reboot"]);
    command.args(["-bios", "default", "-kernel"]).arg(folder.join("entry.bin"));
    let kernel = folder.join("Image");
    let loaded = format!("loader,file={},addr={PLACE},force-raw=on", kernel.display());
    command.args(["-device", &loaded, "-append", COMMAND_LINE, "-initrd"]).arg(folder.join(FILES));
    let (transcript, ended) = emulated::converse(command, END)?;
    let ended = ended.with_context(|| format!("Linux on the bare machine:\n{transcript}\n"));
    Ok((Measured::of_transcript(Booted::native(), &transcript, Unit::Instructions)?, ended))
}

/// Whether `system` has Linux in it.
pub fn is_in(system: &str) -> bool {
    system.starts_with(SYSTEM)
}

/// Puts what was measured of the bare machine beside what was of the component, in the same results.
pub fn put_beside_each_other(results: &mut [Measured]) {
    let medians: BTreeMap<_, _> =
        results.iter().map(|one| (one.name.clone(), one.median)).collect();
    put_beside(|name| medians.get(name).copied(), results);
}

/// Puts what the bare machine takes beside what was measured of the component.
pub fn put_beside(bare: impl Fn(&str) -> Option<f64>, results: &mut [Measured]) {
    for result in results {
        let Some(row) = result.name.strip_prefix(COMPONENT) else { continue };
        result.native = bare(&format!("{BARE}{row}"));
        result.ratio = result.native.map(|native| result.median / native);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_of_the_component_has_one_of_the_bare_machine() {
        let benchmarks = benchmarks(false).unwrap();
        let null = benchmarks.iter().find(|one| one.name == "linux.null").unwrap();
        assert_eq!((null.ratio, null.native.as_deref()), (Some(1.2), None));
        let of = |name: &str| benchmarks.iter().filter(|one| one.name.starts_with(name)).count();
        assert_eq!((of("linux."), of("linux.")), (of("native."), benchmarks.len() / 2));
    }

    #[test]
    fn a_simulated_core_measures_some_of_them() {
        let benchmarks = benchmarks(true).unwrap();
        let short: Vec<_> = benchmarks.iter().filter(|one| !one.long).collect();
        assert!(short.iter().any(|one| one.name == "native.pipe"));
        let systems = short.iter().filter_map(|one| one.system.as_deref());
        assert_eq!(systems.collect::<Vec<_>>(), vec![SIMULATED; short.len() / 2]);
    }

    #[test]
    fn a_ratio_is_of_the_same_row() {
        let mut results =
            ["linux.null", "linux.read", "native.null"].map(|name| Measured::once(name, 120));
        put_beside(|name| (name == "native.null").then_some(100.0), &mut results);
        let ratios = results.map(|result| (result.native, result.ratio));
        assert_eq!(ratios, [(Some(100.0), Some(1.2)), (None, None), (None, None)]);
    }
}
