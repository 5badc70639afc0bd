//! The least that any system can do on a core: what the bare program in `boards/rtl/floor` prints.

use super::catalogue::{Benchmark, Floor};
use super::results::Measured;
use crate::simulator;
use anyhow::{Context, Result, bail};
use std::process::Stdio;

/// Cycles and instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Least {
    /// Cycles.
    pub cycles: f64,
    /// Executed instructions.
    pub instructions: f64,
}

/// What was measured on a core.
#[derive(Clone, Debug, PartialEq)]
pub struct Floors {
    trap: Least,
    /// There and back, in a way that protects domains from each other on this core.
    switch: Least,
    /// There and back with a fence of all translations each way, as for a core of which nothing is known.
    fenced: Least,
}

impl Floors {
    /// Measures them on `machine`, which has so many bits for address-space identifiers.
    pub fn measure(machine: &simulator::Machine, asid_bits: u64) -> Result<Floors> {
        let output = simulator::bare("floor", machine)?
            .stderr(Stdio::inherit())
            .output()
            .context("cannot start the simulator")?;
        let text = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            bail!("boards/rtl/floor ended with {}:\n{text}", output.status);
        }
        Floors::parse(&text, asid_bits)
    }

    /// From lines such as `trap and return`, least cycles, most cycles, instructions, with tabs between.
    fn parse(text: &str, asid_bits: u64) -> Result<Floors> {
        let least = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'));
            let numbers: Option<Vec<f64>> = line
                .and_then(|line| line.split_whitespace().map(|word| word.parse().ok()).collect());
            match numbers.as_deref() {
                Some([cycles, _, instructions]) => {
                    Ok(Least { cycles: *cycles, instructions: *instructions })
                }
                _ => bail!("boards/rtl/floor: expected a line `{name}` with three numbers"),
            }
        };
        let fenced = least("switch and back, all fenced")?;
        // Without identifiers, translations of the domain before hold until there is a fence.
        let safe = if asid_bits == 0 {
            [fenced, least("switch and back, asid fenced")?]
        } else {
            [fenced, least("switch and back, no fence")?]
        };
        let [one, other] = safe;
        let switch = if one.cycles < other.cycles { one } else { other };
        Ok(Floors { trap: least("trap and return")?, switch, fenced })
    }

    /// That of a benchmark.
    pub fn of(&self, benchmark: &Benchmark) -> Option<Least> {
        Some(match benchmark.floor? {
            Floor::Trap => self.trap,
            Floor::Switch => Least {
                cycles: self.switch.cycles / 2.0,
                instructions: self.switch.instructions / 2.0,
            },
        })
    }

    /// Puts the floor of `benchmark` beside its result.
    pub fn put_beside(&self, benchmark: &Benchmark, result: &mut Measured) {
        if let Some(least) = self.of(benchmark) {
            result.floor = Some(least.cycles);
            result.ratio = Some(result.median / least.cycles);
        }
    }

    /// For tests: a switch and back.
    #[cfg(test)]
    pub fn sample(cycles: f64, instructions: f64) -> Floors {
        let switch = Least { cycles, instructions };
        Floors { trap: switch, switch, fenced: switch }
    }

    /// For people.
    pub fn text(&self) -> String {
        format!(
            "floor: trap and return {}, switch and back {} (with full fences {})",
            self.trap.cycles, self.switch.cycles, self.fenced.cycles
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::catalogue::Catalogue;

    const TEXT: &str = "(measuring)\t1\t1\t2\ntrap and return\t15\t16\t5\nswitch and back, no fence\t61\t70\t32\n\
                        switch and back, all fenced\t161\t260\t34\nswitch and back, asid fenced\t103\t135\t34\n";

    #[test]
    fn only_a_protected_switch_is_a_floor() {
        let switch = |asid_bits| Floors::parse(TEXT, asid_bits).unwrap().switch;
        assert_eq!(switch(0), Least { cycles: 103.0, instructions: 34.0 });
        assert_eq!(switch(16), Least { cycles: 61.0, instructions: 32.0 });
    }

    #[test]
    fn a_result_has_its_floor_beside_it() {
        let floors = Floors::parse(TEXT, 16).unwrap();
        let catalogue = Catalogue::read(Some("cva6-rtl")).unwrap();
        let beside = |name: &str| {
            let benchmark = catalogue.find(name).unwrap();
            let mut result = Measured { median: 61.0, ..Measured::default() };
            floors.put_beside(benchmark, &mut result);
            (result.floor, result.ratio)
        };
        assert_eq!(beside("portal.smciii.2"), (Some(30.5), Some(2.0)));
        assert_eq!(beside("portal.short_circuit").0, Some(15.0));
        assert_eq!(beside("restart.console"), (None, None));
    }

    #[test]
    fn a_line_that_is_missing_is_named() {
        let error = Floors::parse("trap and return\t15\n", 0).unwrap_err().to_string();
        assert!(error.contains("expected a line `switch and back, all fenced`"), "{error}");
    }
}
