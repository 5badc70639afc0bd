//! `bench/limits.toml`: the medians that were reached. A median may be at most 3 % above its own.

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

/// A line for each median that is more than 3 % above its limit.
pub fn broken(results: &[Measured]) -> Result<Vec<String>> {
    Ok(above(&read()?, results))
}

fn above(limits: &BTreeMap<String, f64>, results: &[Measured]) -> Vec<String> {
    let mut lines = Vec::new();
    for Measured { name, median, .. } in results {
        match limits.get(name) {
            Some(limit) if *median > limit * TOLERANCE => lines.push(format!(
                "{name}: {median}, expected at most 3 % above {limit}; find what made it slower, or accept it with \
                 `./cairn bench --set-limits`"
            )),
            Some(_) => {}
            None => lines.push(format!("{name} has no limit in bench/limits.toml; `./cairn bench --set-limits` adds it")),
        }
    }
    lines
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

    #[test]
    fn three_percent_are_allowed_and_no_more() {
        let limits = BTreeMap::from([("a".to_owned(), 100.0)]);
        let median = |median: u64| [Measured::parse(&format!("a 10 0 {median} 0 0 1")).unwrap()];
        assert!(above(&limits, &median(1030)).is_empty());
        assert_eq!(above(&limits, &median(1031)).len(), 1);
    }

    #[test]
    fn a_benchmark_without_a_limit_is_an_error() {
        let results = [Measured::parse("b 1 1 1 1 1 1").unwrap()];
        assert!(above(&BTreeMap::new(), &results)[0].contains("has no limit"));
    }
}
