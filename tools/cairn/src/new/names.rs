//! What a new component's names can be: its package, its module and its trait must be new in the
//! workspace, which an error of the compiler would tell too late and in other words.

use crate::layout::{Contract, DRIVERS, Layout, SHARED};
use crate::{packages, paths};
use anyhow::{Context, Result, bail};
use cairn_description::components::FOLDERS;
use std::collections::BTreeSet;
use std::path::Path;

/// Words that cannot be a module's or a trait's name in Rust, whatever follows `[a-z]` rules.
const RUST_WORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Crates that the interfaces name: a module of the same name would be ambiguous.
const CRATES: &[&str] = &["alloc", "cairn", "core", "proc_macro", "std", "test"];

/// What is in scope, beside the interfaces, where a trait is used: the prelude, `lib/cairn`'s types in
/// interfaces, and what the templates and the macros declare.
const IN_SCOPE: &[&str] = &[
    "AsMut",
    "AsRef",
    "Caller",
    "CallerThread",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Deref",
    "DoubleEndedIterator",
    "Drop",
    "Eq",
    "Err",
    "Error",
    "ExactSizeIterator",
    "Extend",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "FromIterator",
    "Future",
    "Grant",
    "Hash",
    "Interface",
    "InterfaceDescriptor",
    "Into",
    "IntoFuture",
    "IntoIterator",
    "Iterator",
    "None",
    "Now",
    "Object",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Passed",
    "Place",
    "PortalIndex",
    "Result",
    "Send",
    "Server",
    "Sized",
    "Some",
    "Sync",
    "TryFrom",
    "TryInto",
    "Unpin",
];

pub(super) struct Names<'a> {
    pub(super) name: &'a str,
    /// Of its interface's file, and of its export.
    pub(super) module: String,
    /// Of its interface.
    pub(super) interface: String,
    /// The crate of its interface.
    pub(super) contract: &'a Contract,
    /// Where it is made.
    pub(super) layout: &'a Layout,
}

impl<'a> Names<'a> {
    /// The names that follow from the component's, if it can be one at all.
    pub(super) fn new(name: &'a str, layout: &'a Layout) -> Result<Names<'a>> {
        let maximum = cairn_description::NAME_MAXIMUM;
        let begins = name.starts_with(|first: char| first.is_ascii_lowercase());
        let allowed =
            |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || "-_".contains(one);
        if !begins || !name.chars().all(allowed) || name.len() > maximum {
            bail!(
                "`{name}` cannot be its name; expected a small letter, then small letters, digits, `-` \
                 or `_`, at most {maximum} characters"
            );
        }
        let module = name.replace('-', "_");
        let interface = module
            .split('_')
            .filter_map(|word| word.split_at_checked(1))
            .map(|(first, rest)| first.to_ascii_uppercase() + rest)
            .collect();
        let names = Names { name, module, interface, contract: &layout.interfaces, layout };
        if RUST_WORDS.contains(&names.module.as_str()) || names.module == "lib" {
            bail!(
                "`{name}` cannot be its name, since Rust uses the word; choose another, perhaps `{}`",
                names.other()
            );
        }
        Ok(names)
    }

    /// The same for a driver.
    pub(super) fn of_driver(name: &'a str, layout: &'a Layout) -> Result<Names<'a>> {
        Ok(Names { contract: &layout.driver_interfaces, ..Names::new(name, layout)? })
    }

    /// Where its interface is.
    pub(super) fn interface_file(&self) -> String {
        format!("{}/src/{}.rs", self.contract.folder, self.module)
    }

    /// A name to propose instead.
    pub(super) fn other(&self) -> String {
        let other = format!("my-{}", self.name);
        match other.len() <= cairn_description::NAME_MAXIMUM {
            true => other,
            false => "thermometer".to_owned(),
        }
    }

    /// Refuses names that a component or a test has.
    pub(super) fn refuse_folders(&self) -> Result<()> {
        FOLDERS
            .iter()
            .chain(&["tests"])
            .try_for_each(|folder| self.refuse_path(&format!("{folder}/{}", self.name)))
    }

    /// Refuses a name by which a path would be that exists.
    pub(super) fn refuse_path(&self, path: &str) -> Result<()> {
        if self.layout.root.join(path).exists() {
            bail!(
                "{path} exists already; choose another name, perhaps `{}`, or remove it",
                self.other()
            );
        }
        Ok(())
    }

    /// Refuses a name whose package something of the workspace has, or that it uses.
    pub(super) fn refuse_package(&self) -> Result<()> {
        let root = &self.layout.root;
        let package = self.layout.package(self.name);
        let lock = std::fs::read_to_string(root.join("Cargo.lock")).unwrap_or_default();
        let lock: toml::Table = lock.parse().unwrap_or_default();
        let locked = lock.get("package").and_then(toml::Value::as_array).into_iter().flatten();
        // Those without a source are the workspace's, by their own manifests.
        let locked = locked.filter(|package| package.get("source").is_some());
        let locked = locked.filter_map(|package| package.get("name")?.as_str());
        let locked = locked.map(|name| (name.to_owned(), "Cargo.lock".to_owned()));
        let mut known = members(root)?.into_iter().chain(locked);
        match known.find(|(known, _)| same_crate(known, &package)) {
            Some((_, folder)) => {
                self.refuse(format!("its package would be `{package}`, which {folder} has already"))
            }
            None => Ok(()),
        }
    }

    /// Refuses names that something of the workspace has.
    pub(super) fn refuse_taken(&self) -> Result<()> {
        self.refuse_package()?;
        self.refuse_interface()
    }

    /// Refuses names whose interface something of the workspace has, or whose file is there.
    pub(super) fn refuse_interface(&self) -> Result<()> {
        self.refuse_meanings()?;
        let Names { interface, .. } = self;
        let Layout { root, interfaces, driver_interfaces, .. } = self.layout;
        let mut known = interface_names(root, &interfaces.folder)?;
        known.append(&mut interface_names(root, &driver_interfaces.folder)?);
        let is_taken = |known: &str| known == interface || known == format!("{interface}Proxy");
        match known.iter().find(|(known, _)| is_taken(known)) {
            Some((_, file)) => self
                .refuse(format!("its interface would be `{interface}`, which {file} has already")),
            None => self.refuse_path(&self.interface_file()),
        }
    }

    /// Refuses names that mean something in every project.
    pub(super) fn refuse_meanings(&self) -> Result<()> {
        let Names { module, interface, .. } = self;
        let taken = if CRATES.contains(&module.as_str()) {
            format!("its interface's module would be `{module}`, which is a crate's name")
        } else if IN_SCOPE.contains(&interface.as_str()) {
            format!(
                "its interface would be `{interface}`, a name with another meaning where it is used"
            )
        } else {
            return Ok(());
        };
        self.refuse(taken)
    }

    fn refuse(&self, why: String) -> Result<()> {
        bail!(
            "`{}` cannot be its name: {why}; choose another, perhaps `{}`",
            self.name,
            self.other()
        );
    }

    /// A template with these names in it.
    pub(super) fn fill(&self, template: &str) -> String {
        template
            .replace("@name@", self.name)
            .replace("@module@", &self.module)
            .replace("@Trait@", &self.interface)
            .replace("@package@", &self.layout.package(self.name))
            .replace("@crate@", &self.layout.package(self.name).replace('-', "_"))
            .replace("@system@", &self.layout.system)
            .replace("@contract@", &self.contract.package.replace('-', "_"))
            .replace("@interface-file@", &self.interface_file())
            .replace("@dependencies@", &dependencies(&[&self.contract.package]))
            .replace("@driver-dependencies@", &dependencies(&[&self.contract.package, DRIVERS]))
    }
}

