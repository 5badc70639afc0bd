//! The lines from imports to exports.

use crate::Graph;
use crate::columns::Columns;

/// The line of an import.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// The client.
    pub client: usize,
    /// Its import.
    pub import: usize,
    /// The server.
    pub server: usize,
    /// Its export.
    pub export: usize,
    /// The server does not stand to the right: the line goes round below everything.
    pub back: bool,
    /// The portals are not there from the start.
    pub may_open: bool,
}

/// Every import's line.
pub(crate) fn all(graph: &Graph, columns: &Columns) -> Vec<Line> {
    let mut lines = Vec::new();
    for (client, node) in graph.nodes.iter().enumerate() {
        for (index, import) in node.imports.iter().enumerate() {
            lines.push(Line {
                client,
                import: index,
                server: import.node,
                export: import.export,
                back: columns.of[import.node] <= columns.of[client],
                may_open: import.may_open,
            });
        }
    }
    lines
}
