//! Whether the Cairn whose command this is, is the one that the project depends on.

use crate::{cargo, paths};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// Refuses to work on a product with another Cairn than it depends on: its components would be built with the one, the
/// nucleus and the system components with the other.
pub fn check() -> Result<()> {
    if !paths::is_product() {
        return Ok(());
    }
    let (project, source) = (paths::project(), paths::source());
    let pinned = pinned(&project)?;
    if pinned.as_ref().is_some_and(|pinned| same(pinned, &source)) {
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
    let mut command = cargo::cargo("metadata", project);
    let output = command
        .arg("--format-version=1")
        .output()
        .context("cannot start cargo; run ./cairn, which sets it up")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).context("cannot read what cargo says")?;
    let packages = metadata.get("packages").and_then(serde_json::Value::as_array);
    let manifests = packages.into_iter().flatten().filter_map(|package| {
        let is_cairn = package.get("name")?.as_str()? == "cairn";
        is_cairn.then(|| package.get("manifest_path")?.as_str().map(PathBuf::from))?
    });
    let trees = manifests.filter_map(|file| file.ancestors().nth(3).map(Path::to_owned));
    Ok(trees.into_iter().next())
}

fn same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}
