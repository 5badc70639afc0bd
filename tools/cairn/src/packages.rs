//! The packages that cargo would compile for the machine: those of the workspace, and all that they depend on.

use crate::{cargo, paths};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

/// Those of the workspace in a folder. Cargo is asked once.
pub fn of_workspace(folder: &Path) -> Result<Arc<Packages>> {
    static KNOWN: Mutex<BTreeMap<PathBuf, Arc<Packages>>> = Mutex::new(BTreeMap::new());
    // What is put in is whole.
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(packages) = known.get(folder) {
        return Ok(packages.clone());
    }
    let packages = Arc::new(Packages::read(folder)?);
    known.insert(folder.to_owned(), packages.clone());
    Ok(packages)
}

/// The members of the workspace in a folder, as its manifests say: also of one whose dependencies cannot be had.
pub fn members(folder: &Path) -> Result<Vec<Package>> {
    let mut command = cargo::cargo("metadata", folder);
    command.args(["--format-version=1", "--no-deps", "--offline"]);
    Ok(said(&mut command)?.packages.into_iter().map(Package::found).collect())
}

/// What cargo answers.
fn said(command: &mut Command) -> Result<Metadata> {
    let output = command.output().context("cannot start cargo; run ./cairn, which sets it up")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    }
    serde_json::from_slice(&output.stdout).context("cannot read what cargo says of the packages")
}

/// Packages, and what uses what.
#[derive(Debug)]
pub struct Packages {
    packages: BTreeMap<String, Package>,
    uses: BTreeMap<String, Vec<String>>,
}

/// A package.
#[derive(Clone, Debug, Deserialize)]
pub struct Package {
    /// What cargo's commands and messages call it.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its license: an SPDX expression.
    pub license: Option<String>,
    /// Where it comes from; none if it is a folder.
    pub source: Option<String>,
    /// Its manifest, by a path without symbolic links.
    pub manifest_path: PathBuf,
    /// What it is compiled to.
    pub targets: Vec<Target>,
}

/// A library, a program, a test...
#[derive(Clone, Debug, Deserialize)]
pub struct Target {
    kind: Vec<String>,
    src_path: PathBuf,
}

impl Target {
    fn is(&self, kind: &str) -> bool {
        self.kind.iter().any(|one| one == kind)
    }
}

impl Package {
    /// As cargo says it, which leaves symbolic links as they are written.
    fn found(self) -> Package {
        Package { manifest_path: paths::real(&self.manifest_path), ..self }
    }

    /// Whether it is a library that a component can be linked with.
    pub fn has_library(&self) -> bool {
        self.targets.iter().any(|target| target.is("lib") || target.is("rlib"))
    }

    /// Whether it is a program, with or without a library.
    pub fn has_program(&self) -> bool {
        self.targets.iter().any(|target| target.is("bin"))
    }

    /// Whether it is compiled for the host, for the compiler.
    pub fn is_macro(&self) -> bool {
        self.targets.iter().any(|target| target.is("proc-macro"))
    }

    /// The first files of its library and its programs.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        let is_root = |target: &&Target| target.is("lib") || target.is("rlib") || target.is("bin");
        self.targets.iter().filter(is_root).map(|target| target.src_path.as_path())
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        self.manifest_path.parent().expect("a manifest is in a folder")
    }
}

impl Packages {
    fn read(workspace: &Path) -> Result<Packages> {
        let mut command = cargo::cargo("metadata", workspace);
        command.args(["--format-version=1", "--filter-platform", cargo::TARGET]);
        Ok(Packages::of(said(&mut command)?))
    }

    fn of(metadata: Metadata) -> Packages {
        let is_compiled = |one: &&Dependency| one.dep_kinds.iter().any(|kind| kind.kind.is_none());
        let nodes = metadata.resolve.into_iter().flat_map(|resolve| resolve.nodes);
        let uses = nodes.map(|node| {
            let used = node.deps.iter().filter(is_compiled).map(|one| one.pkg.clone());
            (node.id, used.collect())
        });
        Packages {
            uses: uses.collect(),
            packages: metadata
                .packages
                .into_iter()
                .map(Package::found)
                .map(|one| (one.id.clone(), one))
                .collect(),
        }
    }

    /// All packages.
    pub fn all(&self) -> impl Iterator<Item = &Package> {
        self.packages.values()
    }

    /// The package of a manifest, through whatever symbolic links.
    pub fn of_manifest(&self, manifest: &Path) -> Option<&Package> {
        let manifest = paths::real(manifest);
        self.all().find(|package| package.manifest_path == manifest)
    }

    /// What a package is compiled with.
    pub fn used_by(&self, package: &Package) -> impl Iterator<Item = &Package> {
        let used = self.uses.get(&package.id).into_iter().flatten();
        used.filter_map(|id| self.packages.get(id))
    }

    /// Those that are compiled with the library `cairn`.
    pub fn on_cairn(&self) -> impl Iterator<Item = &Package> {
        let is_on_cairn =
            |package: &&Package| self.used_by(package).any(|used| used.name == "cairn");
        self.all().filter(is_on_cairn)
    }
}

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    /// None where it was not asked for.
    resolve: Option<Resolve>,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

/// `kind` is none, "build" or "dev".
#[derive(Debug, Deserialize)]
struct DependencyKind {
    kind: Option<String>,
}
