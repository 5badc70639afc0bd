//! What benchmark systems print, and the JSON that is made of it.

use crate::paths;
use anyhow::{Context, Result};
use serde::Serialize;
use std::process::Command;

/// One benchmark's result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Its name.
    pub name: String,
    /// The median.
    pub median: f64,
    /// 99 of 100 samples are at most this.
    pub p99: f64,
    /// The largest sample.
    pub max: f64,
    /// How many samples.
    pub samples: u64,
    /// The smallest sample; not part of the JSON's contract.
    #[serde(skip)]
    pub minimum: f64,
}

impl Measured {
    /// Reads `name divisor minimum median p99 maximum samples`.
    pub fn parse(line: &str) -> Result<Measured> {
        let explain = || {
            format!(
                "\"BENCH {line}\": expected `BENCH name divisor minimum median p99 maximum samples`"
            )
        };
        let mut words = line.split_whitespace();
        let name = words.next().with_context(explain)?.to_owned();
        let numbers: Vec<u64> =
            words.map(str::parse).collect::<Result<_, _>>().with_context(explain)?;
        let [divisor @ 1..=u64::MAX, minimum, median, p99, max, samples] = numbers[..] else {
            return Err(anyhow::anyhow!(explain()));
        };
        let part = |number: u64| number as f64 / divisor as f64;
        Ok(Measured {
            name,
            median: part(median),
            p99: part(p99),
            max: part(max),
            samples,
            minimum: part(minimum),
        })
    }
}

/// The JSON object.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// On which machine.
    pub machine: String,
    /// `instructions` or `cycles`.
    pub unit: String,
    /// Of this repository, with `-modified` if files differ from it.
    pub commit: String,
    /// The results.
    pub results: Vec<Measured>,
}

impl Report {
    /// Results of this working tree.
    pub fn new(results: Vec<Measured>) -> Result<Report> {
        Ok(Report {
            machine: "qemu-virt rv64 -icount shift=0".to_owned(),
            unit: "instructions".to_owned(),
            commit: commit()?,
            results,
        })
    }
}

fn commit() -> Result<String> {
    let git = |arguments: &[&str]| -> Result<String> {
        let output = Command::new("git")
            .arg("-C")
            .arg(paths::root())
            .args(arguments)
            .output()
            .context("cannot run git")?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let hash = git(&["rev-parse", "HEAD"])?;
    let modified = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Ok(match (hash.as_str(), modified.as_str()) {
        ("", _) => "unknown".to_owned(),
        (_, "") => hash,
        _ => hash + "-modified",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_divided() {
        let measured = Measured::parse("portal.npciii.2 2 130 131 131 140 10000").unwrap();
        assert_eq!(measured.name, "portal.npciii.2");
        assert_eq!(
            (measured.minimum, measured.median, measured.p99, measured.max),
            (65.0, 65.5, 65.5, 70.0)
        );
        assert_eq!(measured.samples, 10_000);
    }

    #[test]
    fn bad_lines_say_what_is_expected() {
        for line in [
            "",
            "name",
            "name 0 1 2 3 4 5",
            "name 1 2 3 4 5",
            "name 1 2 3 x 4 5",
            "name 1 2 3 4 5 6 7",
        ] {
            let error = format!("{:#}", Measured::parse(line).unwrap_err());
            assert!(error.contains("expected `BENCH name divisor"), "{line}: {error}");
        }
    }

    #[test]
    fn the_contract_has_these_fields_and_no_others() {
        let report = Report {
            machine: "m".into(),
            unit: "instructions".into(),
            commit: "c".into(),
            results: vec![Measured::parse("a 1 1 2 3 4 5").unwrap()],
        };
        let expected = serde_json::json!({
            "machine": "m", "unit": "instructions", "commit": "c",
            "results": [{ "name": "a", "median": 2.0, "p99": 3.0, "max": 4.0, "samples": 5 }],
        });
        assert_eq!(serde_json::to_value(&report).unwrap(), expected);
    }
}
