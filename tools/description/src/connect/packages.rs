//! Checks packages against what components' files say, as far as it is known before they are loaded.

use super::{Connector, find_export, missing_export, not_built, signature};
use crate::arguments::{self, Value};
use crate::model::{Instance, Package, PackageImport};
use crate::report::{Error, Report};
use cairn_abi::domain::PORTAL_FIRST_IMPORT;
use cairn_loader::{Descriptor, Export, Import};

/// A package in the terms of its component's file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectedPackage {
    /// For each import of the component who serves it: instance and export.
    pub imports: Vec<Option<(String, String)>>,
    /// For each export of the component its index in [`Package::exports`].
    pub exports: Vec<Option<usize>>,
    /// The values of the arguments that the component declares, in its order.
    pub arguments: Vec<Value>,
    /// How many portals the instances have whose imports are before those of the one that it replaces, in one table.
    pub portals_before: usize,
}

impl<'a> Connector<'a> {
    pub(super) fn package(
        &self,
        package: &Package,
        components: &[Option<&'a Descriptor>],
        component: Option<&Descriptor>,
        report: &mut Report,
    ) -> ConnectedPackage {
        let instance = &package.instance;
        let Some(component) = component else {
            report.push(not_built(instance));
            return ConnectedPackage::default();
        };
        // A successor has the quotas of whom it replaces.
        if component.main.is_some() && *instance.threads == 0 && package.replaces.is_none() {
            report.push(super::no_thread(instance));
        }
        if let Some(wait) = &instance.callers_wait
            && !component.says_ready
            && !self.is_inherited(package, wait)
        {
            report.push(super::always_serves(instance, wait));
        }
        for export in &package.exports {
            match find_export(component, &export.name) {
                // What it does not serve of whom it replaces is reported below.
                None if self.is_inherited(package, &export.name) => {}
                None => report.push(missing_export(instance, component, &export.name)),
                Some(index) if component.exports[index].is_object => {
                    if let Some(open) = &export.open {
                        report.push(super::object_opened(instance, &export.name, &open.place));
                    }
                }
                Some(_) => {}
            }
        }
        for import in &package.imports {
            let is_declared =
                component.imports.iter().any(|declared| declared.name == *import.import);
            if !is_declared && !self.is_inherited(package, &import.import) {
                report.push(super::surplus_import(instance, component, &import.import));
            }
        }
        self.check_successor(package, component, report);
        self.check_pager(package, components, report);
        let described = |export: &Export| {
            package.exports.iter().position(|described| *described.name == export.name)
        };
        ConnectedPackage {
            imports: component
                .imports
                .iter()
                .map(|import| self.package_import(package, components, import, report))
                .collect(),
            exports: component.exports.iter().map(described).collect(),
            arguments: arguments::check(&self.declared(package, component), component, report),
            portals_before: package
                .replaces
                .as_ref()
                .map_or(0, |replaced| self.portals(**replaced).start - PORTAL_FIRST_IMPORT),
        }
    }

    /// Whether the pager of its range is one, as far as the description knows it.
    fn check_pager(
        &self,
        package: &Package,
        components: &[Option<&'a Descriptor>],
        report: &mut Report,
    ) {
        let Some(paged) = &package.paged else { return };
        let Some(server) = self.server(components, &paged.instance) else { return };
        let mut services = server.exports.iter().filter(|export| !export.is_object);
        let found = services.find(|export| export.name == *paged.export);
        if found.is_some_and(|export| export.interface.name == "Pager") {
            self.check_open(package, &paged.instance, &paged.export, report);
            return;
        }
        report.push(Error::new(
            &paged.export.place,
            format!("`{}.{}` is no pager", paged.instance, paged.export),
            match found {
                Some(export) => format!("expected `Pager`, found `{}`", export.interface.name),
                None => "expected an export of the interface `Pager`".to_owned(),
            },
            "name an instance whose component exports it, as `pager-zero` does: \"zero.pager\"",
        ));
    }

    /// The component of who is called so: an instance of the system, or else a package.
    fn server(&self, components: &[Option<&'a Descriptor>], name: &str) -> Option<&'a Descriptor> {
        let mut packages = self.system.packages.iter().zip(components);
        match self.system.instance(name) {
            Some(index) => self.components[index],
            None => packages
                .find(|(package, _)| *package.instance.name == *name)
                .and_then(|(_, component)| *component),
        }
    }

    /// What a package has, without values of arguments that only who it replaces declares.
    fn declared(&self, package: &Package, component: &Descriptor) -> Instance {
        let mut instance = package.instance.clone();
        instance.arguments.retain(|(name, _)| {
            let is_declared = component.arguments.iter().any(|argument| argument.name == **name);
            is_declared || !self.is_inherited(package, name)
        });
        instance
    }

    /// Who serves an import.
    fn package_import(
        &self,
        package: &Package,
        components: &[Option<&'a Descriptor>],
        import: &Import,
        report: &mut Report,
    ) -> Option<(String, String)> {
        let found = package.imports.iter().find(|one| *one.import == import.name);
        let Some(connection) = found else {
            if import.is_optional {
                return None;
            }
            let candidates = self.candidates(&import.interface);
            if package.has_defaults
                && let [only] = candidates.as_slice()
                && let Some((instance, export)) = only.split_once('.')
            {
                return Some((instance.to_owned(), export.to_owned()));
            }
            report.push(unconnected(package, import, &candidates));
            return None;
        };
        self.check_server(package, components, import, connection, report);
        Some((connection.instance.value.clone(), connection.export.value.clone()))
    }

    /// Whether who is to serve an import does, as far as the description knows it: an instance of the system, or else a package.
    fn check_server(
        &self,
        package: &Package,
        components: &[Option<&'a Descriptor>],
        import: &Import,
        connection: &PackageImport,
        report: &mut Report,
    ) {
        let name = &connection.instance;
        let server = self.server(components, name);
        // Others may be there by then, and names that are registered at run time.
        let exports = server.iter().flat_map(|server| &server.exports);
        let mut services = exports.filter(|export| !export.is_object);
        let Some(served) = services.find(|export| export.name == *connection.export) else {
            return;
        };
        let (wanted, found) = (&import.interface, &served.interface);
        if wanted.name != found.name {
            report.push(Error::new(
                &connection.export.place,
                format!(
                    "import `{}` of `{}` needs another interface",
                    import.name, package.instance.name
                ),
                format!("expected `{}`, found `{}`", wanted.name, found.name),
                match self.candidates(wanted).as_slice() {
                    [] => "connect it to who serves that".to_owned(),
                    candidates => format!("connect it to {}", super::shown(candidates, " or ")),
                },
            ));
        } else if wanted.version != found.version || signature(wanted).ne(signature(found)) {
            report.push(Error::new(
                &connection.export.place,
                format!(
                    "`{}` and `{name}` were built with different versions of the interface `{}`",
                    package.instance.name, wanted.name
                ),
                format!("expected version {:016x}, found {:016x}", wanted.version, found.version),
                format!("{}; build both again", super::difference(wanted, found)),
            ));
        } else if !self.is_connected(package, &connection.import) {
            self.check_open(package, name, &connection.export, report);
        }
    }
}

/// An import of a package's component that nobody serves.
fn unconnected(package: &Package, import: &Import, candidates: &[String]) -> Error {
    let (instance, interface) = (&package.instance, &import.interface.name);
    let servers = match candidates {
        [] => "INSTANCE.EXPORT".to_owned(),
        candidates => super::shown(candidates, " or "),
    };
    let write = match package.has_defaults {
        true => format!(
            "write a table `[package.{}]` with component, memory and imports",
            instance.name
        ),
        false => {
            let place = package.imports.first().map(|import| &import.import.place);
            instance.write_into("imports", place)
        }
    };
    Error::new(
        &instance.name.place,
        format!("import `{}` of the package `{}` is not connected", import.name, instance.name),
        match package.has_defaults {
            true => format!("expected one export of the interface `{interface}` in this system"),
            false => format!("expected who serves the interface `{interface}`"),
        },
        format!("{write}: {} = {servers}", import.name),
    )
}