/// What a component depends on that uses the interfaces of these packages too, as lines of its manifest.
pub(super) fn dependencies(contracts: &[&str]) -> String {
    let mut packages = [&["cairn", SHARED], contracts].concat();
    packages.sort_unstable();
    packages.dedup();
    let lines = packages.iter().map(|package| format!("{package} = {{ workspace = true }}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether two packages would get files of the same name.
fn same_crate(one: &str, other: &str) -> bool {
    one.replace('-', "_") == other.replace('-', "_")
}

/// The packages of the workspace, each with its folder.
fn members(root: &Path) -> Result<Vec<(String, String)>> {
    let root = paths::real(root);
    let members = packages::members(&root)?.into_iter().map(|package| {
        let folder = package.folder();
        let folder = folder.strip_prefix(&root).unwrap_or(folder).display().to_string();
        (package.name, folder)
    });
    Ok(members.collect())
}

/// Public names of the interfaces' files in a folder, which all meet in one module, each with its file; an interface
/// brings its proxy along.
fn interface_names(root: &Path, contract: &str) -> Result<BTreeSet<(String, String)>> {
    let mut names = BTreeSet::new();
    let folder = format!("{contract}/src");
    for entry in std::fs::read_dir(root.join(&folder))
        .with_context(|| format!("cannot read {}", root.join(&folder).display()))?
        .flatten()
    {
        let Ok(text) = std::fs::read_to_string(entry.path()) else { continue };
        let file = format!("{folder}/{}", entry.file_name().to_string_lossy());
        for line in text.lines() {
            let mut words = line
                .split(|character: char| !character.is_alphanumeric() && character != '_')
                .filter(|word| !word.is_empty());
            if words.next() != Some("pub") {
                continue;
            }
            let Some(kind @ ("trait" | "struct" | "enum" | "type" | "const")) = words.next() else {
                continue;
            };
            let Some(name) = words.next() else { continue };
            if kind == "trait" {
                names.insert((format!("{name}Proxy"), file.clone()));
            }
            names.insert((name.to_owned(), file.clone()));
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        Layout::of_project().unwrap()
    }

    #[test]
    fn names_are_checked() {
        for bad in ["", "Echo", "1st", "a b", "../x", "a/b", "match", "lib", "ä", &"a".repeat(32)]
        {
            assert!(Names::new(bad, &layout()).is_err(), "{bad}");
        }
        let own = layout();
        let names = Names::new("big-echo2", &own).unwrap();
        assert_eq!((names.module.as_str(), names.interface.as_str()), ("big_echo2", "BigEcho2"));
    }

    #[test]
    fn names_of_the_workspace_are_refused_with_another_that_is_free() {
        let own = layout();
        for taken in [
            "abi",
            "tool",
            "portal",
            "graph",
            "image",
            "bench",
            "headers",
            "description",
            "emulator",
            "interfaces",
            "macros",
            "nucleus",
            "error",
            "object",
            "script",
            "blocks",
            "pins-proxy",
            "option",
            "server",
            "core",
            "cairn",
        ] {
            let names = Names::new(taken, &own).unwrap();
            let error = names.refuse_taken().expect_err(taken).to_string();
            assert!(error.contains(&format!("`{taken}` cannot")), "{error}");
            let other = names.other();
            assert!(error.ends_with(&format!("perhaps `{other}`")), "{error}");
            Names::new(&other, &own).unwrap().refuse_taken().unwrap();
        }
    }

    #[test]
    fn a_name_to_propose_is_never_too_long() {
        let own = layout();
        let name = "a".repeat(cairn_description::NAME_MAXIMUM);
        let other = Names::new(&name, &own).unwrap().other();
        assert!(Names::new(&other, &own).is_ok(), "{other}");
    }
}
