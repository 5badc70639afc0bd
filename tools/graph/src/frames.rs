//! Frames round the instances that share a domain.
//!
//! Each frame is a band across the whole drawing, below all that have a domain of their own. So a rectangle round its boxes has no
//! other in it, whatever columns they stand in.

use crate::Graph;
use crate::boxes::Boxes;
use crate::order::{Item, Plan};

/// Space between a frame and the boxes in it.
pub(crate) const SPACE: f64 = 14.0;
/// Room for what stands at a frame, above its boxes.
pub(crate) const LABEL: f64 = 26.0;
/// Space above a frame.
const ABOVE: f64 = 18.0;

/// The frames of a graph.
pub(crate) struct Frames {
    /// What stands at each, from the top.
    pub labels: Vec<String>,
    /// The frame of each node.
    of: Vec<Option<usize>>,
}

/// What a frame is round.
pub(crate) struct Extent {
    /// Its columns, the last one included.
    pub columns: (usize, usize),
    /// Heights of the highest and the lowest edge of its boxes.
    pub heights: (f64, f64),
}

impl Frames {
    pub(crate) fn of(graph: &Graph) -> Frames {
        let mut labels: Vec<String> =
            graph.nodes.iter().filter_map(|node| node.frame.clone()).collect();
        labels.sort();
        labels.dedup();
        let find = |label: &String| labels.binary_search(label).ok();
        let of = graph.nodes.iter().map(|node| node.frame.as_ref().and_then(find)).collect();
        Frames { labels, of }
    }

    /// The band of an item, from the top: boxes in no frame are in the first. Lines that pass go with the box they lead to.
    pub(crate) fn band(&self, item: Item) -> usize {
        let (Item::Box(node) | Item::Pass { node, .. }) = item;
        self.of[node].map_or(0, |frame| frame + 1)
    }

    /// Moves bands down, so that none begins above the end of the one before.
    pub(crate) fn part(&self, items: &[Vec<Item>], tops: &mut [Vec<f64>], boxes: &Boxes) {
        let mut end: f64 = 0.0;
        for band in 0..=self.labels.len() {
            let places: Vec<(usize, usize)> = (0..items.len())
                .flat_map(|column| (0..items[column].len()).map(move |index| (column, index)))
                .filter(|(column, index)| self.band(items[*column][*index]) == band)
                .collect();
            let first = places.iter().map(|(column, index)| tops[*column][*index]);
            let first = first.fold(f64::INFINITY, f64::min);
            let begin = if band == 0 { 0.0 } else { end + ABOVE + LABEL };
            for (column, index) in places {
                let top = &mut tops[column][index];
                *top += begin - first;
                let height = match items[column][index] {
                    Item::Box(node) => boxes.shapes[node].height,
                    Item::Pass { .. } => 0.0,
                };
                end = end.max(*top + height + if band == 0 { 0.0 } else { SPACE });
            }
        }
    }

    /// What a frame is round.
    pub(crate) fn extent(&self, frame: usize, plan: &Plan, boxes: &Boxes) -> Extent {
        let mut extent = Extent { columns: (usize::MAX, 0), heights: (f64::INFINITY, 0.0) };
        for (column, (items, tops)) in plan.columns.iter().zip(&plan.tops).enumerate() {
            for (item, top) in items.iter().zip(tops) {
                let Item::Box(node) = item else { continue };
                if self.of[*node] == Some(frame) {
                    let Extent { columns, heights } = &mut extent;
                    *columns = (columns.0.min(column), columns.1.max(column));
                    let bottom = top + boxes.shapes[*node].height;
                    *heights = (heights.0.min(*top), heights.1.max(bottom));
                }
            }
        }
        extent
    }
}
