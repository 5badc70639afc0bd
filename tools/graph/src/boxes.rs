//! How large an instance's box is and where its rows are.

use crate::{Graph, Import, Node};

/// Width of a character of the drawing's fixed-width font.
pub(crate) const CHARACTER: f64 = 6.7;
/// Height of a row.
pub(crate) const ROW: f64 = 18.0;
/// Height of a box's head: name, and what it is.
pub(crate) const HEAD: f64 = 38.0;
/// Space between a box's border and its text.
pub(crate) const MARGIN: f64 = 9.0;

/// One box.
pub(crate) struct Shape {
    pub width: f64,
    pub height: f64,
}

/// The boxes of a graph.
pub(crate) struct Boxes {
    pub shapes: Vec<Shape>,
}

impl Boxes {
    pub(crate) fn new(graph: &Graph) -> Boxes {
        Boxes { shapes: graph.nodes.iter().map(shape).collect() }
    }
}

/// Middle of the row of an export, from the top of its box.
pub(crate) fn export_row(export: usize) -> f64 {
    HEAD + ROW * (export as f64 + 0.5)
}

/// Middle of the row of an import: below the exports.
pub(crate) fn import_row(node: &Node, import: usize) -> f64 {
    export_row(node.exports.len() + import)
}

/// The text of an import's row.
pub(crate) fn import_text(import: &Import) -> String {
    if import.may_open {
        return format!("may open {}", named(&import.name, &import.interface));
    }
    let others = match import.alternatives.len() {
        0 => String::new(),
        others => format!(" +{others}"),
    };
    format!("{} {}{others}", named(&import.name, &import.interface), import.specification)
}

/// A name with its interface, unless the name says it already.
pub(crate) fn named(name: &str, interface: &str) -> String {
    if interface.is_empty() || name.replace('_', "").eq_ignore_ascii_case(interface) {
        name.to_owned()
    } else {
        format!("{name}: {interface}")
    }
}

/// The second line of a box's head.
pub(crate) fn subtitle(node: &Node) -> String {
    let domain = match node.equals {
        0 => format!("domain {}", node.domain),
        equals if node.frame.is_some() => format!("{} instances", equals + 1),
        equals => format!("{} domains", equals + 1),
    };
    let mut text = format!("{domain}, priority {}", node.priority);
    if node.component != node.name {
        text = format!("{}, {text}", node.component);
    }
    text
}

/// The first line's right end.
pub(crate) fn role(node: &Node) -> String {
    let moves = if node.moves { "moves" } else { "" };
    node.role.as_ref().map_or(moves.to_owned(), |role| format!("role {role}"))
}

fn shape(node: &Node) -> Shape {
    // The name is larger than the rest.
    let head = (node.name.len() as f64 * 1.25 + role(node).len() as f64 + 3.0)
        .max(subtitle(node).len() as f64);
    let rows = node
        .exports
        .iter()
        .map(|export| named(&export.name, &export.interface).len())
        .chain(node.imports.iter().map(|import| import_text(import).len()))
        .chain(node.devices.iter().map(|device| device.len() + 2))
        .max()
        .unwrap_or(0);
    let characters = head.max(rows as f64 + 2.0);
    let rows = node.exports.len() + node.imports.len() + node.devices.len();
    Shape { width: characters * CHARACTER + 2.0 * MARGIN, height: HEAD + ROW * rows as f64 + 6.0 }
}
