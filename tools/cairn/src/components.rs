//! The components of a system, compiled: what is compiled together, so that both sides of a machine have work and nothing
//! is compiled twice.

use crate::cargo::{self, Kind, Purpose};
use crate::known::Known;
use crate::paths::{self, Workspace};
use crate::{build, c_component, float, packages, sources, unsafe_code};
use anyhow::{Context, Result, anyhow, bail};
use cairn_description::model::Profile;
use cairn_image::Component;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Components and their files, by their folders.
pub type Components = BTreeMap<String, (PathBuf, Component)>;

/// Those that were compiled, and as what.
static KNOWN: Known<(String, Purpose), (PathBuf, Component)> = Known::new();

/// Builds the component in a folder, as a description calls it, as a system in development has it.
pub fn component(folder: &str) -> Result<Component> {
    let mut components = all([folder])?;
    Ok(components.remove(folder).expect("it was compiled").1)
}

/// The same for the components in several folders.
pub fn all<'a>(folders: impl IntoIterator<Item = &'a str>) -> Result<Components> {
    let in_development = |folder: &str| Purpose::Run(profile(folder, Profile::Development));
    let components = compile(folders, in_development)?;
    check_calls(&components)?;
    Ok(components)
}

/// The profile of the component in a folder in a system of that profile. What a system trusts has one only, so that what is
/// measured, tested and shipped are the same instructions: its own arithmetic is checked in its tests on the host.
pub(crate) fn profile(folder: &str, of_system: Profile) -> Profile {
    let is_of_cairn = is_of_cairn(&paths::component(folder), &paths::source());
    if is_of_cairn { Profile::Release } else { of_system }
}

/// Whether it is a system component of the Cairn in that folder; a product may have a folder of this name.
fn is_of_cairn(component: &Path, cairn: &Path) -> bool {
    component.starts_with(cairn.join("components/system"))
}

/// Compiles the components in these folders, for what `purpose` says of each.
///
/// Cargo compiles a library with the features that all packages ask of it which are compiled together. So those that ask for
/// different ones are not: each component is compiled once, and is the same in every system.
pub(crate) fn compile<'a>(
    folders: impl IntoIterator<Item = &'a str>,
    purpose: impl Fn(&str) -> Purpose,
) -> Result<Components> {
    type Way = (Workspace, Kind, Purpose, BTreeSet<String>);
    let mut packages = BTreeMap::<Way, BTreeMap<&str, String>>::new();
    let mut components = BTreeMap::new();
    for folder in folders {
        if let Some(known) = KNOWN.get(&(folder.to_owned(), purpose(folder))) {
            components.insert(folder.to_owned(), known);
        } else if !c_component::is_one(folder) {
            let Package { name, workspace, kind, features } = package(folder)?;
            let way = (workspace, kind, purpose(folder), features);
            packages.entry(way).or_default().insert(folder, name);
        } else if !components.contains_key(folder) {
            components.insert(folder.to_owned(), c_component::build(folder)?);
        }
    }
    for ((workspace, kind, purpose, _), packages) in packages {
        let names: Vec<&str> = packages.values().map(String::as_str).collect();
        let executables = cargo::executables(&workspace, kind, purpose, &names)?;
        for (folder, package) in packages {
            let file = executables[&package].clone();
            sources::check(folder, &file)?;
            let component = from_file(folder, &file)?;
            components.insert(folder.to_owned(), (file, component));
        }
    }
    for (folder, built) in &components {
        KNOWN.insert((folder.clone(), purpose(folder)), built);
    }
    Ok(components)
}

fn from_file(folder: &str, file: &Path) -> Result<Component> {
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    Component::read(bytes).map_err(|error| anyhow!("component `{folder}`: {error}"))
}

/// Refuses components in Rust with calls that their sources cannot have made.
pub(crate) fn check_calls(components: &Components) -> Result<()> {
    for (folder, (file, component)) in components {
        if !c_component::is_one(folder) {
            build::check_calls(component, unsafe_code::is_forbidden_in(folder))
                .with_context(|| format!("component `{folder}` ({})", paths::shown(file)))?;
        }
    }
    Ok(())
}

/// A component's package.
struct Package {
    name: String,
    /// Where it is built.
    workspace: Workspace,
    /// What it is built as.
    kind: Kind,
    /// What it asks of those that it depends on.
    features: BTreeSet<String>,
}

