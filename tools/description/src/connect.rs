//! Checks a system against what its components' files say: every import connected to an export
//! of the same interface, in the same version.

mod errors;
mod opened;
mod packages;
mod portals;
mod successors;

pub use packages::ConnectedPackage;

use crate::arguments::{self, Value};
use crate::check::processes;
use crate::control;
use crate::copies::ranges;
use crate::model::{Connection, Instance, StateMode, System};
use crate::names::suggestion;
use crate::place::Located;
use crate::report::{Error, Report};
use cairn_abi::domain::{PORTALS_DESCRIBED, Tables};
use cairn_loader::{Descriptor, Import, Interface};
use errors::*;
use std::ops::Range;

/// A system's connections in the terms of its components' files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connected {
    /// For each instance of the system, its imports in the order of the component's descriptor.
    pub imports: Vec<Vec<ConnectedImport>>,
    /// For each instance, the indexes of its imports' portals in the table of its domain: behind those of its fellows before
    /// it. A component is built as if they began at [`PORTAL_FIRST_IMPORT`](cairn_abi::domain::PORTAL_FIRST_IMPORT).
    pub portals: Vec<Range<usize>>,
    /// For each instance, the values of the arguments that its component declares, in its order.
    pub arguments: Vec<Vec<Value>>,
    /// For each instance, for each of its [`Instance::exports`], the index of the export in the
    /// component's descriptor.
    pub exports: Vec<Vec<usize>>,
    /// The packages of the system.
    pub packages: Vec<ConnectedPackage>,
    /// Entries that a portal table needs.
    table_entries: usize,
}

impl Connected {
    /// The domain blocks: all have tables of the same size.
    pub fn tables(&self) -> Tables {
        Tables::of(self.table_entries as u64)
    }
}

/// An import of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectedImport {
    /// Its connection, as an index into [`Instance::imports`].
    pub connection: usize,
    /// The serving instance, as an index into [`System::instances`].
    pub target: usize,
    /// The export, as an index into the exports of the target's component descriptor.
    pub export: usize,
    /// The portal of its first method.
    pub first_portal: usize,
}

/// Connects every import; reports what does not fit. `descriptors` knows what is built, by its folder
/// ([`Instance::folder`]).
pub fn connect<'a>(
    system: &System,
    descriptors: impl Fn(&str) -> Option<&'a Descriptor>,
) -> Result<Connected, Report> {
    let mut report = Report::new();
    let components: Vec<Option<&Descriptor>> = system
        .instances
        .iter()
        .map(|instance| {
            let component = descriptors(&instance.folder);
            match component {
                None if instance.is_other_place() => {}
                None => report.push(not_built(instance)),
                Some(component) if component.is_thread_local && instance.is_in_kernel() => {
                    report.push(has_no_thread_pointer(instance));
                }
                Some(_) => {}
            }
            component
        })
        .collect();
    let packaged: Vec<Option<&Descriptor>> =
        system.packages.iter().map(|package| descriptors(&package.instance.folder)).collect();
    let connector = Connector { system, components };
    let described = 0..system.described().len();
    let exports = described.clone().map(|at| connector.exports(at, &mut report));
    let mut exports: Vec<Vec<usize>> = exports.collect();
    let imports = described.clone().map(|at| connector.imports(at, &mut report));
    let mut imports: Vec<Vec<ConnectedImport>> = imports.collect();
    let mut portals: Vec<Range<usize>> = described.map(|at| connector.portals(at)).collect();
    let arguments = system.described().iter().zip(&connector.components);
    let arguments = arguments.map(|(instance, component)| match component {
        Some(component) => arguments::check(instance, component, &mut report),
        None => Vec::new(),
    });
    let mut arguments: Vec<Vec<Value>> = arguments.collect();
    // Other places have what those have that move there.
    for index in (0..system.instances.len()).skip(exports.len()) {
        let own = system.identity(index);
        exports.push(exports[own].clone());
        imports.push(imports[own].clone());
        portals.push(portals[own].clone());
        arguments.push(arguments[own].clone());
    }
    let packages = system.packages.iter().zip(&packaged);
    let packages = packages
        .map(|(package, component)| connector.package(package, &packaged, *component, &mut report));
    let packages = packages.collect();
    control::check(system, &connector.components, &mut report);
    connector.check_pagers(&mut report);
    connector.check_moving(&mut report);
    let entries = (0..system.instances.len()).map(|at| connector.entries(at)).max();
    // Whole words of the portal manager's bitmaps.
    let table_entries = entries.unwrap_or(0).max(PORTALS_DESCRIBED).next_multiple_of(64);
    processes::check_addresses(system, Tables::of(table_entries as u64), &mut report);
    report.into_result(Connected { imports, portals, arguments, exports, packages, table_entries })
}

