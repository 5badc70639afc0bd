//! Checks packages that replace an instance against what its component's file says: portals stay where they are, so the successor
//! has to be met by them, and to meet its own.

use super::{Connector, difference, signature};
use crate::model::{Instance, Package};
use crate::place::{Located, Place};
use crate::report::{Error, Report};
use cairn_abi::domain::PORTAL_FIRST_IMPORT;
use cairn_loader::{Descriptor, Export, Import, Interface};

/// A successor, and the instance that it replaces.
struct Pair<'a> {
    package: &'a Package,
    replaces: &'a Place,
    component: &'a Descriptor,
    predecessor: &'a Instance,
    of: &'a Descriptor,
    /// What has portals behind its own in the table, what that is, and whose.
    behind: Option<(&'a Place, &'static str, &'a str)>,
}

impl<'a> Connector<'a> {
    /// Whether a package has this import, export, argument or `before_ready` as the instance that it replaces: then its component may do
    /// without.
    pub(super) fn is_inherited<T>(&self, package: &Package, part: &Located<T>) -> bool {
        let Some(replaced) = &package.replaces else { return false };
        let instance = &self.system.instances[**replaced];
        let imports = instance.imports.iter().map(|connection| &connection.import.place);
        let exports = instance.exports.iter().map(|export| &export.name.place);
        let arguments = instance.arguments.iter().map(|(name, _)| &name.place);
        let wait = instance.callers_wait.iter().map(|wait| &wait.place);
        imports.chain(exports).chain(arguments).chain(wait).any(|place| place.is(&part.place))
    }

    /// Whether the instance that a package replaces, if it does, has a connection for this import, which is checked as that.
    pub(super) fn is_connected(&self, package: &Package, import: &str) -> bool {
        let replaced = package.replaces.as_ref().map(|index| &self.system.instances[**index]);
        let mut connections = replaced.iter().flat_map(|instance| &instance.imports);
        connections.any(|connection| *connection.import == import)
    }

    /// Whether those that move take their state along.
    pub(super) fn check_moving(&self, report: &mut Report) {
        for (at, instance) in self.system.described().iter().enumerate() {
            if let Some(moves) = &instance.moves {
                self.check_state_is_open(at, (&moves.place, "it moves".to_owned()), report);
            }
        }
    }

    /// Whether a package can take the place of the instance that it replaces.
    pub(super) fn check_successor(
        &self,
        package: &Package,
        component: &Descriptor,
        report: &mut Report,
    ) {
        let Some(replaced) = &package.replaces else { return };
        let Some(of) = self.components[**replaced] else { return };
        let predecessor = &self.system.instances[**replaced];
        let behind = self.behind(**replaced);
        let pair = Pair { package, replaces: &replaced.place, component, predecessor, of, behind };
        for export in &of.exports {
            pair.check_export(export, report);
        }
        for fellow in self.system.fellows(**replaced) {
            let why = match fellow == **replaced {
                true => format!("`{}` is to replace it", package.instance.name),
                false => format!("it ends with `{}`", predecessor.name),
            };
            self.check_state_is_open(fellow, (&replaced.place, why), report);
        }
        pair.check_imports(report);
        pair.check_thread(report);
        for import in &package.imports {
            self.check_server_stays(&pair, import, report);
        }
    }

    /// What has portals behind those of an instance's imports: who comes after it in its domain, and devices of all.
    fn behind(&self, at: usize) -> Option<(&Place, &'static str, &str)> {
        let calls = |fellow: &usize| !self.portals(*fellow).is_empty();
        let mut later = self.system.fellows(at).filter(|fellow| *fellow > at).filter(calls);
        let later = later.next().map(|fellow| &self.system.instances[fellow]);
        let all = || self.system.fellows(at).map(|fellow| &self.system.instances[fellow]);
        let device = || all().find_map(|one| Some((one, one.devices.first()?)));
        let later = later.map(|one| (&one.name.place, "it is behind", &**one.name));
        later.or_else(|| device().map(|(one, device)| (&device.place, "a device", &**one.name)))
    }

    /// Who has state gives it to the loader, or is not replaced, nor is who ends with it, and does not move.
    fn check_state_is_open(&self, at: usize, because: (&Place, String), report: &mut Report) {
        let (Some(loader), Some(component)) = (self.system.roles.loader, self.components[at])
        else {
            return;
        };
        let has = |name: &str, interface: &str| {
            let mut exports = component.exports.iter();
            exports.any(|export| export.name == name && export.interface.name == interface)
        };
        // Whose state stays in place is not asked for it.
        let export = match (has("in_place", "InPlace"), has("successor", "Successor")) {
            (true, _) => "in_place",
            (false, true) => "successor",
            (false, false) => return,
        };
        let (of, loader_name) = (&self.system.instances[at], &self.system.instances[loader].name);
        let described = of.exports.iter().find(|one| *one.name == export);
        if described.is_some_and(|described| described.open.allows(loader)) {
            return;
        }
        let said = described.and_then(|export| export.open_place.as_ref());
        let declared = described.filter(|export| export.declared).map(|export| &export.name.place);
        let table = of.write_into(&format!("exports.{export}"), declared);
        let (place, note) = because;
        report.push(
            Error::new(
                said.unwrap_or(&of.name.place),
                format!("`{}` does not give its state to `{loader_name}`", of.name),
                format!("expected its export `{export}` to be open to `{loader_name}`"),
                format!("{table}: open = [\"{loader_name}\"]"),
            )
            .note(place, note),
        );
    }

