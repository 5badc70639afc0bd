//! Whether anything that is compiled into a component may have unsafe code, or assembly: its own source, and that of every library
//! it uses. What runs on the host, build scripts and macros, is not looked at.

use crate::{cargo, paths};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Libraries that everyone trusts, with what they use. `cairn` keeps its unsafe code in the modules that
/// `tools/cairn/tests/privileged_code.rs` lists; the others are other people's, named in `docs/dependencies.md`.
pub const TRUSTED: [&str; 3] = ["cairn", "zerocopy", "heapless"];

/// Whether no code of the component in `folder`, as a description calls it, can be unsafe but that of trusted libraries.
pub fn is_forbidden(folder: &str) -> bool {
    allowing(folder).is_none()
}

/// The first crate of a component, which may be its own, that does not forbid unsafe code and that nobody trusts, for people.
pub fn allowing(folder: &str) -> Option<String> {
    static GRAPHS: Mutex<BTreeMap<PathBuf, Graph>> = Mutex::new(BTreeMap::new());
    let manifest = paths::component(folder).join("Cargo.toml");
    if !manifest.exists() {
        return Some(format!("`{folder}`, which is not in Rust,"));
    }
    let workspace = paths::workspace_of(folder).folder;
    // A graph is put in whole.
    let mut graphs = GRAPHS.lock().unwrap_or_else(PoisonError::into_inner);
    // What cannot be read is not known to forbid anything.
    let read = || Graph::read(&workspace).unwrap_or_else(|_| Graph::default());
    graphs.entry(workspace.clone()).or_insert_with(read).allowing(&manifest)
}

