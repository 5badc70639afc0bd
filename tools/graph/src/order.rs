//! Where everything stands: the order in each column with few crossings, then heights at which lines
//! are nearly level.

use crate::Graph;
use crate::boxes::{Boxes, export_row, import_row};
use crate::columns::Columns;
use crate::frames::Frames;
use crate::lines::{self, Line};

/// Space between two boxes of a column.
const BETWEEN_BOXES: f64 = 26.0;
/// Space that a line takes where it passes a column.
const BETWEEN_LINES: f64 = 13.0;
/// Sweeps over the columns; the order settles long before.
const SWEEPS: usize = 24;

/// What stands in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// The box of a node.
    Box(usize),
    /// The lines to an export that pass this column.
    Pass {
        /// The server.
        node: usize,
        /// Its export.
        export: usize,
    },
}

/// A piece of a line between two neighbouring columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// In the left column: index of the item, and the height in it.
    from: (usize, f64),
    /// In the right column.
    to: (usize, f64),
}

/// The finished arrangement.
pub(crate) struct Plan {
    /// The items of each column.
    pub columns: Vec<Vec<Item>>,
    /// The top of each item.
    pub tops: Vec<Vec<f64>>,
    /// The lines.
    pub lines: Vec<Line>,
}

impl Plan {
    /// Column and top of an item.
    pub(crate) fn find(&self, column: usize, item: Item) -> f64 {
        let index = self.columns[column].iter().position(|one| *one == item);
        self.tops[column][index.expect("every line passes only through items")]
    }
}

struct Arranger<'a> {
    boxes: &'a Boxes,
    frames: &'a Frames,
    items: Vec<Vec<Item>>,
    /// Pieces between column `n` and `n + 1`.
    pieces: Vec<Vec<Piece>>,
    /// The order of each column: indexes into `items`.
    order: Vec<Vec<usize>>,
    /// The top of each item.
    tops: Vec<Vec<f64>>,
}

/// Arranges the boxes in their columns.
pub(crate) fn arrange(graph: &Graph, columns: &Columns, boxes: &Boxes, frames: &Frames) -> Plan {
    let lines = lines::all(graph, columns);
    let mut items: Vec<Vec<Item>> = vec![Vec::new(); columns.count];
    for (node, column) in columns.of.iter().enumerate() {
        items[*column].push(Item::Box(node));
    }
    let mut pieces = vec![Vec::new(); columns.count];
    for line in lines.iter().filter(|line| !line.back) {
        let client = columns.of[line.client];
        let server = columns.of[line.server];
        let row = import_row(&graph.nodes[line.client], line.import);
        let mut from = (index(&mut items[client], Item::Box(line.client)), row);
        for column in client + 1..=server {
            let item = if column == server {
                Item::Box(line.server)
            } else {
                Item::Pass { node: line.server, export: line.export }
            };
            let height = if column == server { export_row(line.export) } else { 0.0 };
            let to = (index(&mut items[column], item), height);
            pieces[column - 1].push(Piece { from, to });
            from = to;
        }
    }
    let in_bands = |items: &Vec<Item>| {
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.sort_by_key(|item| frames.band(items[*item]));
        order
    };
    let order = items.iter().map(in_bands).collect();
    let tops = items.iter().map(|items| vec![0.0; items.len()]).collect();
    let mut arranger = Arranger { boxes, frames, items, pieces, order, tops };
    arranger.order();
    arranger.level();
    let Arranger { items, mut tops, .. } = arranger;
    frames.part(&items, &mut tops, boxes);
    Plan { columns: items, tops, lines }
}

/// The index of `item`, which is added if it is not there.
fn index(items: &mut Vec<Item>, item: Item) -> usize {
    items.iter().position(|one| *one == item).unwrap_or_else(|| {
        items.push(item);
        items.len() - 1
    })
}

