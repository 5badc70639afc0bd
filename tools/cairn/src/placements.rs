//! The same description in other placements: where instances run of which it does not say so.

use crate::unsafe_code;
use cairn_description::System;
use cairn_description::model::Instance;
use clap::ValueEnum;
use serde::Deserialize;

/// Where instances run of which the description does not say so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Placements {
    /// Each in a protection domain of its own
    #[default]
    Domain,
    /// The system's components in the kernel domain
    System,
    /// All that can be there in the kernel domain
    Kernel,
}

/// Where the system's components are, those without a role too.
const SYSTEM: &str = "components/system/";

impl Placements {
    /// All of them, the least trusting first.
    pub const ALL: [Placements; 3] = [Placements::Domain, Placements::System, Placements::Kernel];

    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Placements::Domain => "domain",
            Placements::System => "system",
            Placements::Kernel => "kernel",
        }
    }

    /// Behind the name of a system, if it is not as its description says.
    pub const fn suffix(self) -> Option<&'static str> {
        match self {
            Placements::Domain => None,
            other => Some(other.name()),
        }
    }

    /// Places the instances of `system`. What has unsafe code that the description does not trust stays where it is.
    pub fn apply(self, system: &mut System) {
        system.place_in_kernel(|instance| {
            let is_asked = match self {
                Placements::Domain => false,
                Placements::System => is_of_system(instance),
                Placements::Kernel => true,
            };
            is_asked && unsafe_code::is_forbidden(&instance.folder)
        });
    }
}

/// Whether it is one of the system's own components.
pub fn is_of_system(instance: &Instance) -> bool {
    instance.role.is_some() || instance.folder.starts_with(SYSTEM)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths;

    /// The names of who is in the kernel domain, or of who is not.
    fn names(system: &str, placements: Placements, in_kernel: bool) -> Vec<String> {
        let mut system = cairn_description::load_from(&paths::files(), system, None).unwrap();
        placements.apply(&mut system);
        let instances = system.instances.iter().filter(|one| one.is_in_kernel() == in_kernel);
        instances.map(|instance| instance.name.to_string()).collect()
    }

    #[test]
    fn a_placement_takes_who_is_asked_for() {
        let system = [
            "scheduler",
            "interrupts",
            "idle",
            "supervisor",
            "memory",
            "names",
            "portals",
            "clock",
            "log",
            "shelf",
        ];
        assert_eq!(names("demo", Placements::Domain, true), [""; 0]);
        assert_eq!(names("demo", Placements::System, true), system);
    }

    #[test]
    fn who_cannot_be_in_the_kernel_domain_stays_outside() {
        // Their stacks are too large.
        assert_eq!(names("demo", Placements::Kernel, false), ["shell", "loader"]);
        // It is in C.
        assert!(
            names("tests/c_component/c_component", Placements::Kernel, false)
                .contains(&"greeter".to_owned())
        );
        // It shares its stacks.
        assert!(
            names("bench/systems/calls", Placements::Kernel, false).contains(&"link3".to_owned())
        );
    }

    #[test]
    fn what_a_description_says_stays() {
        // An instance of the same component says `placement = "domain"`, and another that it is with that one.
        let outside = names("bench/systems/kernel", Placements::Kernel, false);
        assert_eq!(outside, ["far", "sharer"]);
        assert!(
            names("bench/systems/kernel", Placements::Domain, true).contains(&"inside".to_owned())
        );
    }
}