/// The package in a folder, as a description calls it.
fn package(folder: &str) -> Result<Package> {
    let component = paths::component(folder);
    let workspace = paths::workspace_at(&component);
    let manifest = component.join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest).with_context(|| {
        format!(
            "cannot read {}; a component has one, or a component.toml if it is in C",
            paths::shown(&manifest)
        )
    })?;
    let table: toml::Table = text.parse().with_context(|| paths::shown(&manifest))?;
    let name =
        table.get("package").and_then(|package| package.get("name")).and_then(toml::Value::as_str);
    let name = name.with_context(|| format!("{} names no package", paths::shown(&manifest)))?;
    check_member(&workspace.folder, &component)?;
    let is_hard = float::of_manifest(&text).with_context(|| paths::shown(&manifest))?.is_hard();
    let kind = if is_hard { Kind::FloatComponent } else { Kind::Component };
    Ok(Package { name: name.to_owned(), workspace, kind, features: features(&table) })
}

/// The features of others that a package depends on, as `cairn/alloc`.
fn features(manifest: &toml::Table) -> BTreeSet<String> {
    let mut features = BTreeSet::new();
    let by_target = manifest.get("target").and_then(toml::Value::as_table).into_iter().flatten();
    let tables = by_target.filter_map(|(_, table)| table.as_table()).chain([manifest]);
    for table in tables {
        let dependencies = table.get("dependencies").and_then(toml::Value::as_table);
        for (name, dependency) in dependencies.into_iter().flatten() {
            let asked = dependency.get("features").and_then(toml::Value::as_array);
            let asked = asked.into_iter().flatten().filter_map(toml::Value::as_str);
            features.extend(asked.map(|feature| format!("{name}/{feature}")));
        }
    }
    features
}

/// Refuses a component that cargo does not find in the workspace in a folder.
fn check_member(workspace: &Path, component: &Path) -> Result<()> {
    let manifest = component.join("Cargo.toml");
    if packages::of_workspace(workspace)?.of_manifest(&manifest).is_none() {
        let folder = component.strip_prefix(workspace).unwrap_or(component).display();
        bail!(
            "{}: cargo does not know {folder}; expected it in `members` of [workspace]: add \"{folder}\"",
            paths::shown(&workspace.join("Cargo.toml"))
        )
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_system_trusts_has_one_profile_and_a_product_has_its_own() {
        assert_eq!(profile("components/system/scheduler", Profile::Development), Profile::Release);
        assert_eq!(profile("examples/hello", Profile::Development), Profile::Development);
        let product = Path::new("/home/me/product/components/system/own");
        assert!(!is_of_cairn(product, Path::new("/home/me/cairn")));
    }

    #[test]
    fn members_are_those_that_cargo_finds() {
        let root = std::env::temp_dir().join(format!("cairn-members-{}", std::process::id()));
        let package = |name: &str| {
            std::fs::create_dir_all(root.join(name).join("src")).unwrap();
            std::fs::write(root.join(name).join("src/lib.rs"), "").unwrap();
            let name = name.replace(['/', '.'], "-");
            format!("[package]\nname = 'x{name}'\nedition = '2024'\n")
        };
        for name in ["crates/temp-one", "crates/other", "plain", "used"] {
            std::fs::write(root.join(name).join("Cargo.toml"), package(name)).unwrap();
        }
        let workspace = "[workspace]\nmembers = ['crates/temp-*', './plain']\n";
        let used = "[dependencies]\nxused = { path = 'used' }\n";
        std::fs::write(root.join("Cargo.toml"), package(".") + used + workspace).unwrap();
        for name in ["", "crates/temp-one", "plain", "used"] {
            check_member(&root, &root.join(name)).unwrap();
        }
        let error = check_member(&root, &root.join("crates/other")).unwrap_err().to_string();
        assert!(error.contains("members` of [workspace]: add \"crates/other\""), "{error}");
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn features_are_asked_of_others() {
        let manifest = "[features]\nown = []\n[dependencies]\ncairn = { workspace = true, features = [\"log\"] }\n\
                        plain = \"1\"\n[dev-dependencies]\nproptest = { features = [\"std\"] }\n\
                        [target.'cfg(target_os = \"none\")'.dependencies]\nother = { features = [\"a\", \"b\"] }\n";
        let found = features(&manifest.parse().unwrap());
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["cairn/log", "other/a", "other/b"]);
    }
}
