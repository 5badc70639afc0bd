//! `bench/benchmarks.toml` and the figures of other systems in `bench/reference/`.

use crate::paths;
use anyhow::{Context, Result, bail};
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
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Benchmark {
    /// Its name.
    pub name: String,
    /// The system in `bench/systems/` that measures it.
    pub system: Option<String>,
    /// The systems whose traces say it.
    #[serde(default)]
    pub traces: Vec<String>,
    /// Why nothing measures it.
    pub missing: Option<String>,
    /// The most it may cost.
    pub budget: Option<f64>,
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    benchmark: Vec<Benchmark>,
    plot: Vec<Plot>,
}

impl Catalogue {
    /// Reads and checks the files.
    pub fn read() -> Result<Catalogue> {
        let file: File = read("bench/benchmarks.toml")?;
        let references = ["sel4", "linux", "pebble"]
            .iter()
            .map(|name| read(&format!("bench/reference/{name}.toml")))
            .collect::<Result<_>>()?;
        let catalogue = Catalogue { benchmarks: file.benchmark, plots: file.plot, references };
        catalogue.check()?;
        Ok(catalogue)
    }

    fn check(&self) -> Result<()> {
        let mut names = BTreeSet::new();
        for Benchmark { name, system, traces, missing, .. } in &self.benchmarks {
            if !names.insert(name.as_str()) {
                bail!("bench/benchmarks.toml: `{name}` is there twice");
            }
            let given = [system.is_some(), !traces.is_empty(), missing.is_some()];
            if given.iter().filter(|given| **given).count() != 1 {
                bail!(
                    "bench/benchmarks.toml: `{name}`: expected one of `system`, `traces` and `missing`"
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

    /// The benchmarks with `filter` in their name.
    pub fn chosen<'a>(&'a self, filter: &'a str) -> impl Iterator<Item = &'a Benchmark> {
        self.benchmarks.iter().filter(move |benchmark| benchmark.name.contains(filter))
    }
}

impl Plot {
    /// The benchmarks of a series, one for each column.
    pub fn names(&self, series: &str) -> Vec<String> {
        self.columns.iter().map(|column| series.replace('*', column)).collect()
    }
}

fn read<T: DeserializeOwned>(path: &str) -> Result<T> {
    let text = std::fs::read_to_string(paths::root().join(path))
        .with_context(|| format!("cannot read {path}"))?;
    toml::from_str(&text).with_context(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_good() {
        let catalogue = Catalogue::read().unwrap();
        for benchmark in &catalogue.benchmarks {
            if let Some(system) = &benchmark.system {
                let file = paths::root().join(format!("bench/systems/{system}.toml"));
                assert!(file.exists(), "{}: no {}", benchmark.name, file.display());
            }
        }
    }
}