struct Connector<'a> {
    system: &'a System,
    components: Vec<Option<&'a Descriptor>>,
}

impl<'a> Connector<'a> {
    /// Checks what the description says of an instance's exports.
    fn exports(&self, at: usize, report: &mut Report) -> Vec<usize> {
        let Some(component) = self.components[at] else {
            return Vec::new();
        };
        let instance = &self.system.instances[at];
        let mut indexes = Vec::new();
        for export in &instance.exports {
            let Some(index) = find_export(component, &export.name) else {
                // A connection that names it is reported at the connection.
                if export.declared {
                    report.push(missing_export(instance, component, &export.name));
                }
                continue;
            };
            if component.exports[index].is_object
                && let Some(place) = &export.open_place
            {
                report.push(object_opened(instance, &export.name, place));
            }
            indexes.push(index);
        }
        indexes
    }

    /// What the description says of the time before an instance serves.
    fn check_ready(
        &self,
        at: usize,
        component: &Descriptor,
        wait: &Located<bool>,
        report: &mut Report,
    ) {
        let name = &self.system.instances[at].name;
        if !component.says_ready {
            report.push(always_serves(&self.system.instances[at], wait));
        } else if **wait && !self.system.callers_wait(at) {
            report.push(Error::new(
                &wait.place,
                format!("nobody lets the callers of `{name}` wait"),
                "expected an instance without a role, outside of the kernel domain, and a supervisor",
                "write before_ready = \"error\", or remove it: callers get `NotReady` then",
            ));
        }
    }

    fn imports(&self, at: usize, report: &mut Report) -> Vec<ConnectedImport> {
        let Some(component) = self.components[at] else {
            return Vec::new();
        };
        let instance = &self.system.instances[at];
        if component.main.is_some() && *instance.threads == 0 {
            report.push(no_thread(instance));
        }
        if let Some(wait) = &instance.callers_wait {
            self.check_ready(at, component, wait, report);
        }
        for connection in &instance.imports {
            if !component.imports.iter().any(|import| import.name == *connection.import) {
                report.push(surplus_import(instance, component, &connection.import));
            }
        }
        let mut portal = self.portals(at).start;
        let mut connected = Vec::new();
        for import in &component.imports {
            let first_portal = portal;
            portal += import.interface.methods.len();
            let found = instance.imports.iter().position(|one| *one.import == import.name);
            let Some(index) = found else {
                if import.is_optional {
                    continue;
                }
                report.push(self.unconnected(instance, import));
                continue;
            };
            let connection = &instance.imports[index];
            if *connection.state == StateMode::Minimal && !import.is_minimal {
                report.push(not_minimal(instance, import, connection));
            }
            if let Some(export) = self.check_connection(instance, import, connection, report) {
                let target = *connection.target;
                connected.push(ConnectedImport { connection: index, target, export, first_portal });
            }
        }
        self.check_portals(at, report);
        connected
    }

    /// What provides sections with pages is called by portals of faults, and by nobody else.
    fn check_pagers(&self, report: &mut Report) {
        for pager in self.system.sections.iter().filter_map(|section| section.pager.as_ref()) {
            let Some(component) = self.components[*pager.instance] else { continue };
            let target = &self.system.instances[*pager.instance];
            let export = &target.exports[*pager.export];
            let served =
                find_export(component, &export.name).map(|at| &component.exports[at].interface);
            let letters = served.and_then(|served| served.methods.first());
            let is_pager = served.is_some_and(|served| served.name == "Pager")
                && letters.is_some_and(|method| method.letters == "c=tiiii");
            if !is_pager {
                report.push(Error::new(
                    &pager.export.place,
                    format!("`{}.{}` provides no pages", target.name, export.name),
                    "expected an export of the interface `Pager`",
                    "name one, as `zero.pager`, or remove `pager`: the pages are there from the start then",
                ));
            }
        }
    }

    /// An import of the component that the description does not connect.
    fn unconnected(&self, instance: &Instance, import: &Import) -> Error {
        let interface = &import.interface;
        let candidates = self.candidates(interface);
        let write = instance.write_into("imports", instance.import_place());
        let help = match candidates.as_slice() {
            [] => format!("add an instance that exports `{}`, and connect it", interface.name),
            [_] => format!("{write}: {} = {}", import.name, shown(&candidates, "")),
            _ => format!("{write}: {} = one of {}", import.name, shown(&candidates, ", ")),
        };
        Error::new(
            &instance.name.place,
            format!("import `{}` of `{}` is not connected", import.name, instance.name),
            format!("expected a connection to an export of the interface `{}`", interface.name),
            help,
        )
    }

