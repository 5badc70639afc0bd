//! `bench/limits.toml`, and a file for each simulated board: the medians that were reached, and how far above its own a median may be.

use super::catalogue::{Benchmark, Catalogue, Filter};
use super::results::{Measured, Unit};
use crate::paths;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// In percent. With not an instruction more, a path takes up to 6 % more cycles when its code comes to lie elsewhere in the caches; the
/// instructions of the same path are held on QEMU.
fn tolerance(unit: Unit) -> f64 {
    match unit {
        Unit::Cycles => 8.0,
        _ => 3.0,
    }
}

/// The limits of QEMU or of a simulated board.
pub struct Limits {
    /// Behind `./cairn bench`, to say how they are written.
    options: String,
    unit: Unit,
    file: PathBuf,
}

impl Limits {
    /// Those of QEMU, or of a simulated board. A quick run has its own: in each of the two the images are
    /// others, and lie differently in the caches.
    pub fn of(board: Option<&str>, quick: bool) -> Limits {
        match board {
            None => Limits {
                options: String::new(),
                unit: Unit::Instructions,
                file: paths::bench().join("bench/limits.toml"),
            },
            Some(board) => {
                let (option, part) = if quick { (" --quick", "-quick") } else { ("", "") };
                Limits {
                    options: format!(" --board {board}{option}"),
                    unit: Unit::Cycles,
                    file: paths::bench().join(format!("bench/limits-{board}{part}.toml")),
                }
            }
        }
    }

    /// Whether they were written.
    pub fn exist(&self) -> bool {
        self.file.exists()
    }

    /// Medians by the benchmarks' names.
    pub fn read(&self) -> Result<BTreeMap<String, f64>> {
        let text = std::fs::read_to_string(&self.file).with_context(|| {
            format!(
                "cannot read {}; `./cairn bench{} --set-limits` writes it",
                paths::shown(&self.file),
                self.options
            )
        })?;
        toml::from_str(&text).with_context(|| paths::shown(&self.file))
    }

    /// A line for each chosen benchmark that gave no result, or whose median is above its budget or
    /// further above its limit than allowed.
    pub fn broken(
        &self,
        catalogue: &Catalogue,
        filter: &Filter,
        results: &[Measured],
    ) -> Result<Vec<String>> {
        let limits = self.read()?;
        let measurable = catalogue.chosen(filter).filter(|benchmark| benchmark.missing.is_none());
        Ok(measurable.filter_map(|benchmark| self.complaint(benchmark, &limits, results)).collect())
    }

    /// Writes the medians of `results` as limits, of the benchmarks that have some; the limits of others stay.
    pub fn write(&self, catalogue: &Catalogue, results: &[Measured]) -> Result<()> {
        let mut limits = if self.exist() { self.read()? } else { BTreeMap::new() };
        let differs = |name: &str| {
            let is_other =
                |one: &&Benchmark| one.hosted || one.is_of_linux() && one.native.is_none();
            catalogue.benchmarks.iter().filter(is_other).any(|one| one.name == name)
        };
        let held = results.iter().filter(|result| !differs(&result.name));
        limits.extend(held.map(|result| (result.name.clone(), result.median)));
        let (unit, options, tolerance) = (self.unit.name(), &self.options, tolerance(self.unit));
        let mut text = format!(
            "# The medians that were reached, in {unit}. `./cairn bench{options} --check` fails when one is
# more than {tolerance} % above; `./cairn bench{options} --set-limits` writes this file.\n"
        );
        for (name, limit) in &limits {
            text += &format!("\"{name}\" = {limit:?}\n");
        }
        std::fs::write(&self.file, text)
            .with_context(|| format!("cannot write {}", paths::shown(&self.file)))
    }

