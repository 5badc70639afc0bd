//! `bench/benchmarks.toml` and the figures of other systems in `bench/reference/`, as they are for QEMU or
//! for a simulated board.

use super::booted::Booted;
use super::native;
use super::results::Measured;
use crate::paths;
use crate::placements::Placements;
use anyhow::{Context, Result, bail};
use cairn_description::{Disk, Files};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};

/// Everything that can be measured and compared.
pub struct Catalogue {
    /// In the order of the table.
    pub benchmarks: Vec<Benchmark>,
    /// The plots.
    pub plots: Vec<Plot>,
    /// Other systems' figures, in the order of the table's columns.
    pub references: Vec<Reference>,
}

/// One benchmark.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Benchmark {
    /// Its name.
    pub name: String,
    /// The system in `bench/systems/` that measures it.
    pub system: Option<String>,
    /// The systems whose traces say it.
    #[serde(default)]
    pub traces: Vec<String>,
    /// Whether the firmware's instructions count as well.
    #[serde(default)]
    pub firmware: bool,
    /// How many instructions of each trace count, if not the usual number.
    pub length: Option<u64>,
    /// Whether its system runs for so long that only QEMU measures it.
    #[serde(default)]
    pub long: bool,
    /// Whether it is the memory that its system takes when it begins: the bytes of its image.
    #[serde(default)]
    pub memory: bool,
    /// Whether only a simulated core has what it counts.
    #[serde(default)]
    pub simulated: bool,
    /// Whether its system computes with the floating-point unit, which not every board has.
    #[serde(default)]
    pub float: bool,
    /// Whether its system drives a device that only QEMU has.
    #[serde(default)]
    pub device: bool,
    /// Whether that answers when the host does, so that medians differ from run to run: then its budget alone holds it.
    #[serde(default)]
    pub hosted: bool,
    /// How soon which component runs after reset; only on simulated boards.
    pub boot: Option<Boot>,
    /// Why nothing measures it.
    pub missing: Option<String>,
    /// The most it may cost: instructions, or cycles of the board.
    pub budget: Option<f64>,
    /// The most that any sample of it may cost.
    pub maximum: Option<u64>,
    /// The most it may cost on simulated boards, by their names.
    #[serde(default)]
    pub cycles: BTreeMap<String, f64>,
    /// The least that any system can do for it.
    pub floor: Option<Floor>,
    /// The most it may cost as a component of Cairn, in parts of what it costs on the bare machine ([`native`]).
    #[serde(skip)]
    pub ratio: Option<f64>,
    /// Of what is measured on the bare machine: the name of the same as a component.
    #[serde(skip)]
    pub native: Option<String>,
    /// Whether a quick run measures it as well.
    #[serde(default)]
    pub quick: bool,
    /// Whether it is measured in all placements of its system.
    #[serde(default)]
    pub placements: bool,
    /// In which of them, whose name is then the last word of its own.
    #[serde(skip)]
    pub placement: Option<Placements>,
}

/// What is waited for after reset, in the system `hello`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Boot {
    /// The first instruction of the first component.
    Any,
    /// The first one of the component that says hello.
    Hello,
}

/// What no system can go below, as `boards/rtl/floor` measures it on each core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Floor {
    /// A trap into supervisor mode and back.
    Trap,
    /// A protected switch to another domain: half of there and back.
    Switch,
}

/// Which benchmarks.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Those with this in their name,
    pub part: String,
    /// and of them only those of a quick run.
    pub quick: bool,
}

/// A plot of several benchmarks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plot {
    /// The file's name.
    pub file: String,
    /// Above the plot.
    pub title: String,
    /// Below it.
    pub across: String,
    /// The values that stand for `*` in the series.
    pub columns: Vec<String>,
    /// The lines: a name for people, and the name of the benchmarks with `*` for the column.
    pub series: BTreeMap<String, String>,
    /// Whether the 99th percentile and the maximum are drawn as well.
    #[serde(default)]
    pub spread: bool,
}

/// Another system's figures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Its name.
    pub system: String,
    /// `instructions` or `cycles`.
    pub unit: String,
    /// By the name of the benchmark.
    pub figures: BTreeMap<String, Figure>,
}

/// A figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The number.
    pub value: f64,
    /// What was measured.
    pub operation: String,
}

/// Why QEMU does not measure the boot.
const FIRMWARE: &str = "in QEMU the firmware's boot would hide it; simulated boards tell";
/// Why QEMU does not count misses.
const EMULATED: &str = "QEMU has no TLB of a core; simulated boards tell";
/// Why simulated boards do not measure what runs for long.
const LENGTH: &str = "it would take a simulated core too long; QEMU counts it";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    benchmark: Vec<Benchmark>,
    #[serde(default)]
    plot: Vec<Plot>,
}

/// Another system's figures on simulated boards.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CycleReference {
    system: String,
    /// By the name of the board.
    figures: BTreeMap<String, BTreeMap<String, Figure>>,
}