/// The packages that cargo would compile for the machine.
#[derive(Debug, Default)]
struct Graph {
    packages: BTreeMap<String, Package>,
    uses: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Package {
    id: String,
    name: String,
    /// Where it comes from; none if it is a folder.
    source: Option<String>,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
struct Target {
    kind: Vec<String>,
    src_path: PathBuf,
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

impl Graph {
    fn read(workspace: &Path) -> Result<Graph> {
        let mut command = cargo::cargo("metadata", workspace);
        command.args(["--format-version=1", "--filter-platform", cargo::TARGET]);
        let output =
            command.output().context("cannot start cargo; run ./cairn, which sets it up")?;
        if !output.status.success() {
            bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
        }
        let metadata = serde_json::from_slice(&output.stdout);
        Ok(Graph::of(metadata.context("cannot read what cargo says of the packages")?))
    }

    fn of(metadata: Metadata) -> Graph {
        let is_compiled = |one: &&Dependency| one.dep_kinds.iter().any(|kind| kind.kind.is_none());
        let uses = metadata.resolve.nodes.iter().map(|node| {
            let used = node.deps.iter().filter(is_compiled).map(|one| one.pkg.clone());
            (node.id.clone(), used.collect())
        });
        Graph {
            uses: uses.collect(),
            packages: metadata.packages.into_iter().map(|one| (one.id.clone(), one)).collect(),
        }
    }

    fn allowing(&self, manifest: &Path) -> Option<String> {
        let is_own = |package: &&Package| package.manifest_path == manifest;
        let Some(own) = self.packages.values().find(is_own) else {
            return Some(format!(
                "`{}`, which is no package of the workspace,",
                paths::shown(manifest)
            ));
        };
        let (mut left, mut seen) = (vec![own], BTreeSet::new());
        while let Some(package) = left.pop() {
            let is_macro = package.targets.iter().any(|one| one.is("proc-macro"));
            if is_macro || package.is_trusted() || !seen.insert(&package.id) {
                continue;
            }
            if !package.forbids() {
                return Some(package.shown());
            }
            let used = self.uses.get(&package.id).into_iter().flatten();
            left.extend(used.filter_map(|id| self.packages.get(id)));
        }
        None
    }
}

impl Target {
    fn is(&self, kind: &str) -> bool {
        self.kind.iter().any(|one| one == kind)
    }
}

impl Package {
    /// Whether it is a trusted one: a folder of this name is not, unless it is Cairn's own library.
    fn is_trusted(&self) -> bool {
        let is_own = self.manifest_path == paths::source().join("lib/cairn/Cargo.toml");
        let is_meant = if self.name == "cairn" { is_own } else { self.source.is_some() };
        is_meant && TRUSTED.contains(&self.name.as_str())
    }

    /// Whether its roots, of a library and of programs, forbid unsafe code.
    fn forbids(&self) -> bool {
        let is_root = |target: &&Target| target.is("lib") || target.is("rlib") || target.is("bin");
        let mut roots = self.targets.iter().filter(is_root).peekable();
        roots.peek().is_some() && roots.all(|root| file_forbids(&root.src_path))
    }

    fn shown(&self) -> String {
        match self.source {
            Some(_) => format!(
                "the crate `{}`, which is not in `docs/dependencies.md` for components,",
                self.name
            ),
            None => format!(
                "`{}`",
                paths::shown(self.manifest_path.parent().unwrap_or(&self.manifest_path))
            ),
        }
    }
}

fn file_forbids(file: &Path) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text_forbids(&text))
}

/// Whether a crate's first file forbids unsafe code, and not only a comment or a text of it.
pub fn text_forbids(text: &str) -> bool {
    let Ok(file) = syn::parse_file(text) else { return false };
    file.attrs.iter().any(|attribute| {
        let mut found = false;
        if attribute.path().is_ident("forbid") {
            // What is no list of names is an error of the compiler.
            let _ = attribute.parse_nested_meta(|lint| {
                found |= lint.path.is_ident("unsafe_code");
                Ok(())
            });
        }
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_attribute_itself_forbids() {
        for text in ["#![no_std]\n#![forbid(unsafe_code)]", "#![forbid(missing_docs, unsafe_code)]"]
        {
            assert!(text_forbids(text), "{text}");
        }
        for text in [
            "//! #![forbid(unsafe_code)]",
            "/*\n#![forbid(unsafe_code)]\n*/",
            "const TEXT: &str = \"\n#![forbid(unsafe_code)]\n\";",
            "#![deny(unsafe_code)]",
            "#![cfg_attr(test, forbid(unsafe_code))]",
            "mod inner {\n#![forbid(unsafe_code)]\n}",
            "no Rust",
        ] {
            assert!(!text_forbids(text), "{text}");
        }
    }

    #[test]
    fn what_a_component_uses_is_looked_at() {
        for folder in [
            "components/system/portals",
            "components/apps/shell",
            "tests/hostile-inversion/components/inversion",
        ] {
            assert_eq!(allowing(folder), None, "{folder}");
        }
        // Its main file forbids unsafe code.
        let judge = allowing("tests/hostile-replies/components/judge");
        assert_eq!(judge.as_deref(), Some("`tests/hostile/components/machine`"));
        assert_eq!(
            allowing("tests/faults/components/trouble").as_deref(),
            Some("`tests/faults/components/trouble`")
        );
        assert!(allowing("examples/c-greeter").unwrap().contains("not in Rust"));
    }

    #[test]
    fn crates_are_trusted_by_name() {
        let package = |name: &str, source: Option<&str>, file: &str| Package {
            id: name.into(),
            name: name.into(),
            source: source.map(str::to_owned),
            manifest_path: paths::source().join(file),
            targets: vec![],
        };
        let registry = Some("registry+https://github.com/rust-lang/crates.io-index");
        assert!(package("heapless", registry, "x/Cargo.toml").is_trusted());
        assert!(!package("heapless", None, "x/Cargo.toml").is_trusted());
        assert!(!package("other", registry, "x/Cargo.toml").is_trusted());
        assert!(!package("cairn", registry, "x/Cargo.toml").is_trusted());
        assert!(!package("cairn", None, "x/Cargo.toml").is_trusted());
        assert!(package("cairn", None, "lib/cairn/Cargo.toml").is_trusted());
        let table = fs::read_to_string(paths::source().join("docs/dependencies.md")).unwrap();
        for name in TRUSTED.iter().filter(|name| **name != "cairn") {
            assert!(table.contains(&format!("| `{name}` |")), "{name}");
        }
    }
}
