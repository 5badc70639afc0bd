//! `bench/limits.toml`: the medians that were reached. A median may be at most 3 % above its own.

use super::catalogue::{Benchmark, Catalogue};
use super::results::Measured;
use crate::paths;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::PathBuf;

const TOLERANCE: f64 = 1.03;
const HEAD: &str = "# The medians that were reached, in executed instructions. `./cairn bench --check` fails when one is
# more than 3 % above; `./cairn bench --set-limits` writes this file.
";

fn file() -> PathBuf {
    paths::root().join("bench/limits.toml")
}

fn read() -> Result<BTreeMap<String, f64>> {
    let file = file();
    let text = std::fs::read_to_string(&file).with_context(|| {
        format!("cannot read {}; `./cairn bench --set-limits` writes it", paths::shown(&file))
    })?;
    toml::from_str(&text).with_context(|| paths::shown(&file))
}

/// A line for each benchmark of the catalogue with `filter` in its name that gave no result, or whose
/// median is above its budget or more than 3 % above its limit.
pub fn broken(catalogue: &Catalogue, filter: &str, results: &[Measured]) -> Result<Vec<String>> {
    let limits = read()?;
    let measurable = catalogue.chosen(filter).filter(|benchmark| benchmark.missing.is_none());
    Ok(measurable.filter_map(|benchmark| complaint(benchmark, &limits, results)).collect())
}

fn complaint(
    benchmark: &Benchmark,
    limits: &BTreeMap<String, f64>,
    results: &[Measured],
) -> Option<String> {
    let name = &benchmark.name;
    let Some(result) = results.iter().find(|result| result.name == *name) else {
        return Some(format!("{name}: no result; the system that measures it did not get so far"));
    };
    let median = result.median;
    match (benchmark.budget, limits.get(name)) {
        (Some(budget), _) if median > budget => {
            Some(format!("{name}: {median}, expected at most its budget, {budget}"))
        }
        (_, Some(limit)) if median > limit * TOLERANCE => Some(format!(
            "{name}: {median}, expected at most 3 % above {limit}; find what made it slower, or accept it with \
             `./cairn bench --set-limits`"
        )),
        (_, None) => Some(format!(
            "{name}: no limit in bench/limits.toml; `./cairn bench --set-limits` adds it"
        )),
        _ => None,
    }
}

/// Writes the medians of `results` as limits; the limits of others stay.
pub fn write(results: &[Measured]) -> Result<()> {
    let mut limits = if file().exists() { read()? } else { BTreeMap::new() };
    limits.extend(results.iter().map(|result| (result.name.clone(), result.median)));
    let mut text = HEAD.to_owned();
    for (name, limit) in &limits {
        text += &format!("\"{name}\" = {limit:?}\n");
    }
    std::fs::write(file(), text).with_context(|| format!("cannot write {}", paths::shown(&file())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complain(median: Option<u64>, budget: Option<f64>, limit: Option<f64>) -> Option<String> {
        let benchmark = Benchmark {
            name: "a".to_owned(),
            system: Some("s".to_owned()),
            traces: Vec::new(),
            missing: None,
            budget,
        };
        let limits = limit.map(|limit| ("a".to_owned(), limit)).into_iter().collect();
        let result = |median| Measured::parse(&format!("a 10 0 {median} 0 0 1")).unwrap();
        let results: Vec<Measured> = median.map(result).into_iter().collect();
        complaint(&benchmark, &limits, &results)
    }

    #[test]
    fn three_percent_are_allowed_and_no_more() {
        assert_eq!(complain(Some(1030), None, Some(100.0)), None);
        assert!(complain(Some(1031), None, Some(100.0)).unwrap().contains("3 % above 100"));
    }

    #[test]
    fn above_the_budget_nothing_is_allowed() {
        assert_eq!(complain(Some(1000), Some(100.0), Some(100.0)), None);
        assert!(
            complain(Some(1010), Some(100.0), Some(100.0)).unwrap().contains("its budget, 100")
        );
    }

    #[test]
    fn a_benchmark_without_a_limit_or_a_result_is_an_error() {
        assert!(complain(Some(1), None, None).unwrap().contains("no limit"));
        assert!(complain(None, None, Some(1.0)).unwrap().contains("no result"));
    }
}
