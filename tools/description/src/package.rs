//! Packages: what can be loaded while the system runs.

use crate::draft::{ExportDraft, InstanceDraft, PackageDraft};
use crate::model::{Instance, System};
use crate::names::suggestion;
use crate::offered::unknown_instance;
use crate::place::Located;
use crate::report::{Error, Report};
use crate::resolve::find_instance;

/// Stands for every instance in `open` and `trust`.
pub(crate) const EVERYONE: &str = "*";

/// A component that can be loaded, with its part of a description.
#[derive(Clone, Debug)]
pub struct Package {
    /// What an instance of it has, in so far as it does not lie in the connections: those name others.
    pub instance: Instance,
    /// Who serves its imports.
    pub imports: Vec<PackageImport>,
    /// What the description says of its exports.
    pub exports: Vec<PackageExport>,
    /// It is in the image.
    pub is_shelved: bool,
    /// It has no table: its imports lead to whoever serves them, everyone may open its exports, and its quota of memory is what it
    /// takes and some more.
    pub has_defaults: bool,
    /// Its range of addresses that has a pager.
    pub paged: Option<Paged>,
    /// The instance that it is to replace, as an index into [`System::instances`].
    pub replaces: Option<Located<usize>>,
}

/// A range of addresses of a package whose pages another provides.
#[derive(Clone, Debug)]
pub struct Paged {
    /// What the component calls it, as a section.
    pub name: Located<String>,
    /// Its bytes.
    pub size: Located<u64>,
    /// The pager: an instance of the system, or one that is loaded by then.
    pub instance: Located<String>,
    /// Its export.
    pub export: Located<String>,
}

/// Who serves an import of a package.
#[derive(Clone, Debug)]
pub struct PackageImport {
    /// The component's name of the import.
    pub import: Located<String>,
    /// The instance: of the system, or one that is loaded by then.
    pub instance: Located<String>,
    /// Its export.
    pub export: Located<String>,
}

/// An export of a package.
#[derive(Clone, Debug)]
pub struct PackageExport {
    /// Its name.
    pub name: Located<String>,
    /// Who may open it: `*`, or names with a space between each two; nobody if it is empty.
    pub policy: String,
    /// Where the description says so.
    pub open: Option<Located<Vec<Located<String>>>>,
    /// The longest time that a call may execute, in nanoseconds.
    pub longest_execution: Option<Located<u64>>,
    /// The longest time until a call is back, in nanoseconds.
    pub longest_call: Option<Located<u64>>,
    /// How long it may keep a thread that was called home, in nanoseconds.
    pub cancelled_for: Option<Located<u64>>,
}

impl System {
    /// The packages that are in the image, with their places among all.
    pub fn shelf(&self) -> impl Iterator<Item = (usize, &Package)> {
        self.packages.iter().enumerate().filter(|(_, package)| package.is_shelved)
    }

    /// The packages that replace an instance, each with its index.
    pub fn successors(&self) -> impl Iterator<Item = (&Package, &Located<usize>)> {
        self.packages.iter().filter_map(|package| Some((package, package.replaces.as_ref()?)))
    }
}

/// Resolves the packages. Who may open their exports is known here; who serves their imports perhaps only when they are loaded. `instance` makes what they have as instances do.
pub(crate) fn resolve(
    drafts: Vec<PackageDraft>,
    instances: &[Located<String>],
    mut instance: impl FnMut(InstanceDraft, &mut Report) -> Instance,
    report: &mut Report,
) -> Vec<Package> {
    let names: Vec<String> = drafts.iter().map(|draft| draft.instance.name.value.clone()).collect();
    let known = || instances.iter().map(|name| name.as_str());
    let check = |name: &Located<String>, report: &mut Report| {
        if known().any(|known| *known == **name) {
            return;
        }
        let (what, expected) = match names.contains(name) {
            true => (
                format!("`{name}` is a package"),
                "expected the name of an instance: what is open to \"*\" alone is open to what is loaded",
            ),
            false => (
                unknown_instance(name),
                "expected the name of an instance of this system, or \"*\"",
            ),
        };
        let table = format!("add a table `[instance.{name}]`");
        report.push(Error::new(
            &name.place,
            what,
            expected,
            suggestion(name, "there are", known(), &table),
        ));
    };
    let mut packages = Vec::new();
    for PackageDraft { instance: draft, is_shelved, has_defaults } in drafts {
        let replaces = draft.replaces.as_ref().and_then(|name| {
            let index = find_instance(name, instances, report)?;
            Some(Located::new(index, name.place.clone()))
        });
        let (imports, exports, paged) = (draft.imports, draft.exports, draft.paged.clone());
        let draft = InstanceDraft { imports: Vec::new(), exports: Vec::new(), ..draft };
        for open in exports.iter().filter_map(|export| export.open.as_ref()) {
            open.iter().filter(|name| ***name != *EVERYONE).for_each(|name| check(name, report));
        }
        let imports = imports.into_iter().map(|draft| PackageImport {
            import: draft.import,
            instance: draft.instance,
            export: draft.export,
        });
        packages.push(Package {
            instance: instance(draft, report),
            imports: imports.collect(),
            exports: exports.into_iter().map(export).collect(),
            is_shelved,
            has_defaults,
            paged,
            replaces,
        });
    }
    packages
}

fn export(draft: ExportDraft) -> PackageExport {
    let names = draft.open.iter().flat_map(|open| open.iter().map(|name| name.as_str()));
    let names: Vec<&str> = names.collect();
    let policy = match names.contains(&EVERYONE) {
        true => EVERYONE.to_owned(),
        false => names.join(" "),
    };
    PackageExport {
        name: draft.name,
        policy,
        open: draft.open,
        longest_execution: draft.longest_execution,
        longest_call: draft.longest_call,
        cancelled_for: draft.cancelled_for,
    }
}
