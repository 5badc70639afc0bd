//! What the same work costs in each placement of its system, beside the lines of source that everyone has to trust then.

use super::booted::Booted;
use super::catalogue::{Benchmark, Catalogue};
use super::results::Measured;
use crate::placements::Placements;
use crate::trusted;
use anyhow::Result;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Trusted lines by placement.
pub type TrustedLines = BTreeMap<&'static str, usize>;

/// The trusted lines of the system that was measured in several placements, if one was.
pub fn trusted_lines(
    catalogue: &Catalogue,
    results: &[Measured],
    board: Option<&str>,
) -> Result<Option<TrustedLines>> {
    let mut lines = TrustedLines::new();
    for result in results {
        let Some((benchmark, placement)) = placed(catalogue, result) else { continue };
        if let Some(booted) = Booted::of(benchmark).filter(|_| !lines.contains_key(placement)) {
            lines.insert(placement, trusted::lines(&booted.parts(board)?)?);
        }
    }
    Ok(Some(lines).filter(|lines| !lines.is_empty()))
}

fn placed<'a>(
    catalogue: &'a Catalogue,
    result: &Measured,
) -> Option<(&'a Benchmark, &'static str)> {
    let benchmark = catalogue.find(&result.name)?;
    Some((benchmark, benchmark.placement?.name()))
}

/// A row for each work, a column for each placement.
pub fn table(catalogue: &Catalogue, results: &[Measured], lines: &TrustedLines) -> String {
    let mut rows: Vec<(&str, BTreeMap<&str, f64>)> = Vec::new();
    for result in results {
        let Some((_, placement)) = placed(catalogue, result) else { continue };
        let name = result.name.trim_end_matches(placement).trim_end_matches('.');
        match rows.iter_mut().find(|(other, _)| *other == name) {
            Some((_, row)) => drop(row.insert(placement, result.median)),
            None => rows.push((name, BTreeMap::from([(placement, result.median)]))),
        }
    }
    let lines = lines.iter().map(|(placement, lines)| (*placement, *lines as f64));
    rows.push(("lines of trusted source", lines.collect()));
    let mut text = format!("{:<30}", "the same work, placed");
    for placement in Placements::ALL {
        let _ = write!(text, "{:>11}", placement.name());
    }
    for (name, row) in rows {
        let _ = write!(text, "\n{name:<30}");
        for placement in Placements::ALL {
            let value = row.get(placement.name()).map_or("-".to_owned(), f64::to_string);
            let _ = write!(text, "{value:>11}");
        }
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_work_is_a_row() {
        let catalogue = Catalogue::read(None).unwrap();
        let result = |name: &str, value| Measured::once(name, value);
        let results = [
            result("portal.open", 7),
            result("placement.open.domain", 5),
            result("placement.open.kernel", 3),
            result("placement.chain.system", 2),
        ];
        let lines = TrustedLines::from([("domain", 10), ("system", 20), ("kernel", 30)]);
        let text = table(&catalogue, &results, &lines);
        let words: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().rev().take(3).collect()).collect();
        assert_eq!(
            words,
            [["kernel", "system", "domain"], ["3", "-", "5"], ["-", "2", "-"], ["30", "20", "10"]]
        );
    }
}
