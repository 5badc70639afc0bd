//! Components that compute with the floating-point unit: what says so, and where they can run.

use anyhow::{Result, bail};
use cairn_description::System;
use cairn_description::board::Board;
use cairn_description::model::{self, Instance};
use serde::Deserialize;

/// How a component computes with floating-point numbers: the key `float` of `component.toml`, or of the table
/// `package.metadata.cairn` of `Cargo.toml`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Float {
    /// In software, by the compiler's library.
    #[default]
    Soft,
    /// By the unit.
    Hard,
}

impl Float {
    /// Whether it is by the unit.
    pub fn is_hard(self) -> bool {
        self == Float::Hard
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cairn {
    #[serde(default)]
    float: Float,
}

#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    cairn: Cairn,
}

#[derive(Deserialize)]
struct Package {
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Manifest {
    package: Package,
}

/// What the manifest of a package says. The error says where.
pub fn of_manifest(text: &str) -> Result<Float> {
    Ok(toml::from_str::<Manifest>(text)?.package.metadata.cairn.float)
}

/// Refuses a component that computes with the unit where that cannot be.
pub fn check(instance: &Instance, is_hard: bool, board: &Board) -> Result<()> {
    if let Some(error) = instance.processes_with_float(is_hard) {
        bail!("{}", cairn_description::Report::from(error));
    }
    let (place, what, expected, help) = if !is_hard {
        let float = instance.float_at_start.as_ref().filter(|_| !instance.has_float);
        let Some(float) = float else { return Ok(()) };
        (
            &float.place,
            format!("`{}` computes with floating-point numbers in software", instance.name),
            format!(
                "expected a component that says `float = \"hard\"`: that in `{}` does not",
                instance.folder
            ),
            "write it in component.toml, of a component in Rust below [package.metadata.cairn] in its Cargo.toml, or remove \
             this: it says when calls have the floating-point unit",
        )
    } else if !board.float {
        (
            &instance.component.place,
            format!("the board `{}` has no floating-point unit", board.name),
            format!(
                "expected a component without `float = \"hard\"`: that of `{}` says it",
                instance.folder
            ),
            "build it without, or write `float = true` in the board description if its harts have the extensions F and D",
        )
    } else if instance.is_in_kernel() {
        (
            &instance.placement.place,
            format!(
                "`{}` would compute with the floating-point unit in the kernel domain",
                instance.own_name()
            ),
            format!(
                "expected a domain: the component in `{}` says `float = \"hard\"`",
                instance.folder
            ),
            "leave it in a protection domain, or build it without: in the kernel domain the unit is off, since nothing there \
             hands it from one component to the next",
        )
    } else if instance.role.is_some_and(|role| role.runs_to_completion()) {
        (
            &instance.component.place,
            format!(
                "`{}` would compute with the floating-point unit between two threads",
                instance.name
            ),
            format!(
                "expected a component without `float = \"hard\"`: that in `{}` says it",
                instance.folder
            ),
            "build it without: whoever runs to completion has no thread whose registers it could have",
        )
    } else {
        return Ok(());
    };
    let error = cairn_description::Error::new(place, what, expected, help);
    bail!("{}", cairn_description::Report::from(error))
}

/// What portals to an instance do with the unit stays as it is when its content is exchanged: it has the unit if one of its contents is built for
/// that, and the others do without.
pub fn share(system: &mut System, is_hard: impl Fn(&Instance) -> bool) -> Result<()> {
    for place in 0..system.packages.len() {
        let model::Package { replaces: Some(replaced), instance: new, .. } =
            &system.packages[place]
        else {
            continue;
        };
        let old = &system.instances[**replaced];
        let refused = |message: String, expected: &str, help: &str| {
            let error =
                cairn_description::Error::new(&new.component.place, message, expected, help)
                    .note(&replaced.place, format!("it is to replace `{}`", old.name));
            anyhow::Error::msg(cairn_description::Report::from(error).to_string())
        };
        let starts = |one: &Instance| one.float_at_start.as_ref().map(|at_start| **at_start);
        if starts(new) != starts(old) {
            return Err(refused(
                format!(
                    "calls into `{}` would have the unit at another time than those into `{}`",
                    new.name, old.name
                ),
                "expected no `float` of its own",
                "remove it: portals stay as they are",
            ));
        }
        if is_hard(new) && old.role.is_some_and(|role| role.runs_to_completion()) {
            return Err(refused(
                format!(
                    "`{}` would compute with the floating-point unit between two threads",
                    new.name
                ),
                "expected a component without `float = \"hard\"`",
                "build it without: whoever runs to completion has no thread whose registers it could have",
            ));
        }
        let (old, has_float) = (**replaced, is_hard(new) || is_hard(old));
        let places = [Some(old), system.instances[old].other_place];
        for place in places.into_iter().flatten() {
            system.instances[place].has_float |= has_float;
        }
    }
    for package in &mut system.packages {
        let Some(replaced) = &package.replaces else { continue };
        package.instance.has_float = system.instances[**replaced].has_float;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_says_how_it_computes() {
        let of = |text: &str| of_manifest(&format!("[package]\nname = \"x\"\n{text}"));
        assert_eq!(of("").unwrap(), Float::Soft);
        assert_eq!(of("[package.metadata.other]\nfloat = 1").unwrap(), Float::Soft);
        assert_eq!(of("[package.metadata.cairn]\nfloat = \"hard\"").unwrap(), Float::Hard);
        let wrong = of("[package.metadata.cairn]\nfloat = \"double\"").unwrap_err().to_string();
        assert!(wrong.contains("line 4") && wrong.contains("`soft` or `hard`"), "{wrong}");
        let unknown = of("[package.metadata.cairn]\nfloats = \"hard\"").unwrap_err().to_string();
        assert!(unknown.contains("expected `float`"), "{unknown}");
    }
}