    fn complaint(
        &self,
        benchmark: &Benchmark,
        limits: &BTreeMap<String, f64>,
        results: &[Measured],
    ) -> Option<String> {
        let name = &benchmark.name;
        let Some(result) = results.iter().find(|result| result.name == *name) else {
            return Some(format!(
                "{name}: no result; the system that measures it did not get so far"
            ));
        };
        let median = result.median;
        let tolerance = tolerance(self.unit);
        if let Some(maximum) = benchmark.maximum.filter(|most| result.max > *most as f64) {
            let max = result.max;
            return Some(format!("{name}: {max} once, expected at most {maximum}"));
        }
        if let Some(budget) = benchmark.budget.filter(|most| median > *most) {
            return Some(format!("{name}: {median}, expected at most its budget, {budget}"));
        }
        if benchmark.is_of_linux() {
            let most = benchmark.ratio?;
            return match result.ratio {
                None => Some(format!(
                    "{name}: not known of the bare machine; `./cairn bench native --set-limits` writes that to {}",
                    paths::shown(&self.file)
                )),
                Some(ratio) if ratio > most => Some(format!(
                    "{name}: {ratio:.3} of what it costs on the bare machine, expected at most {most}"
                )),
                Some(_) => None,
            };
        }
        match limits.get(name) {
            Some(limit) if median > limit * (1.0 + tolerance / 100.0) => Some(format!(
                "{name}: {median}, expected at most {tolerance} % above {limit}; find what made it slower, or accept it with \
             `./cairn bench{} --set-limits`",
                self.options
            )),
            None if benchmark.hosted => None,
            None => Some(format!(
                "{name}: no limit in {}; `./cairn bench{} --set-limits` adds it",
                paths::shown(&self.file),
                self.options
            )),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complain(median: Option<u64>, budget: Option<f64>, limit: Option<f64>) -> Option<String> {
        let benchmark = Benchmark { name: "a".to_owned(), budget, ..Benchmark::default() };
        let limits = limit.map(|limit| ("a".to_owned(), limit)).into_iter().collect();
        let result =
            |median| Measured::parse(&format!("a instructions 10 0 {median} 0 0 1")).unwrap().1;
        let results: Vec<Measured> = median.map(result).into_iter().collect();
        Limits::of(None, false).complaint(&benchmark, &limits, &results)
    }

    #[test]
    fn three_percent_are_allowed_and_no_more() {
        assert_eq!(complain(Some(1030), None, Some(100.0)), None);
        assert!(complain(Some(1031), None, Some(100.0)).unwrap().contains("3 % above 100"));
    }

    #[test]
    fn cycles_may_be_eight_percent_above_and_no_more() {
        let limits = Limits::of(Some("rocket-rtl"), true);
        let complain = |median| {
            let benchmark = Benchmark { name: "a".to_owned(), ..Benchmark::default() };
            let measured = [Measured::once("a", median)];
            limits.complaint(&benchmark, &[("a".to_owned(), 100.0)].into(), &measured)
        };
        assert_eq!(complain(108), None);
        assert!(complain(109).unwrap().contains("8 % above 100"));
    }

    #[test]
    fn above_the_budget_nothing_is_allowed() {
        assert_eq!(complain(Some(1000), Some(100.0), Some(100.0)), None);
        assert!(
            complain(Some(1010), Some(100.0), Some(100.0)).unwrap().contains("its budget, 100")
        );
    }

    #[test]
    fn linux_is_held_by_its_ratio() {
        let catalogue = Catalogue::read(None).unwrap();
        let null = catalogue.find("linux.null").unwrap();
        let complain = |ratio| {
            let result = Measured { ratio, ..Measured::once("linux.null", 200) };
            Limits::of(None, false).complaint(null, &BTreeMap::new(), &[result])
        };
        assert_eq!(complain(Some(1.2)), None);
        assert!(complain(None).unwrap().contains("not known of the bare machine"));
        assert!(complain(Some(1.201)).unwrap().contains("1.201 of what it costs"));
    }

    #[test]
    fn a_benchmark_without_a_limit_or_a_result_is_an_error() {
        assert!(complain(Some(1), None, None).unwrap().contains("no limit"));
        assert!(complain(None, None, Some(1.0)).unwrap().contains("no result"));
    }
}
