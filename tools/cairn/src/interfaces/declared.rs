//! The crates that declare interfaces, and what their compiled code says of these.

use crate::cargo;
use crate::packages::{self, Package};
use crate::paths::{self, Workspace};
use anyhow::{Context, Result, anyhow};
use cairn_image::Component;
use cairn_loader::{Declared, Interface};
use object::read::archive::ArchiveFile;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use syn::Item;

/// A crate that declares interfaces.
pub struct Crate {
    pub package: Package,
    /// Where it is compiled.
    workspace: Workspace,
    /// The names of its interfaces, as its source has them.
    pub names: Vec<String>,
    /// What its compiled code says, once it was asked.
    compiled: Mutex<Option<Vec<Declared>>>,
}

/// All of a workspace and that it depends on, in the order of their names. Sources are read once.
pub fn crates(workspace: &Workspace) -> Result<Arc<[Arc<Crate>]>> {
    static KNOWN: Mutex<BTreeMap<PathBuf, Arc<[Arc<Crate>]>>> = Mutex::new(BTreeMap::new());
    // What is put in is whole.
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(crates) = known.get(&workspace.folder) {
        return Ok(crates.clone());
    }
    let mut all = Vec::new();
    for package in packages::of_workspace(&workspace.folder)?.on_cairn() {
        let mut names = Vec::new();
        for folder in package.roots().filter_map(Path::parent) {
            read_folder(folder, &mut names)?;
        }
        names.sort_unstable();
        names.dedup();
        if !names.is_empty() {
            let (package, workspace) = (package.clone(), workspace.clone());
            all.push(Arc::new(Crate { package, workspace, names, compiled: Mutex::default() }));
        }
    }
    all.sort_by(|one, other| one.package.name.cmp(&other.package.name));
    let crates: Arc<[_]> = all.into();
    known.insert(workspace.folder.clone(), crates.clone());
    Ok(crates)
}

/// Adds the names of the interfaces in the sources of a folder.
fn read_folder(folder: &Path, names: &mut Vec<String>) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", paths::shown(folder)))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            read_folder(&path, names)?;
        } else if path.extension() == Some(OsStr::new("rs")) {
            let text = fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", paths::shown(&path)))?;
            read_text(&text, names);
        }
    }
    Ok(())
}

/// The same of a source. One that is no Rust is the compiler's to refuse.
fn read_text(text: &str, names: &mut Vec<String>) {
    if text.contains("interface]")
        && let Ok(file) = syn::parse_file(text)
    {
        read_items(&file.items, names);
    }
}

fn read_items(items: &[Item], names: &mut Vec<String>) {
    for item in items {
        match item {
            Item::Trait(one) if one.attrs.iter().any(is_mark) => names.push(one.ident.to_string()),
            Item::Mod(one) => {
                read_items(one.content.as_ref().map_or(&[], |(_, items)| items), names);
            }
            _ => {}
        }
    }
}

/// Whether it is `#[cairn::interface]`, by whatever path.
fn is_mark(attribute: &syn::Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == "interface")
}

impl Crate {
    /// One of its interfaces. The crate is compiled for that, if it was not since it changed.
    pub fn interface(&self, name: &str) -> Result<Declared> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let interfaces = match &mut *compiled {
            Some(interfaces) => interfaces,
            none => none.insert(self.compile()?),
        };
        interfaces.iter().find(|one| one.interface.name == name).cloned().with_context(|| {
            format!(
                "the crate `{}` is compiled without its interface `{name}`; is it in a module or behind a `cfg` that leaves it \
                 out for the bare machine?",
                self.package.name
            )
        })
    }

    /// The interfaces in its compiled library; of a component those that it imports and exports.
    fn compile(&self) -> Result<Vec<Declared>> {
        let mut interfaces = Vec::new();
        for file in cargo::draft(&self.workspace, &self.package)? {
            let of_file = |error: String| anyhow!("{}: {error}", file.display());
            let is_program = file.extension().is_none();
            if !is_program && file.extension() != Some(OsStr::new("rlib")) {
                continue;
            }
            let bytes =
                fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            let found = if is_program { of_component(bytes) } else { of_library(&bytes) };
            interfaces.extend(found.map_err(of_file)?);
        }
        Ok(interfaces)
    }
}

fn of_library(bytes: &[u8]) -> std::result::Result<Vec<Declared>, String> {
    let mut interfaces = Vec::new();
    let archive = ArchiveFile::parse(bytes).map_err(|error| error.to_string())?;
    for member in archive.members() {
        let member = member.map_err(|error| error.to_string())?;
        if member.name().ends_with(b".o") {
            let object = member.data(bytes).map_err(|error| error.to_string())?;
            interfaces.extend(cairn_loader::declared(object)?);
        }
    }
    Ok(interfaces)
}

fn of_component(bytes: Vec<u8>) -> std::result::Result<Vec<Declared>, String> {
    let component = Component::read(bytes)?;
    let exported = component.descriptor.exports.iter().map(|export| &export.interface);
    let imported = component.descriptor.imports.iter().map(|import| &import.interface);
    let declared = |interface: &Interface| Declared {
        text: component.text_of(interface).cloned(),
        interface: interface.clone(),
    };
    Ok(exported.chain(imported).map(declared).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_a_trait_with_the_mark() {
        let text = "/// `#[cairn::interface]`\ntrait No { }\n#[cairn::interface]\n/// Doc.\npub trait One { }\n\
                    mod inner { #[interface] pub(crate) trait Two { } }\nconst TEXT: &str = \"#[cairn::interface] trait Three { }\";";
        let mut names = Vec::new();
        read_text(text, &mut names);
        assert_eq!(names, ["One", "Two"]);
    }
}