impl Catalogue {
    /// Reads and checks the files, for QEMU or for a simulated board.
    pub fn read(board: Option<&str>) -> Result<Catalogue> {
        let File { benchmark, plot } = read("bench/benchmarks.toml")?;
        let references = match board {
            None => ["sel4", "linux", "pebble"]
                .iter()
                .map(|name| read(&format!("bench/reference/{name}.toml")))
                .collect::<Result<_>>()?,
            Some(board) => {
                let mut reference: CycleReference = read("bench/reference/sel4-rtl.toml")?;
                let figures = reference.figures.remove(board).unwrap_or_default();
                vec![Reference { system: reference.system, unit: "cycles".to_owned(), figures }]
            }
        };
        let mut benchmarks: Vec<_> = benchmark.into_iter().flat_map(Benchmark::placed).collect();
        if paths::bench() == paths::source() {
            benchmarks.extend(native::benchmarks(board.is_some())?);
        }
        let mut catalogue = Catalogue { benchmarks, plots: plot, references };
        if paths::bench() != paths::source() {
            // They are figures of what Cairn measures.
            let Catalogue { benchmarks, references, .. } = &mut catalogue;
            let is_known = |name: &str| benchmarks.iter().any(|benchmark| benchmark.name == name);
            references.iter_mut().for_each(|one| one.figures.retain(|name, _| is_known(name)));
        }
        catalogue.check()?;
        for benchmark in &mut catalogue.benchmarks {
            match board {
                Some(board) => benchmark.put_on(board),
                None if benchmark.boot.take().is_some() => {
                    benchmark.missing = Some(FIRMWARE.to_owned());
                }
                None if benchmark.simulated => {
                    benchmark.system = None;
                    benchmark.missing = Some(EMULATED.to_owned());
                }
                None => {}
            }
        }
        Ok(catalogue)
    }

    fn check(&self) -> Result<()> {
        let mut names = BTreeSet::new();
        for benchmark in &self.benchmarks {
            let Benchmark { name, system, traces, boot, missing, native, .. } = benchmark;
            if !names.insert(name.as_str()) {
                bail!("bench/benchmarks.toml: `{name}` is there twice");
            }
            let given = [
                system.is_some(),
                !traces.is_empty(),
                boot.is_some(),
                missing.is_some(),
                native.is_some(),
            ];
            if given.iter().filter(|given| **given).count() != 1 {
                bail!(
                    "bench/benchmarks.toml: `{name}`: expected one of `system`, `traces`, `boot` and `missing`"
                );
            }
        }
        for reference in &self.references {
            if let Some(name) = reference.figures.keys().find(|name| !names.contains(name.as_str()))
            {
                bail!(
                    "the figures of {} have `{name}`, which bench/benchmarks.toml does not",
                    reference.system
                );
            }
        }
        for plot in &self.plots {
            for name in plot.series.values().flat_map(|series| plot.names(series)) {
                if !names.contains(name.as_str()) {
                    bail!(
                        "bench/benchmarks.toml: the plot {} wants `{name}`, which is no benchmark",
                        plot.file
                    );
                }
            }
        }
        Ok(())
    }

    /// The benchmark called `name`.
    pub fn find(&self, name: &str) -> Option<&Benchmark> {
        self.benchmarks.iter().find(|benchmark| benchmark.name == name)
    }

    /// The benchmarks that `filter` chooses.
    pub fn chosen<'a>(&'a self, filter: &'a Filter) -> impl Iterator<Item = &'a Benchmark> {
        self.benchmarks.iter().filter(move |benchmark| {
            benchmark.is_in(&filter.part) && (benchmark.quick || !filter.quick)
        })
    }

    /// Of `measured`, what `filter` chooses, in the catalogue's order.
    pub fn ordered(&self, filter: &Filter, measured: Vec<Measured>) -> Result<Vec<Measured>> {
        if let Some(result) = measured.iter().find(|result| self.find(&result.name).is_none()) {
            bail!(
                "a system measured `{}`, which bench/benchmarks.toml does not have: add it",
                result.name
            );
        }
        // Without what was measured on the way but not asked for.
        let chosen = self
            .chosen(filter)
            .filter_map(|benchmark| measured.iter().find(|result| result.name == benchmark.name));
        Ok(chosen.cloned().collect())
    }

    /// The systems that measure these.
    pub fn systems<'a>(&'a self, filter: &'a Filter) -> BTreeSet<Booted<'a>> {
        self.chosen(filter).filter_map(Booted::of).collect()
    }
}

impl Benchmark {
    /// Whether it is of Linux, which takes long to build: measured only if it is asked for by the beginning of a name, and held by its ratio,
    /// its budget or its maximum alone, as each version of Linux has other medians.
    pub fn is_of_linux(&self) -> bool {
        self.native.is_some() || self.linux().is_some()
    }

    /// The system that measures it, if that has Linux in it.
    fn linux(&self) -> Option<&String> {
        self.system.as_ref().filter(|system| native::is_in(system))
    }

