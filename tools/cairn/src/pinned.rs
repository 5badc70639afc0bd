//! Whether the Cairn whose command this is, is the one that the project depends on.

use crate::{packages, paths};
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

/// Refuses to work on a product with another Cairn than it depends on: its components would be built with the one, the
/// nucleus and the system components with the other.
pub fn check() -> Result<()> {
    if !paths::is_product() {
        return Ok(());
    }
    let (project, source) = (paths::project(), paths::source());
    let pinned = pinned(&project)?;
    if pinned.as_ref() == Some(&source) {
        return Ok(());
    }
    let manifest = project.join("Cargo.toml");
    match pinned {
        Some(other) => bail!(
            "this is the command of {}, but {} depends on the Cairn in {}; run {}, or the `cairn` that `./cairn install` \
             makes, which finds it",
            source.display(),
            manifest.display(),
            other.display(),
            other.join("cairn").display()
        ),
        None => bail!(
            "{}: nothing in the workspace depends on the package `cairn`; expected under [workspace.dependencies]: cairn = \
             {{ path = {:?} }}, and `cairn = {{ workspace = true }}` in a component",
            manifest.display(),
            source.join("lib/cairn").display().to_string()
        ),
    }
}

/// The tree of the Cairn that a project depends on, by cargo's word.
fn pinned(project: &Path) -> Result<Option<PathBuf>> {
    let packages = packages::of_workspace(project)?;
    let cairn = packages.all().find(|package| package.name == "cairn");
    // It is in the folder `lib/cairn` of the tree.
    Ok(cairn.and_then(|package| package.folder().ancestors().nth(2)).map(Path::to_owned))
}
