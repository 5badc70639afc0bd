//! `./cairn check`: what the build would say of a system, without building it.
//!
//! Components are compiled as drafts, and laid out as large as they were when they were last built. If they cannot be, the
//! build says why.

use crate::build::{Parts, lay_out_with, nucleus, shelf};
use crate::c_component;
use crate::cargo::Purpose;
use crate::placements::Placements;
use crate::{components, lines};
use anyhow::Result;
use cairn_description::model::Instance;
use cairn_description::{Setting, copies};
use cairn_image::Component;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What is to be said of a system without errors.
pub struct Checked {
    /// The components of which only the build knows how large they are, since they were never built, or have changed since.
    unknown: BTreeSet<String>,
    /// A line for each instance that moves.
    moving: Vec<String>,
    /// The packages that have a table and are on no shelf.
    unshelved: Vec<String>,
}

/// Says of a system what its build would say.
pub fn check(
    described: &str,
    board: Option<&str>,
    placements: Placements,
    settings: &[Setting],
) -> Result<Checked> {
    let parts = Parts::compiled(described, board, placements, settings, |_| Purpose::Read)?;
    let nucleus = nucleus()?.0;
    let mut unknown = BTreeSet::new();
    let mut measured = |instance: &Instance, component: &Component| {
        let component = component.clone();
        if c_component::is_one(&instance.folder) {
            return component;
        }
        let built = built(&parts, instance);
        if !built.as_deref().is_some_and(is_current) {
            unknown.insert(instance.folder.clone());
        }
        match built.and_then(|file| Component::read(fs::read(file).ok()?).ok()) {
            Some(built) => component.as_large_as(built),
            None => component.without_code(),
        }
    };
    let instances = parts.system.instances.iter().zip(parts.components());
    let components: Vec<Component> =
        instances.map(|(instance, component)| measured(instance, component)).collect();
    let packages = parts.system.packages.iter().zip(parts.packaged());
    let packaged: Vec<Component> =
        packages.map(|(package, component)| measured(&package.instance, component)).collect();
    let components: Vec<&Component> = components.iter().collect();
    let packaged: Vec<&Component> = packaged.iter().collect();
    let (system, connected) = (&parts.system, &parts.connected);
    // Where they lie and how large they are is in the description: what is in them makes no difference here.
    let contents = [];
    let is_good = shelf(&parts, &packaged).is_ok_and(|shelf| {
        let given = (&*shelf, &contents[..]);
        cairn_image::layout(system, connected, &components, &nucleus, given).is_ok()
    });
    if !is_good {
        lay_out_with(&Parts::varied(described, board, placements, settings)?, &nucleus)?;
        unknown.clear();
    }
    let moving = system.described().iter().filter(|instance| instance.moves.is_some());
    let moving = moving.map(|instance| {
        let to = match instance.host() {
            None => "to the kernel domain".to_owned(),
            Some(host) => format!("into the domain of {}", *system.instances[host].name),
        };
        let begins = "begins in a protection domain of its own, and moves";
        format!("{} {begins} {to} and back", *instance.name)
    });
    let packages = system.packages.iter().filter(|package| !package.is_shelved);
    let unshelved = packages.map(|package| package.instance.name.to_string());
    Ok(Checked { unknown, moving: copies::merged(moving), unshelved: unshelved.collect() })
}

/// The program of an instance that a build made, which may be older than its sources.
fn built(parts: &Parts, instance: &Instance) -> Option<PathBuf> {
    let profile = components::profile(&instance.folder, parts.system.profile).name();
    let draft = parts.file(instance);
    let file = draft.parent()?.parent()?.join(profile).join(draft.file_name()?);
    file.is_file().then_some(file)
}

/// Whether nothing that a program was made of has changed since.
fn is_current(program: &Path) -> bool {
    let time = |file: &Path| fs::metadata(file).and_then(|data| data.modified()).ok();
    let (Some(made), Ok(sources)) = (time(program), lines::noted(program)) else { return false };
    let is_older = |file: &Path| time(file).is_none_or(|changed: SystemTime| changed <= made);
    sources.iter().all(|source| is_older(source))
}

/// What `check` says of a system in which it found no error.
pub fn summary(system: &str, checked: &Checked) -> String {
    let unshelved = (!checked.unshelved.is_empty()).then(|| {
        let names = checked.unshelved.join(", ");
        format!("packages on no `shelf`, so not in the image but for `pack` alone: {names}")
    });
    let lines = checked.moving.iter().chain(&unshelved).map(|line| format!("\n{line}"));
    lines.fold(result(system, &checked.unknown), |text, line| text + &line)
}

/// Which programs it did not measure.
fn result(system: &str, unknown: &BTreeSet<String>) -> String {
    /// Names that fit into a line.
    const NAMED: usize = 3;
    if unknown.is_empty() {
        return format!("{system}: no errors");
    }
    let named: Vec<&str> = unknown.iter().take(NAMED).map(String::as_str).collect();
    let more = match unknown.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "{system}: no errors, but whether programs fit into their memory `build` has to say, since they have changed or were \
         never built: {}{more}",
        named.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_program_is_current_until_one_of_its_sources_changes() {
        let folder = std::env::temp_dir().join(format!("cairn-current-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let [program, source] = ["pump", "main.rs"].map(|name| folder.join(name));
        assert!(!is_current(&program));
        for file in [&source, &program] {
            fs::write(file, "").unwrap();
        }
        let note = format!("{}: {}\n", program.display(), source.display());
        fs::write(folder.join("pump.d"), note).unwrap();
        let changed = |later: u64| {
            let made = fs::metadata(&program).unwrap().modified().unwrap();
            let file = fs::File::options().append(true).open(&source).unwrap();
            file.set_modified(made + Duration::from_secs(later)).unwrap();
        };
        changed(0);
        assert!(is_current(&program));
        changed(1);
        assert!(!is_current(&program));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn who_was_not_measured_is_named() {
        let said =
            |names: &[&str]| result("demo", &names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(said(&[]), "demo: no errors");
        assert!(said(&["a", "b"]).ends_with("never built: a, b"));
        assert!(said(&["a", "b", "c", "d", "e"]).ends_with("never built: a, b, c and 2 more"));
    }
}
