//! Where things are in a project, as its manifest says below `[workspace.metadata.cairn]`.

use crate::paths;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Where `cairn new` puts things, and what commands work on that are not told.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The project's folder.
    pub root: PathBuf,
    /// The system that commands work on and new components become a part of: a name in `systems/`.
    pub system: String,
    /// The folder of components.
    pub components: String,
    /// The folder of drivers.
    pub drivers: String,
    /// What the packages of components begin with.
    pub prefix: String,
    /// The crate of the project's own interfaces.
    pub interfaces: Contract,
    /// The crate of those of its drivers; mostly the same.
    pub driver_interfaces: Contract,
}

/// A crate that declares interfaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// Its package.
    pub package: String,
    /// Its folder, a path from the root, or absolute if it is not below that.
    pub folder: String,
}

impl Contract {
    /// Its source file that declares the others.
    pub fn root_file(&self) -> String {
        format!("{}/src/lib.rs", self.folder)
    }
}

/// The package of the interfaces that all components share.
pub const SHARED: &str = "cairn-interfaces";
/// Those of Cairn's drivers.
pub const DRIVERS: &str = "cairn-driver-interfaces";
/// Those of its applications.
pub const APPS: &str = "cairn-app-interfaces";

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Said {
    system: Option<String>,
    components: Option<String>,
    drivers: Option<String>,
    interfaces: Option<String>,
    driver_interfaces: Option<String>,
    prefix: Option<String>,
}

impl Layout {
    /// That of the project.
    pub fn of_project() -> Result<Layout> {
        Layout::read(&paths::project())
    }

    /// That of the project in `root`.
    pub fn read(root: &Path) -> Result<Layout> {
        let file = root.join("Cargo.toml");
        let shown = paths::shown(&file);
        let manifest = table(&file)?;
        let said = manifest.get("workspace").and_then(|table| table.get("metadata")?.get("cairn"));
        let said: Said = match said {
            Some(said) => said
                .clone()
                .try_into()
                .with_context(|| format!("{shown}: [workspace.metadata.cairn]"))?,
            None => Said::default(),
        };
        let components = said.components.unwrap_or_else(|| "components".to_owned());
        let name = |manifest: toml::Table| {
            let name = manifest.get("package")?.get("name")?.as_str()?;
            Some(name.to_owned())
        };
        // A product that has none of its own uses those that all share.
        let contract = |folder: &str| {
            let package = table(&root.join(folder).join("Cargo.toml")).ok().and_then(name);
            let package = package.unwrap_or_else(|| SHARED.to_owned());
            Contract { package, folder: folder.to_owned() }
        };
        let interfaces = contract(said.interfaces.as_deref().unwrap_or("interfaces"));
        let driver_interfaces = said.driver_interfaces.map(|folder| contract(&folder));
        let folder = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Layout {
            root: root.to_owned(),
            system: said.system.unwrap_or(folder),
            drivers: said.drivers.unwrap_or_else(|| components.clone()),
            components,
            prefix: said.prefix.unwrap_or_default(),
            driver_interfaces: driver_interfaces.unwrap_or_else(|| interfaces.clone()),
            interfaces,
        })
    }

    /// The file of its system.
    pub fn system_file(&self) -> String {
        format!("systems/{}.toml", self.system)
    }

    /// What a component's package is called.
    pub fn package(&self, component: &str) -> String {
        format!("{}{component}", self.prefix)
    }
}

/// The table in a file.
fn table(file: &Path) -> Result<toml::Table> {
    let shown = paths::shown(file);
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {shown}"))?;
    text.parse().with_context(|| shown)
}

/// The system that a command works on that is told none.
pub fn default_system() -> &'static str {
    // The command line asks for each of its commands, whichever is given.
    static SYSTEM: OnceLock<String> = OnceLock::new();
    // What is wrong with the manifest, its use says.
    SYSTEM.get_or_init(|| Layout::of_project().map_or_else(|_| "demo".to_owned(), |one| one.system))
}
