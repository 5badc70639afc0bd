//! Packages that replace an instance while it runs: what they have as it, and what stays the instance's.

use crate::draft::ABSENT;
use crate::place::Located;
use crate::report::Report;
use crate::resolve::find_instance;
use crate::tree::{Data, Entry, Node};
use crate::units::parse_size;

/// What grows in an instance, and to how much: what is loaded has all of it at once.
const GROWING: [(&str, &str); 2] = [("heap", "heap_limit"), ("stack", "stack_limit")];

/// Keys beside those that no package has which stay the instance's: what it is promised at run time.
const PROMISED: [&str; 4] = ["children", "portals", "names", "sections_at_run_time"];

/// Of an export: who may have it, and who is trusted.
const OF_EXPORT: [&str; 2] = ["open", "trust"];

/// Lays each package that replaces an instance over what it has as that. Everything has been put in.
pub(crate) fn inherit(top: &mut Node, report: &mut Report) {
    let instances = top.get("instance").and_then(Node::entries).unwrap_or_default().to_vec();
    let name = |entry: &Entry| Located::new(entry.name.clone(), entry.key.clone());
    let names: Vec<Located<String>> = instances.iter().map(name).collect();
    let packages = top.get_mut("package").and_then(Node::entries_mut);
    for package in packages.into_iter().flatten().map(|package| &mut package.value) {
        let Some(replaces) = package.get("replaces") else { continue };
        let text = replaces.text("replaces", "replaces = \"console\"", report);
        let Some(name) = text.map(|name| Located::new(name.to_owned(), replaces.place.clone()))
        else {
            continue;
        };
        if let Some(index) = find_instance(&name, &names, report) {
            *package = package.clone().over(inherited(instances[index].value.clone()));
        }
    }
}

/// What a package has as the instance of this table.
fn inherited(mut table: Node) -> Node {
    if let Some(stacks) = table.get_mut("stacks") {
        // Those of the instance stay, and grow.
        stacks.remove("limit");
    }
    for (key, limit) in GROWING {
        let Some(limit) = table.remove(limit) else { continue };
        let Data::Table(keys) = &mut table.data else { continue };
        if !is_zero(&limit.value) {
            keys.retain(|entry| entry.name != key);
            keys.push(Entry { name: key.to_owned(), ..limit });
        }
    }
    for key in ABSENT.iter().map(|(key, _)| *key).chain(PROMISED) {
        table.remove(key);
    }
    for import in entries(&mut table, "imports") {
        // Of its stack and state only the server is left.
        if let Some(server) = import.value.remove("to") {
            import.value = server.value;
        }
    }
    for export in entries(&mut table, "exports") {
        OF_EXPORT.iter().for_each(|key| drop(export.value.remove(key)));
    }
    table
}

fn is_zero(size: &Node) -> bool {
    match &size.data {
        Data::Integer(size) => *size == Some(0),
        _ => size.as_text().is_some_and(|text| text == "0" || parse_size(text) == Some(0)),
    }
}

fn entries<'a>(table: &'a mut Node, key: &str) -> impl Iterator<Item = &'a mut Entry> {
    table.get_mut(key).and_then(Node::entries_mut).into_iter().flatten()
}
