//! What is booted to measure: a system, in one placement of its components.

use super::catalogue::Benchmark;
use super::native;
use crate::build::Parts;
use crate::placements::Placements;
use anyhow::Result;

/// A system of `bench/systems/` in a placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Booted<'a> {
    /// Its name.
    system: &'a str,
    /// Where instances run of which its description does not say so, if it is measured in all placements.
    placement: Option<Placements>,
}

/// What Linux on the bare machine is called, which is no system of ours.
const NATIVE: &str = "native";

impl<'a> Booted<'a> {
    /// What measures `benchmark`, if a system does.
    pub fn of(benchmark: &'a Benchmark) -> Option<Booted<'a>> {
        let system = benchmark.system.as_deref()?;
        Some(Booted { system, placement: benchmark.placement })
    }

    /// Linux on the bare machine.
    pub const fn native() -> Booted<'a> {
        Booted { system: NATIVE, placement: None }
    }

    /// A system as it is described.
    #[cfg(test)]
    pub const fn as_described(system: &'a str) -> Booted<'a> {
        Booted { system, placement: None }
    }

    /// Whether it has Linux in it.
    pub fn is_of_linux(self) -> bool {
        self.system == NATIVE || native::is_in(self.system)
    }

    /// Its components, built and connected.
    pub fn parts(self, board: Option<&str>) -> Result<Parts> {
        let path = format!("bench/systems/{}.toml", self.system);
        Parts::placed(&path, board, self.placement.unwrap_or_default())
    }

    /// Where its instances run, if that is not as described.
    pub fn variant(self) -> Option<&'static str> {
        self.placement.and_then(Placements::suffix)
    }

    /// Before and behind the names that it reports: those of another placement say so.
    fn marks(self) -> (&'static str, &'static str) {
        let before = match self.system {
            "kernel-driver" => "kernel.driver.",
            native::SYSTEM | native::SIMULATED => native::COMPONENT,
            NATIVE => native::BARE,
            "misses-crowded" => "crowded.",
            "misses-large" => "large.",
            system if system.starts_with("kernel-") => "kernel.",
            _ => "",
        };
        (before, self.placement.map_or("", Placements::name))
    }

    /// What is called so that it reports as `name`.
    pub fn full_name(self, name: &str) -> String {
        match self.marks() {
            (before, "") => format!("{before}{name}"),
            (before, behind) => format!("{before}{name}.{behind}"),
        }
    }

    /// As what it reports the benchmark `name`.
    pub fn reported(self, name: &str) -> &str {
        let (before, behind) = self.marks();
        let name = name.strip_prefix(before).unwrap_or(name);
        name.strip_suffix(behind).map_or(name, |name| name.strip_suffix('.').unwrap_or(name))
    }
}

impl std::fmt::Display for Booted<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        formatter.write_str(&self.full_name(self.system))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_placement_and_systems_do_not_know_it() {
        let plain = Booted::as_described("yields");
        let beside = Booted::as_described("kernel-yields");
        let placed = Booted { system: "placement", placement: Some(Placements::Kernel) };
        for (booted, full) in [(plain, "a.b"), (beside, "kernel.a.b"), (placed, "a.b.kernel")] {
            assert_eq!(booted.full_name("a.b"), full);
            assert_eq!(booted.reported(full), "a.b");
        }
    }
}