    /// An import that both have leads where it led.
    fn check_server_stays(
        &self,
        pair: &Pair<'_>,
        import: &crate::model::PackageImport,
        report: &mut Report,
    ) {
        let connections = &pair.predecessor.imports;
        let Some(now) = connections.iter().find(|one| *one.import == *import.import) else {
            return;
        };
        let server = &self.system.instances[*now.target];
        let export = &server.exports[*now.export].name;
        if (&*import.instance, &*import.export) == (&*server.name, &**export) {
            return;
        }
        let expected = format!("{}.{export}", server.name);
        report.push(
            Error::new(
                &import.instance.place,
                format!(
                    "import `{}` of `{}` leads elsewhere than that of `{}`",
                    import.import, pair.package.instance.name, pair.predecessor.name
                ),
                format!("expected \"{expected}\": the portals of who is replaced stay as they are"),
                "remove this connection",
            )
            .note(&now.target.place, "where it leads"),
        );
    }
}

impl Pair<'_> {
    /// Something does not fit.
    fn unfit(&self, message: String, expected: String, help: String) -> Error {
        Error::new(&self.package.instance.component.place, message, expected, help)
            .note(self.replaces, format!("it is to replace `{}`", self.predecessor.name))
    }

    /// What clients of the predecessor call.
    fn check_export(&self, export: &Export, report: &mut Report) {
        let (name, wanted) = (&self.package.instance.name, &export.interface);
        let served = self.component.exports.iter().find(|served| served.name == export.name);
        let served = served.filter(|served| served.is_object == export.is_object);
        let folder = &self.package.instance.folder;
        let help = |first: String| {
            format!(
                "{first}; or name a component that serves what `{}` does",
                self.predecessor.name
            )
        };
        let (expected, help) = match served {
            None => (
                format!("expected an export `{}` of the interface `{}`", export.name, wanted.name),
                help(format!("let the component in `{folder}` export it")),
            ),
            Some(served) if served.interface.name != wanted.name => (
                format!(
                    "expected the interface `{}`, found `{}`",
                    wanted.name, served.interface.name
                ),
                help(format!("let `{}` of the component in `{folder}` serve it", export.name)),
            ),
            Some(served) if !is_same(&served.interface, wanted) => (
                match served.interface.version == wanted.version {
                    true => "expected the same letters of all methods behind the same version"
                        .to_owned(),
                    false => format!(
                        "expected version {:016x}, found {:016x}",
                        wanted.version, served.interface.version
                    ),
                },
                help(format!("{}; build both again", difference(wanted, &served.interface))),
            ),
            Some(_) => return,
        };
        let message =
            format!("`{name}` does not serve `{}` of `{}`", export.name, self.predecessor.name);
        report.push(self.unfit(message, expected, help));
    }

    /// The portals of the imports that both have are the same ones.
    fn check_imports(&self, report: &mut Report) {
        let mut portal = PORTAL_FIRST_IMPORT;
        for (import, of) in self.component.imports.iter().zip(&self.of.imports) {
            if import.name != of.name || !is_same(&import.interface, &of.interface) {
                report.push(self.other_import(portal, import, of));
                return;
            }
            portal += import.interface.methods.len();
        }
        let more = self.component.imports.get(self.of.imports.len());
        if let Some((more, (place, what, whose))) = more.zip(self.behind) {
            let whose = match whose == &**self.predecessor.name {
                true => "of its devices".to_owned(),
                false => format!("of `{whose}`"),
            };
            report.push(
                self.unfit(
                    format!("there are no portals for the import `{}` of `{}`", more.name, self.package.instance.name),
                    format!("expected no more imports than `{}` has, since portals {whose} are behind them", self.predecessor.name),
                    format!("let the component in `{}` do without, or declare the import in that of `{}` too", self.package.instance.folder, self.predecessor.name),
                )
                .note(place, what),
            );
        }
    }

    /// The quota of threads stays as it is.
    fn check_thread(&self, report: &mut Report) {
        if self.component.main.is_none() || *self.predecessor.threads > 0 {
            return;
        }
        let (name, of) = (&self.package.instance.name, &self.predecessor.name);
        report.push(
            Error::new(
                &self.predecessor.threads.place,
                format!("`{name}` has a main function, but `{of}` no thread to run it"),
                "expected at least 1",
                format!("write `threads = 1` for `{of}`, whose quota stays as it is"),
            )
            .note(self.replaces, format!("`{name}` is to replace it")),
        );
    }

    /// At the portals of an import of the predecessor is another one.
    fn other_import(&self, portal: usize, import: &Import, of: &Import) -> Error {
        let shown = |import: &Import| format!("`{}: {}`", import.name, import.interface.name);
        let (found, wanted) = (shown(import), shown(of));
        let expected = match found == wanted {
            true => format!(
                "expected {wanted} in the same version: {}",
                difference(&of.interface, &import.interface)
            ),
            false => format!("expected {wanted}, found {found}"),
        };
        self.unfit(
            format!(
                "the imports of `{}` are not those of `{}` from portal {portal} on",
                self.package.instance.name, self.predecessor.name
            ),
            expected,
            format!(
                "declare the imports of `{}` first and in the same order in the component in `{}`, further ones behind them: portals stay where they are",
                self.predecessor.name, self.package.instance.folder
            ),
        )
    }
}

fn is_same(one: &Interface, other: &Interface) -> bool {
    one.name == other.name && one.version == other.version && signature(one).eq(signature(other))
}
