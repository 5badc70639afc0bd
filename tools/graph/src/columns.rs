//! Which column an instance stands in: clients left of their servers.

use crate::Graph;

/// Columns of the nodes, and the imports that lead back to the left.
pub(crate) struct Columns {
    /// The column of each node, from the left.
    pub of: Vec<usize>,
    /// How many there are.
    pub count: usize,
}

/// Servers stand as far right as their longest chain of servers below them is short. An import
/// that closes a cycle does not count.
pub(crate) fn assign(graph: &Graph) -> Columns {
    let mut depths =
        Depths { graph, of: vec![None; graph.nodes.len()], open: vec![false; graph.nodes.len()] };
    for node in 0..graph.nodes.len() {
        depths.visit(node);
    }
    let depths: Vec<usize> = depths.of.into_iter().map(|depth| depth.unwrap_or(0)).collect();
    let deepest = depths.iter().copied().max().unwrap_or(0);
    Columns { of: depths.iter().map(|depth| deepest - depth).collect(), count: deepest + 1 }
}

struct Depths<'a> {
    graph: &'a Graph,
    of: Vec<Option<usize>>,
    open: Vec<bool>,
}

impl Depths<'_> {
    /// Length of the longest chain of servers below `node`.
    fn visit(&mut self, node: usize) -> usize {
        if let Some(depth) = self.of[node] {
            return depth;
        }
        self.open[node] = true;
        let mut depth = 0;
        for import in &self.graph.nodes[node].imports {
            if !self.open[import.node] {
                depth = depth.max(self.visit(import.node) + 1);
            }
        }
        self.open[node] = false;
        self.of[node] = Some(depth);
        depth
    }
}
