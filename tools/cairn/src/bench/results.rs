//! What benchmark systems print, and the JSON that is made of it.

use super::booted::Booted;
use super::side_by_side::TrustedLines;
use anyhow::{Context, Result};
use serde::Serialize;

/// One benchmark's result.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
    /// The median of executed instructions, where the results are in cycles and they can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<f64>,
    /// The least that any system can do on the same machine, where that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<f64>,
    /// The median of the same Linux on the bare machine, of what Linux does as a component.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native: Option<f64>,
    /// The median in parts of the floor, or of `native`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// In what it is, if not in the unit of the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// The smallest sample; not part of the JSON's contract.
    #[serde(skip)]
    pub minimum: f64,
}

/// In what results are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Executed instructions.
    Instructions,
    /// Cycles.
    Cycles,
    /// Walks of the page tables, each of which a miss of the TLB began.
    Misses,
    /// Bytes of memory.
    Bytes,
}

impl Unit {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Instructions => "executed instructions",
            Unit::Cycles => "cycles",
            Unit::Misses => "misses of the TLB",
            Unit::Bytes => "bytes",
        }
    }
}

impl Measured {
    /// A figure that is the same each time, so that one sample suffices.
    pub fn once(name: &str, value: u64) -> Measured {
        let value = value as f64;
        Measured {
            name: name.to_owned(),
            median: value,
            p99: value,
            max: value,
            minimum: value,
            samples: 1,
            ..Measured::default()
        }
    }

    /// Reads `name unit divisor minimum median p99 maximum samples`.
    pub fn parse(line: &str) -> Result<(Unit, Measured)> {
        let explain = || {
            format!(
                "\"BENCH {line}\": expected `BENCH name unit divisor minimum median p99 maximum samples`"
            )
        };
        let mut words = line.split_whitespace();
        let name = words.next().with_context(explain)?.to_owned();
        let unit = match words.next() {
            Some("instructions") => Unit::Instructions,
            Some("cycles") => Unit::Cycles,
            Some("misses") => Unit::Misses,
            _ => return Err(anyhow::anyhow!(explain())),
        };
        let numbers: Vec<i64> =
            words.map(str::parse).collect::<Result<_, _>>().with_context(explain)?;
        let [divisor @ 1..=i64::MAX, minimum, median, p99, max, samples @ 1..=i64::MAX] =
            numbers[..]
        else {
            return Err(anyhow::anyhow!(explain()));
        };
        let part = |number: i64| number as f64 / divisor as f64;
        let measured = Measured {
            name,
            median: part(median),
            p99: part(p99),
            max: part(max),
            samples: samples as u64,
            minimum: part(minimum),
            ..Measured::default()
        };
        Ok((unit, measured))
    }

    /// The results in the lines of a console's transcript, in one unit, and misses. Results in cycles have the
    /// instructions beside them.
    pub fn of_transcript(booted: Booted, transcript: &str, unit: Unit) -> Result<Vec<Measured>> {
        let lines = transcript.lines().filter_map(|line| line.strip_prefix("BENCH "));
        let lines: Vec<(Unit, Measured)> = lines
            .map(|line| {
                let (unit, measured) = Measured::parse(line)?;
                let name = booted.full_name(&measured.name);
                Ok((unit, Measured { name, ..measured }))
            })
            .collect::<Result<_>>()?;
        let of_unit = |unit| lines.iter().filter(move |(other, _)| *other == unit);
        let mut results: Vec<Measured> =
            of_unit(unit).map(|(_, measured)| measured.clone()).collect();
        results.extend(
            of_unit(Unit::Misses)
                .map(|(_, measured)| Measured { unit: Some(Unit::Misses), ..measured.clone() }),
        );
        if unit == Unit::Cycles {
            for result in &mut results {
                let beside =
                    of_unit(Unit::Instructions).find(|(_, other)| other.name == result.name);
                result.instructions = beside.map(|(_, other)| other.median);
            }
        }
        Ok(results)
    }
}

/// The JSON object.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// On which machine.
    pub machine: String,
    /// In what the results are.
    pub unit: Unit,
    /// Of this repository, with `-modified` if files differ from it.
    pub commit: String,
    /// The results.
    pub results: Vec<Measured>,
    /// Lines of trusted source by placement, where placements were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trusted_lines: Option<TrustedLines>,
}

