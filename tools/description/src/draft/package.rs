//! The table of a package, as written: that of an instance, without what only the layout can give.

use super::connections::read_target;
use super::instance::read_instance;
use super::{Draft, InstanceDraft, MEMORY_MAXIMUM, PackageDraft};
use crate::names::NameKind;
use crate::package::Paged;
use crate::place::Located;
use crate::report::{Error, Report};
use crate::table::Value;
use crate::tree::{Data, Entry, Node};
use cairn_abi::address::{LEAF_SPAN, PAGE_SIZE};
use cairn_abi::loadable::LEAVES_EACH;

/// Keys of instances that packages do not have, and why.
pub(crate) const ABSENT: [(&str, &str); 18] = [
    ("count", "it can be loaded as often as one wants, under other names"),
    ("placement", "it is loaded into a protection domain of its own"),
    ("moves", "what is loaded stays in its protection domain"),
    ("fate", "it is loaded into a protection domain of its own"),
    ("trust", "it is loaded into a protection domain of its own"),
    ("stack_group", "its stacks are its own"),
    ("devices", "devices are given out by the layout"),
    ("dma", "devices are given out by the layout"),
    ("trusted", "it has no device, and no interface that commands is open to it"),
    (
        "sections",
        "sections of the description are mapped by the layout; it can make some while it runs, and have a range of its own with a pager (`paged`)",
    ),
    ("wrapped_by", "who stands before it is said when it is there, by the shell's `wrap`"),
    ("essential", "the system does without it until it is loaded"),
    ("locked", "where its pages lie is known when it is loaded"),
    ("share", "the parts of the time are divided by the layout"),
    ("cpu", "budgets are given out by the layout"),
    ("processes", "processes are for instances of the description"),
    ("heap_limit", "what is loaded has no heap that grows: make `heap` as large as it has to be"),
    (
        "stack_limit",
        "what is loaded has no stack that grows: make `stack` as large as it has to be",
    ),
];

/// What messages call it, and its table.
pub(crate) const PACKAGE: &str = "package";

pub(super) fn read_package(value: &Value<'_>, report: &mut Report) -> Option<InstanceDraft> {
    let before = report.errors().len();
    let replaced = value.text_of("replaces");
    for (key, of_any) in ABSENT {
        let Some(place) = value.key_of(key) else { continue };
        let reason = replaced.and_then(|replaced| stays(key, replaced));
        report.push(Error::new(
            place,
            format!("a package has no `{key}`"),
            format!("expected no such key in `[package.{}]`", value.name),
            format!("remove it: {}", reason.as_deref().unwrap_or(of_any)),
        ));
    }
    let draft = read_instance(value, PACKAGE, report)?;
    for import in &draft.imports {
        let stack = import.stack.as_ref().map(|stack| &stack.place);
        if let Some(place) = stack.or(import.state.as_ref().map(|state| &state.place)) {
            report.push(Error::new(
                place,
                format!("the portals of `{}` cannot be chosen", import.import),
                "expected \"INSTANCE.EXPORT\" alone: nobody agreed to trust who is loaded",
                format!("write {} = \"{}.{}\"", import.import, import.instance, import.export),
            ));
        }
    }
    for trusted in draft.exports.iter().flat_map(|export| &export.trust) {
        report.push(Error::new(
            &trusted.place,
            "a package trusts nobody",
            "expected no `trust`: its stacks are its own, and its registers are saved",
            "remove it",
        ));
    }
    (report.errors().len() == before).then_some(draft)
}

/// Why a package has no such key that replaces an instance, if not for the reason that others have.
fn stays(key: &str, replaced: &str) -> Option<String> {
    match key {
        "placement" | "fate" => {
            Some(format!("it goes where `{replaced}` is, whose table says where, and stays there"))
        }
        "moves" => {
            Some(format!("it stays where `{replaced}` is: only the description's content moves"))
        }
        "count" | "heap_limit" | "stack_limit" => None,
        _ => Some(format!("it has what the table of `{replaced}` says")),
    }
}

/// The range of a package that has a pager.
pub(super) fn read_paged(value: &Value<'_>, report: &mut Report) -> Option<Paged> {
    const MOST: u64 = LEAVES_EACH * LEAF_SPAN;
    let mut table = value.table("`paged`", report)?;
    let name = table
        .require("name", "name = \"work\"", report)
        .and_then(|value| value.name(NameKind::Plain, "work", report));
    let size = table
        .require("size", "size = \"64K\"", report)
        .and_then(|value| value.size(PAGE_SIZE..=MOST, PAGE_SIZE, report));
    let pager = table
        .require("pager", "pager = \"zero.pager\"", report)
        .and_then(|value| read_target(&value, report));
    table.finish(report);
    let (instance, export) = pager?;
    Some(Paged { name: name?, size: size?, instance, export })
}

/// The packages with what the shelf says: one that has no table is the component of its name, or at its path, with its defaults.
pub(super) fn shelve(
    packages: Vec<InstanceDraft>,
    shelf: &[Located<String>],
    report: &mut Report,
) -> Vec<PackageDraft> {
    let draft = |instance| PackageDraft { instance, is_shelved: false, has_defaults: false };
    let mut packages: Vec<PackageDraft> = packages.into_iter().map(draft).collect();
    for (place, name) in shelf.iter().enumerate() {
        let short = called(name);
        let mut before = shelf[..place].iter();
        if let Some(other) = before.find(|other| called(other) == short) {
            report.push(
                Error::new(
                    &name.place,
                    format!("`{short}` is on the shelf twice"),
                    "expected each package once",
                    "remove one of them: a package can be loaded as often as one wants",
                )
                .note(&other.place, "the first time"),
            );
            continue;
        }
        let mut described = packages.iter_mut();
        match described.find(|package| *package.instance.name == short) {
            Some(package) => package.is_shelved = true,
            None => packages.extend(defaults(name, report)),
        }
    }
    packages
}

impl Draft {
    /// Adds the package of this name, if it is not there: the component of that name, or at that path.
    pub fn add_package(&mut self, name: &Located<String>, report: &mut Report) {
        if !self.packages.iter().any(|package| *package.instance.name == called(name)) {
            let package = defaults(name, report);
            let is_shelved = false;
            self.packages.extend(package.map(|package| PackageDraft { is_shelved, ..package }));
        }
    }
}

/// What a package is called that is named by its component, which may be a path.
fn called(component: &str) -> &str {
    component.rsplit('/').next().unwrap_or(component)
}

/// The package of this component.
fn defaults(name: &Located<String>, report: &mut Report) -> Option<PackageDraft> {
    let node = |data| Node { place: name.place.clone(), data };
    let entry = |key: &str, value| Entry {
        name: key.to_owned(),
        key: name.place.clone(),
        value,
        copy_of: None,
    };
    let table = vec![
        entry("component", node(Data::Text(name.value.clone()))),
        // What it takes is known when it is built.
        entry("memory", node(Data::Integer(Some(MEMORY_MAXIMUM.into())))),
    ];
    let entry = entry(called(name), node(Data::Table(table)));
    let instance = read_package(&Value::new(&entry), report)?;
    Some(PackageDraft { instance, is_shelved: true, has_defaults: true })
}
