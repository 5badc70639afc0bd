//! Interfaces by their names, for what is not written in Rust: C headers, and the check that a component's file tells the
//! truth about its interfaces.
//!
//! Which crate declares an interface, its source says. What the interface is, its compiled code says: `#[cairn::interface]` leaves
//! a descriptor there.

mod declared;

use crate::packages::Package;
use crate::paths::{self, Workspace};
use crate::{layout, test};
use anyhow::{Result, anyhow, bail};
use cairn_abi::domain::PORTAL_FIRST_IMPORT;
use cairn_loader::{Declared, Descriptor, Interface};
use declared::Crate;
use std::sync::Arc;

/// The interface called `name`, of any crate of a workspace or that it depends on, or else of Cairn's own: `Echo`, or
/// `cairn-app-interfaces::Echo` where several crates have one of this name. The error lists all, or says what one may lack that is
/// written.
pub fn find(workspace: &Workspace, name: &str) -> Result<Declared> {
    let crates = declared::crates(workspace)?;
    let own = declared::crates(&paths::own_workspace())?;
    let found = match declaring(&crates, name) {
        none if none.is_empty() => declaring(&own, name),
        found => found,
    };
    match found.as_slice() {
        [] => Err(unknown(crates.iter().chain(own.iter()), name)),
        [one] => one.interface(last(name)),
        several => {
            let several = several.iter().map(|one| format!("{}::{name}", one.package.name));
            bail!(
                "several crates have an interface `{name}`; expected one of {}",
                several.collect::<Vec<_>>().join(", ")
            )
        }
    }
}

/// Its C header.
pub fn header(Declared { interface, text }: &Declared) -> Result<String> {
    cairn_headers::header(interface, text.as_ref()).map_err(|error| anyhow!(error))
}

/// The same as a file: its name and its text.
pub fn header_file(declared: &Declared) -> Result<(String, String)> {
    Ok((cairn_headers::file_name(&declared.interface), header(declared)?))
}

/// An interface of Cairn's own crates.
pub fn own(name: &str) -> Result<Declared> {
    match declaring(&own_crates()?, name).first() {
        Some(one) => one.interface(name),
        None => Err(unknown(declared::crates(&paths::own_workspace())?.iter(), name)),
    }
}

/// The names of all interfaces of Cairn's own crates, with their packages.
pub fn own_names() -> Result<Vec<(String, String)>> {
    let names = |one: &Arc<Crate>| {
        let package = one.package.name.clone();
        one.names.clone().into_iter().map(move |name| (package.clone(), name))
    };
    Ok(own_crates()?.iter().flat_map(names).collect())
}

/// Cairn's own crates of interfaces.
fn own_crates() -> Result<Vec<Arc<Crate>>> {
    let crates = declared::crates(&paths::own_workspace())?;
    Ok(crates.iter().filter(|one| is_own(&one.package)).cloned().collect())
}

/// Whether a package is one of Cairn's own interfaces, by its name.
fn is_own(package: &Package) -> bool {
    [layout::SHARED, layout::DRIVERS, layout::APPS].contains(&package.name.as_str())
}

/// The library, Cairn's own or in a folder, that declares the interface called `name` in this version; none if it is nobody's.
pub fn library_of(name: &str, version: u64) -> Result<Option<Package>> {
    let crates = declared::crates(&paths::project_workspace())?;
    // Nothing of a product depends on some of Cairn's own.
    let own = own_crates()?;
    for one in declaring(&crates, name).into_iter().chain(declaring(&own, name)) {
        let is_meant = is_own(&one.package) || one.package.source.is_none();
        if is_meant
            && one.package.has_library()
            && one.interface(name)?.interface.version == version
        {
            return Ok(Some(one.package.clone()));
        }
    }
    Ok(None)
}

/// The name without its crate.
fn last(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

fn declaring(crates: &[Arc<Crate>], name: &str) -> Vec<Arc<Crate>> {
    let package = name.rsplit_once("::").map(|(package, _)| package);
    let is_meant = |one: &&Arc<Crate>| {
        package.is_none_or(|package| one.package.name == package)
            && one.names.iter().any(|own| own == last(name))
    };
    crates.iter().filter(is_meant).cloned().collect()
}

fn unknown<'a>(crates: impl Iterator<Item = &'a Arc<Crate>>, name: &str) -> anyhow::Error {
    let mut names: Vec<String> = crates.flat_map(|one| one.names.clone()).collect();
    names.sort_unstable();
    names.dedup();
    let known = match test::nearest(last(name), &names) {
        near if near.is_empty() => format!("; expected one of {}.", names.join(", ")),
        near => near,
    };
    anyhow!(
        "unknown interface `{name}`{known} A new one is a trait with `#[cairn::interface]` before it, in a crate of the workspace \
         or one that it depends on"
    )
}

/// Compares what a component's file says with the interfaces that it is made for, as they are.
///
/// `cairn::component!` cannot write a wrong descriptor, C can: portal code is generated from the letters in it, and calls go
/// to the indexes in it.
pub fn verify(descriptor: &Descriptor, interfaces: &[Declared]) -> Result<()> {
    let mut first_portal = PORTAL_FIRST_IMPORT;
    for import in &descriptor.imports {
        if import.first_portal != first_portal {
            bail!(
                "import `{}` begins at portal {}; expected {first_portal}: each import begins where the one before \
                 ends, the first at CAIRN_PORTAL_FIRST_IMPORT",
                import.name,
                import.first_portal
            );
        }
        first_portal += import.interface.methods.len();
        same(&import.interface, interfaces)
            .map_err(|error| error.context(format!("import `{}`", import.name)))?;
    }
    for export in &descriptor.exports {
        same(&export.interface, interfaces)
            .map_err(|error| error.context(format!("export `{}`", export.name)))?;
    }
    Ok(())
}

/// Whether a file's idea of an interface is the interface's own.
fn same(said: &Interface, interfaces: &[Declared]) -> Result<()> {
    let Some(Declared { interface, .. }) =
        interfaces.iter().find(|one| one.interface.name == said.name)
    else {
        bail!(
            "`{}` is none of the `interfaces` in its component.toml; name it there, and use the macro of its header",
            said.name
        );
    };
    if said.version != interface.version {
        bail!(
            "`{}` in version {:016x}, but it is in version {:016x}; use the macro of the generated header, which \
             has the version in it",
            said.name,
            said.version,
            interface.version
        );
    }
    let methods = |interface: &Interface| {
        let methods = interface.methods.iter();
        methods.map(|one| (one.name.clone(), one.letters.clone(), one.value)).collect::<Vec<_>>()
    };
    if methods(said) != methods(interface) {
        bail!(
            "`{}` has other methods than the interface; use the macro of the generated header",
            said.name
        );
    }
    Ok(())
}
