//! Equal clients: one box stands for all of them, or a system with 40 of them could not be read.

use crate::{Graph, Node};

/// So many are drawn as one; fewer are drawn each.
const LEAST: usize = 3;

/// The graph with one node for each group of instances that nobody calls and that differ in name and
/// domain only.
pub(crate) fn equal_clients(graph: &Graph) -> Graph {
    let is_called = |index: usize| {
        graph.nodes.iter().any(|node| node.imports.iter().any(|import| import.node == index))
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, node) in graph.nodes.iter().enumerate() {
        let equal = |group: &&mut Vec<usize>| {
            let first = group[0];
            !is_called(first) && !is_called(index) && differ_in_name_only(&graph.nodes[first], node)
        };
        match groups.iter_mut().find(equal) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    let groups = groups.into_iter().flat_map(|group| {
        if group.len() < LEAST {
            group.into_iter().map(|index| vec![index]).collect()
        } else {
            vec![group]
        }
    });
    let mut groups: Vec<Vec<usize>> = groups.collect();
    groups.sort();
    let place = |index: usize| groups.iter().position(|group| group[0] == index);
    let nodes = groups.iter().map(|group| {
        let mut node = graph.nodes[group[0]].clone();
        if group.len() > 1 {
            node.name = format!("{} ×{}", stem(graph, group), group.len());
            node.equals = group.len() - 1;
        }
        for import in &mut node.imports {
            import.node = place(import.node).expect("who is called stands for itself");
        }
        node
    });
    Graph { title: graph.title.clone(), nodes: nodes.collect() }
}

fn differ_in_name_only(one: &Node, other: &Node) -> bool {
    let nameless = |node: &Node| Node { name: String::new(), domain: 0, ..node.clone() };
    one.role.is_none() && nameless(one) == nameless(other)
}

/// What their names begin with, without the numbers behind; else the component's name.
fn stem(graph: &Graph, group: &[usize]) -> String {
    let first = &graph.nodes[group[0]];
    let bare = |name: &str| name.trim_end_matches(|end: char| end.is_ascii_digit()).to_owned();
    let stem = bare(&first.name);
    let is_common = group.iter().all(|index| bare(&graph.nodes[*index].name) == stem);
    let stem = if is_common { stem } else { first.component.clone() };
    stem.trim_end_matches(['-', '_']).to_owned()
}
