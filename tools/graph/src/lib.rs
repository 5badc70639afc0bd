//! Draws a system as SVG: a box for each instance of a component, a line from each import to the export it is connected to, and a
//! frame round the instances that have one domain, the kernel's or another.
//!
//! Three or more clients that differ in name only share one box.
//!
//! What an instance may only open at run time is a dashed line from a row of its own.
//!
//! Boxes stand in columns, clients left of their servers. A box has a row for each export on its left side
//! and for each import on its right side, so what a line means stands at its ends and never lies in
//! another line's way. Lines to the same export run together wherever they pass a column.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod boxes;
mod columns;
mod frames;
mod group;
mod lines;
mod order;
mod svg;

/// A system to draw.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// What it is called.
    pub title: String,
    /// The instances.
    pub nodes: Vec<Node>,
}

/// An instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its component.
    pub component: String,
    /// Number of its protection domain.
    pub domain: u32,
    /// What stands at the frame that it shares with others of the same text; `None`: it has a domain of its own.
    pub frame: Option<String>,
    /// What the nucleus knows it for.
    pub role: Option<String>,
    /// It moves between its protection domain and the kernel domain. Who has a role does not.
    pub moves: bool,
    /// Priority of its first thread; colours its head.
    pub priority: u8,
    /// What it serves.
    pub exports: Vec<Export>,
    /// What it calls.
    pub imports: Vec<Import>,
    /// Names of its devices.
    pub devices: Vec<String>,
    /// Further instances for which its box stands; the drawing finds them itself.
    pub equals: usize,
}

/// Something that an instance serves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Export {
    /// Its name.
    pub name: String,
    /// Its interface.
    pub interface: String,
}

/// Something that an instance calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Import {
    /// Its name.
    pub name: String,
    /// Its interface.
    pub interface: String,
    /// Stack and state letters of its portals.
    pub specification: String,
    /// The serving instance, as an index.
    pub node: usize,
    /// Its export, as an index.
    pub export: usize,
    /// Other exports that serve the interface.
    pub alternatives: Vec<String>,
    /// It is not connected: the description lets the instance open the export at run time.
    pub may_open: bool,
}

/// The drawing, as an SVG document.
///
/// # Panics
/// If an import names a node or an export that does not exist.
pub fn draw(graph: &Graph) -> String {
    let graph = group::equal_clients(graph);
    let columns = columns::assign(&graph);
    let boxes = boxes::Boxes::new(&graph);
    let frames = frames::Frames::of(&graph);
    let plan = order::arrange(&graph, &columns, &boxes, &frames);
    svg::write(&graph, &boxes, &frames, &plan)
}
