//! The same description in other placements: where instances run of which it does not say so.

use crate::sources;
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
            is_asked && sources::forbids_unsafe_code(&instance.folder)
        });
    }
}

/// Whether it is one of the system's own components.
pub fn is_of_system(instance: &Instance) -> bool {
    instance.role.is_some() || instance.folder.starts_with(SYSTEM)
}