    /// The exports of this system that serve an interface.
    fn candidates(&self, interface: &Interface) -> Vec<String> {
        let mut candidates = Vec::new();
        for (instance, component) in self.system.described().iter().zip(&self.components) {
            let exports = component.iter().flat_map(|component| &component.exports);
            for export in exports.filter(|e| !e.is_object && e.interface.name == interface.name) {
                candidates.push(format!("{}.{}", instance.name, export.name));
            }
        }
        candidates
    }

    /// The index of the export in the target's descriptor if the connection fits.
    fn check_connection(
        &self,
        instance: &Instance,
        import: &Import,
        connection: &Connection,
        report: &mut Report,
    ) -> Option<usize> {
        let component = self.components[*connection.target]?;
        let target = &self.system.instances[*connection.target];
        let export = &target.exports[*connection.export];
        let Some(index) = find_export(component, &export.name) else {
            if !export.declared {
                report.push(self.no_such_export(connection, target, component, import));
            }
            return None;
        };
        let served = &component.exports[index];
        if served.is_object {
            report.push(Error::new(
                &connection.export.place,
                format!("`{}` is an object interface of `{}`", served.name, target.name),
                "expected a service, which a client can be connected to",
                "connect to the service whose method makes the object",
            ));
            return None;
        }
        if served.interface.name != import.interface.name {
            report.push(self.wrong_interface(instance, import, connection, served));
            return None;
        }
        // The version says more, but each component says its own; a portal does what the letters say.
        if served.interface.version != import.interface.version
            || signature(&served.interface).ne(signature(&import.interface))
        {
            report.push(wrong_version(instance, target, import, connection, served));
            return None;
        }
        Some(index)
    }

    fn no_such_export(
        &self,
        connection: &Connection,
        target: &Instance,
        component: &Descriptor,
        import: &Import,
    ) -> Error {
        let name = &target.exports[*connection.export].name;
        let services = component.exports.iter().filter(|export| !export.is_object);
        Error::new(
            &connection.export.place,
            format!("`{}` has no export `{name}`", target.name),
            format!("expected an export of the interface `{}`", import.interface.name),
            suggestion(
                name,
                &format!("`{}` exports", target.name),
                services.map(|export| export.name.as_str()).collect::<Vec<_>>(),
                "connect the import to another instance",
            ),
        )
    }

    fn wrong_interface(
        &self,
        instance: &Instance,
        import: &Import,
        connection: &Connection,
        served: &cairn_loader::Export,
    ) -> Error {
        let candidates = self.candidates(&import.interface);
        let help = if candidates.is_empty() {
            format!("add an instance that exports `{}`, and connect it", import.interface.name)
        } else {
            format!("connect it to {}", shown(&candidates, " or "))
        };
        Error::new(
            &connection.export.place,
            format!("import `{}` of `{}` needs another interface", import.name, instance.name),
            format!("expected `{}`, found `{}`", import.interface.name, served.interface.name),
            help,
        )
    }
}

/// Exports as they are written.
fn shown(exports: &[String], separator: &str) -> String {
    ranges(exports.iter().map(String::as_str), |export| format!("{export:?}")).join(separator)
}

fn find_export(component: &Descriptor, name: &str) -> Option<usize> {
    component.exports.iter().position(|candidate| candidate.name == name)
}

/// The letters of all methods, which say what a portal does with the client's registers.
fn signature(interface: &Interface) -> impl Iterator<Item = &str> {
    interface.methods.iter().map(|method| method.letters.as_str())
}

/// The first difference between what a client expects and what a server has.
fn difference(client: &Interface, server: &Interface) -> String {
    for (index, wanted) in client.methods.iter().enumerate() {
        match server.methods.get(index) {
            None => return format!("the server lacks the method `{}`", wanted.name),
            Some(found) if found.name != wanted.name => {
                return format!(
                    "method {} is `{}` for the client, `{}` for the server",
                    index + 1,
                    wanted.name,
                    found.name
                );
            }
            Some(found) if found.letters != wanted.letters => {
                return format!(
                    "the parameters of `{}` are `{}` for the client, `{}` for the server",
                    wanted.name, wanted.letters, found.letters
                );
            }
            Some(_) => {}
        }
    }
    match server.methods.get(client.methods.len()) {
        Some(surplus) => format!("the client lacks the method `{}`", surplus.name),
        None => "a type in the signature of a method has changed".to_owned(),
    }
}
