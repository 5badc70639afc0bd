//! Whether anything that is compiled into a component may have unsafe code, or assembly: its own source, and that of every library
//! it uses. What runs on the host, build scripts and macros, is not looked at.

use crate::bill;
use crate::packages::{self, Package, Packages};
use crate::paths;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Libraries that everyone trusts, with what they use. `cairn` keeps its unsafe code in the modules that
/// `tools/cairn/tests/privileged_code.rs` lists; the others are other people's, named in `docs/dependencies.md`.
pub const TRUSTED: [&str; 3] = ["cairn", "zerocopy", "heapless"];

/// Where other people's are from: anyone can give a crate these names elsewhere. Vendored crates are cargo's word from there.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Whether no code of the component in `folder`, as a description calls it, can be unsafe but that of trusted libraries.
pub fn is_forbidden(folder: &str) -> bool {
    allowing(folder).is_none()
}

/// The first crate of a component, which may be its own, that does not forbid unsafe code and that nobody trusts, for people.
pub fn allowing(folder: &str) -> Option<String> {
    let component = paths::component(folder);
    let manifest = component.join("Cargo.toml");
    if !manifest.exists() {
        return Some(format!("`{folder}`, which is not in Rust,"));
    }
    match packages::of_workspace(&paths::workspace_at(&component).folder) {
        Ok(packages) => allowing_of(&packages, &manifest, &paths::workspace_at(&component).folder),
        // What cannot be read is not known to forbid anything.
        Err(_) => Some(format!("`{folder}`, of which cargo says nothing,")),
    }
}

/// Whether the component's own source, in `folder`, can have no unsafe code.
pub fn is_forbidden_in(folder: &str) -> bool {
    let component = paths::component(folder);
    let packages = packages::of_workspace(&paths::workspace_at(&component).folder);
    packages.is_ok_and(|packages| {
        packages.of_manifest(&component.join("Cargo.toml")).is_some_and(Package::forbids)
    })
}

/// The first package of a component that does not forbid unsafe code and that nobody trusts.
fn allowing_of(packages: &Packages, manifest: &Path, workspace: &Path) -> Option<String> {
    let Some(own) = packages.of_manifest(manifest) else {
        return Some(format!(
            "`{}`, which is no package of the workspace,",
            paths::shown(manifest)
        ));
    };
    let allows = |package: &&Package| !package.forbids();
    let mut allowing = untrusted(packages, own).into_iter().filter(allows).peekable();
    allowing.peek()?;
    // Others of the workspace may ask for features of what it uses that it does not.
    match bill::compiled(packages, own, workspace) {
        Ok(compiled) => {
            let is_compiled = |one: &&Package| compiled.iter().any(|other| other.id == one.id);
            allowing.find(is_compiled)
        }
        Err(_) => allowing.next(),
    }
    .map(Package::shown)
}

/// The packages that cargo would compile into a component, its own first, without those that everyone trusts.
pub(crate) fn untrusted<'a>(packages: &'a Packages, own: &'a Package) -> Vec<&'a Package> {
    let (mut left, mut seen, mut found) = (vec![own], BTreeSet::new(), Vec::new());
    while let Some(package) = left.pop() {
        if !package.is_macro() && !package.is_trusted() && seen.insert(&package.id) {
            left.extend(packages.used_by(package));
            found.push(package);
        }
    }
    found
}

impl Package {
    /// Whether it is a trusted one: a folder or a repository of this name is not, unless it is Cairn's own library.
    fn is_trusted(&self) -> bool {
        let is_own = self.manifest_path == paths::source().join("lib/cairn/Cargo.toml");
        let is_meant = if self.name == "cairn" { is_own } else { self.is_registered() };
        is_meant && TRUSTED.contains(&self.name.as_str())
    }

    /// Whether it is from the registry that all know.
    pub(crate) fn is_registered(&self) -> bool {
        self.source.as_deref() == Some(REGISTRY)
    }

    /// Whether its roots, of a library and of programs, forbid unsafe code.
    fn forbids(&self) -> bool {
        let mut roots = self.roots().peekable();
        roots.peek().is_some() && roots.all(file_forbids)
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
            "components/system/memory",
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
            version: "1.0.0".into(),
            license: None,
            source: source.map(str::to_owned),
            manifest_path: paths::source().join(file),
            targets: vec![],
        };
        let registry = Some(REGISTRY);
        for other in ["git+https://example.org/heapless#0123", "registry+https://example.org/index"]
        {
            assert!(!package("heapless", Some(other), "x/Cargo.toml").is_trusted(), "{other}");
        }
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