impl Arranger<'_> {
    fn height(&self, column: usize, item: usize) -> f64 {
        match self.items[column][item] {
            Item::Box(node) => self.boxes.shapes[node].height,
            Item::Pass { .. } => 0.0,
        }
    }

    /// Smallest distance between the tops of two items, one above the other.
    fn distance(&self, column: usize, upper: usize, lower: usize) -> f64 {
        let is_box = |item: usize| matches!(self.items[column][item], Item::Box(_));
        let space = if is_box(upper) || is_box(lower) { BETWEEN_BOXES } else { BETWEEN_LINES };
        self.height(column, upper) + space
    }

    /// Stacks every column closely in its order.
    fn stack(&mut self, column: usize) {
        let mut top = 0.0;
        for position in 0..self.order[column].len() {
            let item = self.order[column][position];
            if position > 0 {
                top += self.distance(column, self.order[column][position - 1], item);
            }
            self.tops[column][item] = top;
        }
    }

    /// The mean of the tops that would make the item's lines level; only lines to the left, or only
    /// to the right, if `side` says so.
    fn wish(&self, column: usize, item: usize, side: Option<Side>) -> Option<f64> {
        let mut wishes = Vec::new();
        if column > 0 && side != Some(Side::Right) {
            for piece in self.pieces[column - 1].iter().filter(|piece| piece.to.0 == item) {
                wishes.push(self.tops[column - 1][piece.from.0] + piece.from.1 - piece.to.1);
            }
        }
        if side != Some(Side::Left) {
            for piece in self.pieces[column].iter().filter(|piece| piece.from.0 == item) {
                wishes.push(self.tops[column + 1][piece.to.0] + piece.to.1 - piece.from.1);
            }
        }
        let count = wishes.len() as f64;
        (!wishes.is_empty()).then(|| wishes.iter().sum::<f64>() / count)
    }

    /// Sweeps to and fro, each time sorting a column by where its lines come from; keeps the order with
    /// the fewest crossings.
    fn order(&mut self) {
        let columns = self.items.len();
        (0..columns).for_each(|column| self.stack(column));
        let mut best = (self.crossings(), self.order.clone());
        for sweep in 0..SWEEPS {
            let (side, sequence): (Side, Vec<usize>) = if sweep % 2 == 0 {
                (Side::Left, (1..columns).collect())
            } else {
                (Side::Right, (0..columns.saturating_sub(1)).rev().collect())
            };
            for column in sequence {
                let keys: Vec<f64> = (0..self.items[column].len())
                    .map(|item| {
                        self.wish(column, item, Some(side)).unwrap_or(self.tops[column][item])
                    })
                    .collect();
                let band = |item: usize| self.frames.band(self.items[column][item]);
                self.order[column].sort_by(|one, other| {
                    band(*one).cmp(&band(*other)).then(keys[*one].total_cmp(&keys[*other]))
                });
                self.stack(column);
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.order.clone());
            }
        }
        self.order = best.1;
        (0..columns).for_each(|column| self.stack(column));
    }

    fn crossings(&self) -> usize {
        let mut total = 0;
        for (column, pieces) in self.pieces.iter().enumerate() {
            let ends = |piece: &Piece| {
                let left = self.tops[column][piece.from.0] + piece.from.1;
                (left, self.tops[column + 1][piece.to.0] + piece.to.1)
            };
            for (index, one) in pieces.iter().enumerate() {
                let one = ends(one);
                total += pieces[index + 1..]
                    .iter()
                    .map(ends)
                    .filter(|other| (one.0 - other.0) * (one.1 - other.1) < 0.0)
                    .count();
            }
        }
        total
    }

    /// Moves boxes up and down, in their order, until lines are nearly level.
    fn level(&mut self) {
        for sweep in 0..SWEEPS {
            let columns = self.items.len();
            for step in 0..columns {
                let column = if sweep % 2 == 0 { step } else { columns - 1 - step };
                let wishes: Vec<f64> = self.order[column]
                    .iter()
                    .map(|item| self.wish(column, *item, None).unwrap_or(self.tops[column][*item]))
                    .collect();
                self.place(column, &wishes);
            }
        }
        // What has no line stands close to what is above it, wherever the sweeps left it.
        for column in 0..self.items.len() {
            for position in 1..self.order[column].len() {
                let (upper, item) =
                    (self.order[column][position - 1], self.order[column][position]);
                if self.wish(column, item, None).is_none() {
                    self.tops[column][item] =
                        self.tops[column][upper] + self.distance(column, upper, item);
                }
            }
        }
        let least = self.tops.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        self.tops.iter_mut().flatten().for_each(|top| *top -= least);
    }

    /// Gives each item of a column the top nearest to its wish (least squares) that keeps order and
    /// distances: items that would come too close form a block, which moves as one.
    fn place(&mut self, column: usize, wishes: &[f64]) {
        struct Block {
            sum: f64,
            count: usize,
        }
        let order = &self.order[column];
        let mut offsets = vec![0.0; order.len()];
        for position in 1..order.len() {
            offsets[position] =
                offsets[position - 1] + self.distance(column, order[position - 1], order[position]);
        }
        let mut blocks: Vec<Block> = Vec::new();
        for (position, wish) in wishes.iter().enumerate() {
            let mut block = Block { sum: wish - offsets[position], count: 1 };
            while let Some(above) = blocks.last()
                && above.sum / above.count as f64 > block.sum / block.count as f64
            {
                block.sum += above.sum;
                block.count += above.count;
                blocks.pop();
            }
            blocks.push(block);
        }
        let tops =
            blocks.iter().flat_map(|block| vec![block.sum / block.count as f64; block.count]);
        for (position, top) in tops.enumerate() {
            self.tops[column][self.order[column][position]] = top + offsets[position];
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}