    /// Whether `part` of a name asks for it. Who asks for Linux as a component gets the same on the bare machine.
    fn is_in(&self, part: &str) -> bool {
        let names = [Some(&self.name), self.native.as_ref(), self.linux()];
        names.into_iter().flatten().any(|name| match self.is_of_linux() {
            true => !part.is_empty() && name.starts_with(part),
            false => name.contains(part),
        })
    }

    /// One for each placement in which it is measured.
    fn placed(self) -> Vec<Benchmark> {
        if !self.placements {
            return vec![self];
        }
        let placed = |placement: Placements| Benchmark {
            name: format!("{}.{}", self.name, placement.name()),
            placement: Some(placement),
            ..self.clone()
        };
        Placements::ALL.map(placed).into()
    }

    /// As it is on a simulated board.
    fn put_on(&mut self, board: &str) {
        self.budget = self.cycles.get(board).copied();
        if self.length.is_some() || self.long {
            (self.system, self.traces, self.native) = (None, Vec::new(), None);
            self.missing = Some(LENGTH.to_owned());
        } else if self.device {
            self.system = None;
            self.missing = Some("the board has no such device; QEMU has".to_owned());
        } else if self.float && !has_float(board) {
            self.system = None;
            self.missing = Some("the board has no floating-point unit".to_owned());
        }
    }
}

/// Whether a board has a floating-point unit.
fn has_float(board: &str) -> bool {
    cairn_description::load_board(&paths::files(), board).is_ok_and(|board| board.float)
}

impl Plot {
    /// The benchmarks of a series, one for each column.
    pub fn names(&self, series: &str) -> Vec<String> {
        self.columns.iter().map(|column| series.replace('*', column)).collect()
    }
}

fn read<T: DeserializeOwned>(path: &str) -> Result<T> {
    // A product has others' figures from Cairn.
    let files = Disk::over([paths::bench(), paths::source()]);
    let text = files.read(path).with_context(|| format!("cannot read {path}"))?;
    toml::from_str(&text).with_context(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_good() {
        let catalogue = Catalogue::read(None).unwrap();
        let exists = |file: &str| paths::source().join(file).exists();
        for benchmark in &catalogue.benchmarks {
            if let Some(system) = &benchmark.system {
                let file = format!("bench/systems/{system}.toml");
                assert!(exists(&file), "{}: no {file}", benchmark.name);
            }
            for board in benchmark.cycles.keys() {
                let file = format!("boards/{board}.toml");
                assert!(exists(&file), "{}: no {file}", benchmark.name);
            }
        }
    }

    #[test]
    fn on_a_simulated_board_other_budgets_and_references_hold() {
        let of = |board| {
            let catalogue = Catalogue::read(board).unwrap();
            let call = catalogue.find("portal.smciii.2").unwrap().clone();
            let boot = catalogue.find("boot.component").unwrap().clone();
            let sel4 = catalogue.references[0].figures["portal.smciii.2"].value;
            (call, boot, sel4)
        };
        let (emulated, boot, sel4) = of(None);
        assert_eq!((emulated.budget, sel4), (Some(40.0), 254.5));
        // In QEMU it is the firmware's.
        assert!(boot.missing.is_some());
        for board in ["rocket-rtl", "cva6-rtl"] {
            let (call, boot, sel4) = of(Some(board));
            assert_eq!(call.budget, emulated.cycles.get(board).copied());
            assert!(call.budget.is_some() && sel4 > 400.0);
            assert!(boot.missing.is_none() && boot.budget == Some(200_000.0));
            let late = Catalogue::read(Some(board)).unwrap().find("late.idle").unwrap().clone();
            assert!(late.system.is_none() && late.missing.is_some());
        }
    }

    #[test]
    fn linux_is_measured_beside_the_bare_machine_if_it_is_asked_for() {
        let catalogue = Catalogue::read(None).unwrap();
        let chosen = |part: &str| {
            let filter = Filter { part: part.to_owned(), quick: false };
            catalogue.chosen(&filter).map(|one| one.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(chosen("linux.null"), ["linux.null", "native.null"]);
        assert_eq!(chosen("native.null"), ["native.null"]);
        // Interrupts, and what the bare machine has none of.
        let alone = chosen("linux").len() - 2 * chosen("native").len();
        assert_eq!(alone, chosen("interrupt.timer.linux").len() + 5);
        for other in [chosen(""), chosen("pipe")] {
            assert!(!other.is_empty() && other.iter().all(|name| !name.starts_with("linux")));
        }
    }

    #[test]
    fn a_quick_run_is_a_part_of_the_whole() {
        let catalogue = Catalogue::read(Some("rocket-rtl")).unwrap();
        let count =
            |part: &str, quick| catalogue.chosen(&Filter { part: part.to_owned(), quick }).count();
        let of_linux = catalogue.benchmarks.iter().filter(|one| one.is_of_linux()).count();
        assert_eq!(count("", false), catalogue.benchmarks.len() - of_linux);
        assert!(0 < count("", true) && count("", true) < count("", false));
        assert!(count("portal", true) < count("", true));
        assert_eq!(count("no such name", true), 0);
    }
}