impl Report {
    /// Results of this working tree.
    pub fn new(
        machine: String,
        unit: Unit,
        results: Vec<Measured>,
        trusted_lines: Option<TrustedLines>,
    ) -> Report {
        let commit = crate::version::revision().unwrap_or_else(|| "unknown".to_owned());
        Report { machine, unit, commit, results, trusted_lines }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_divided() {
        let (unit, measured) =
            Measured::parse("portal.npciii.2 instructions 2 130 131 131 140 10000").unwrap();
        assert_eq!((unit, measured.name.as_str()), (Unit::Instructions, "portal.npciii.2"));
        assert_eq!(
            (measured.minimum, measured.median, measured.p99, measured.max),
            (65.0, 65.5, 65.5, 70.0)
        );
        assert_eq!(measured.samples, 10_000);
        // A cost less another one may be below zero; hiding that would be a lie.
        assert_eq!(Measured::parse("a cycles 2 -3 -1 1 1 9").unwrap().1.median, -0.5);
    }

    #[test]
    fn bad_lines_say_what_is_expected() {
        for line in [
            "",
            "name",
            "name 1 1 2 3 4 5",
            "name ticks 1 1 2 3 4 5",
            "name cycles 0 1 2 3 4 5",
            "name cycles 1 2 3 4 5",
            "name cycles 1 2 3 x 4 5",
            "name cycles 1 2 3 4 5 0",
            "name cycles 1 2 3 4 5 6 7",
        ] {
            let error = format!("{:#}", Measured::parse(line).unwrap_err());
            assert!(error.contains("expected `BENCH name unit divisor"), "{line}: {error}");
        }
    }

    #[test]
    fn cycles_have_their_instructions_beside_them() {
        let transcript = "boot\nBENCH a cycles 2 8 10 10 10 4\nBENCH a instructions 2 4 4 4 4 4\n\
                          BENCH b cycles 1 7 7 7 7 4\nBENCH c misses 1 0 0 3 3 4\nBENCH-END\n";
        let results =
            Measured::of_transcript(Booted::as_described("calls"), transcript, Unit::Cycles)
                .unwrap();
        let shown: Vec<_> =
            results.iter().map(|r| (&*r.name, r.unit, r.median, r.instructions)).collect();
        let misses = ("c", Some(Unit::Misses), 0.0, None);
        assert_eq!(shown, [("a", None, 5.0, Some(2.0)), ("b", None, 7.0, None), misses]);
        let results =
            Measured::of_transcript(Booted::as_described("calls"), transcript, Unit::Instructions)
                .unwrap();
        assert_eq!((results[0].median, results[0].instructions), (2.0, None));
    }

    #[test]
    fn the_contract_has_these_fields_and_no_others() {
        let (_, measured) = Measured::parse("a instructions 1 1 2 3 4 5").unwrap();
        let report = |unit, result: &Measured| Report {
            machine: "m".into(),
            unit,
            commit: "c".into(),
            results: vec![result.clone()],
            trusted_lines: None,
        };
        let expected = serde_json::json!({
            "machine": "m", "unit": "instructions", "commit": "c",
            "results": [{ "name": "a", "median": 2.0, "p99": 3.0, "max": 4.0, "samples": 5 }],
        });
        let shown = serde_json::to_value(report(Unit::Instructions, &measured)).unwrap();
        assert_eq!(shown, expected);
        let cycles = Measured {
            instructions: Some(1.0),
            floor: Some(0.5),
            ratio: Some(4.0),
            unit: Some(Unit::Misses),
            ..measured
        };
        let expected = serde_json::json!({
            "machine": "m", "unit": "cycles", "commit": "c",
            "results": [{
                "name": "a", "median": 2.0, "p99": 3.0, "max": 4.0, "samples": 5,
                "instructions": 1.0, "floor": 0.5, "ratio": 4.0, "unit": "misses",
            }],
        });
        assert_eq!(serde_json::to_value(report(Unit::Cycles, &cycles)).unwrap(), expected);
    }
}
