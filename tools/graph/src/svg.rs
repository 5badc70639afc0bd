//! Writes the arrangement as SVG.

use crate::boxes::{
    Boxes, CHARACTER, HEAD, MARGIN, ROW, export_row, import_row, import_text, named, role, subtitle,
};
use crate::frames::{self, Extent, Frames};
use crate::lines::Line;
use crate::order::{Item, Plan};
use crate::{Graph, Node};
use std::fmt::Write;

/// Space round the drawing.
const BORDER: f64 = 24.0;
/// Height of the title.
const TITLE: f64 = 44.0;
/// Height of the key below the drawing.
const KEY: f64 = 66.0;
/// Space between two columns, without the room of the lines.
const GAP: f64 = 70.0;
/// Room for each line between two columns.
const LINE_GAP: f64 = 5.0;
/// Distance between two lines that go back below everything.
const BACK: f64 = 14.0;
/// Colours of lines: told apart by people who do not see all colours alike, too.
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#007a5a", "#a3478f", "#8a6d00", "#3b7fb5", "#5b5bd6", "#555555"];

struct Drawing<'a> {
    graph: &'a Graph,
    boxes: &'a Boxes,
    frames: &'a Frames,
    plan: &'a Plan,
    /// Left edge of each column.
    lefts: Vec<f64>,
    /// Width of each column.
    widths: Vec<f64>,
    /// Column of each node.
    columns: Vec<usize>,
    bottom: f64,
    text: String,
}

/// The document.
pub(crate) fn write(graph: &Graph, boxes: &Boxes, frames: &Frames, plan: &Plan) -> String {
    let mut columns = vec![0; graph.nodes.len()];
    let mut widths = Vec::new();
    let mut bottom: f64 = 0.0;
    for (column, items) in plan.columns.iter().enumerate() {
        let mut width: f64 = 0.0;
        for (item, top) in items.iter().zip(&plan.tops[column]) {
            if let Item::Box(node) = item {
                columns[*node] = column;
                width = width.max(boxes.shapes[*node].width);
                bottom = bottom.max(top + boxes.shapes[*node].height);
            } else {
                bottom = bottom.max(*top);
            }
        }
        widths.push(width);
    }
    let mut lefts = Vec::new();
    let mut left = BORDER;
    for (column, width) in widths.iter().enumerate() {
        lefts.push(left);
        let passing = plan
            .lines
            .iter()
            .filter(|line| columns[line.client] <= column && columns[line.server] > column)
            .count();
        left += width + GAP + passing as f64 * LINE_GAP;
    }
    let last = widths.len() - 1;
    let back = plan.lines.iter().filter(|line| line.back).count() as f64 * BACK;
    let right =
        lefts[last] + widths[last] + BORDER + if back > 0.0 { GAP / 2.0 + back } else { 0.0 };
    let right = right.max(760.0);
    let mut drawing = Drawing {
        graph,
        boxes,
        frames,
        plan,
        lefts,
        widths,
        columns,
        bottom: bottom
            + TITLE
            + BORDER
            + if frames.labels.is_empty() { 0.0 } else { frames::SPACE },
        text: String::new(),
    };
    let height = drawing.bottom + back + KEY + BORDER;
    drawing.head(right, height);
    for frame in 0..frames.labels.len() {
        drawing.frame(frame);
    }
    drawing.lines();
    for node in 0..graph.nodes.len() {
        drawing.node(node);
    }
    drawing.key(height - KEY);
    drawing.text + "</svg>\n"
}

impl Drawing<'_> {
    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        self.text.write_fmt(text).expect("writing to a string does not fail");
        self.text.push('\n');
    }

    fn head(&mut self, width: f64, height: f64) {
        let title = escaped(&self.graph.title);
        self.put(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" font-family=\"DejaVu Sans Mono, Menlo, \
             Consolas, monospace\" font-size=\"11\">"
        ));
        self.put(format_args!("<title>{title}</title>"));
        self.put(format_args!("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"));
        self.put(format_args!(
            "<text x=\"{BORDER}\" y=\"32\" font-size=\"18\" font-weight=\"bold\">{title}</text>"
        ));
    }

    fn top(&self, node: usize) -> f64 {
        self.plan.find(self.columns[node], Item::Box(node)) + TITLE + BORDER / 2.0
    }

    fn frame(&mut self, frame: usize) {
        let Extent { columns, heights } = self.frames.extent(frame, self.plan, self.boxes);
        let left = self.lefts[columns.0] - frames::SPACE;
        let width = self.lefts[columns.1] + self.widths[columns.1] + frames::SPACE - left;
        let top = heights.0 + TITLE + BORDER / 2.0 - frames::LABEL;
        let height = heights.1 - heights.0 + frames::LABEL + frames::SPACE;
        let label = escaped(&self.frames.labels[frame]);
        self.put(format_args!(
            "<g class=\"frame\"><rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             rx=\"8\" fill=\"#f3f3ee\" stroke=\"#888\" stroke-width=\"1.5\"/><text x=\"{:.1}\" y=\"{:.1}\" \
             font-size=\"13\" font-weight=\"bold\">{label}</text></g>",
            left + MARGIN,
            top + 18.0
        ));
    }

    fn lines(&mut self) {
        let mut back = 0;
        // A colour for each export, so that lines that run together can be told apart at their ends.
        let mut exports: Vec<(usize, usize)> = Vec::new();
        let mut drawn: Vec<String> = Vec::new();
        for line in &self.plan.lines {
            let export = (line.server, line.export);
            let colour = exports.iter().position(|one| *one == export).unwrap_or_else(|| {
                exports.push(export);
                exports.len() - 1
            });
            let path = if line.back {
                back += 1;
                self.round(line, back)
            } else {
                self.through(line)
            };
            let tip = self.tip(line);
            let colour = COLOURS[colour % COLOURS.len()];
            let dash = if line.may_open { " stroke-dasharray=\"5 3\"" } else { "" };
            drawn.push(format!(
                "<g class=\"portal\" stroke=\"{colour}\" fill=\"none\" stroke-width=\"1.3\"><title>{}</title>\
                 <path d=\"{path}\"{dash}/><path d=\"{tip}\" fill=\"{colour}\" stroke=\"none\"/></g>",
                escaped(&self.sentence(line))
            ));
        }
        for line in drawn {
            self.put(format_args!("{line}"));
        }
    }

    fn sentence(&self, line: &Line) -> String {
        let client = &self.graph.nodes[line.client];
        let server = &self.graph.nodes[line.server];
        let import = &client.imports[line.import];
        let export = &server.exports[line.export];
        if line.may_open {
            return format!("{} may open {}.{}", client.name, server.name, export.name);
        }
        let mut text = format!(
            "{}.{} to {}.{} ({})",
            client.name, import.name, server.name, export.name, import.specification
        );
        if !import.alternatives.is_empty() {
            text += &format!(
                "; {} also served by {}",
                import.interface,
                import.alternatives.join(", ")
            );
        }
        text
    }

    fn start(&self, line: &Line) -> (f64, f64) {
        let node = &self.graph.nodes[line.client];
        let left = self.lefts[self.columns[line.client]];
        (
            left + self.boxes.shapes[line.client].width,
            self.top(line.client) + import_row(node, line.import),
        )
    }

    fn end(&self, line: &Line) -> (f64, f64) {
        (self.lefts[self.columns[line.server]], self.top(line.server) + export_row(line.export))
    }

    /// The arrow's head.
    fn tip(&self, line: &Line) -> String {
        let (x, y) = self.end(line);
        format!("M{x:.1} {y:.1}l-8 -3.5v7z")
    }

    /// Left to right: a curve between columns, level across each column it passes.
    fn through(&self, line: &Line) -> String {
        let (mut x, mut y) = self.start(line);
        let mut path = format!("M{x:.1} {y:.1}");
        let server = self.columns[line.server];
        for column in self.columns[line.client] + 1..=server {
            let edge = self.lefts[column - 1] + self.widths[column - 1];
            let _ = write!(path, "H{edge:.1}");
            x = edge;
            let (to_x, to_y) = if column == server {
                let (x, y) = self.end(line);
                (x - 7.0, y)
            } else {
                let item = Item::Pass { node: line.server, export: line.export };
                (self.lefts[column], self.plan.find(column, item) + TITLE + BORDER / 2.0)
            };
            let middle = f64::midpoint(x, to_x);
            let _ = write!(path, "C{middle:.1} {y:.1} {middle:.1} {to_y:.1} {to_x:.1} {to_y:.1}");
            y = to_y;
            if column != server {
                let _ = write!(path, "h{:.1}", self.widths[column]);
            }
        }
        path
    }

    /// Round below everything: the `number`th line that does so.
    fn round(&self, line: &Line, number: usize) -> String {
        let (x, y) = self.start(line);
        let (to_x, to_y) = self.end(line);
        let column = self.columns[line.client];
        let shift = 12.0 + number as f64 * 5.0;
        let right = self.lefts[column] + self.widths[column] + shift;
        let left = to_x - shift;
        let below = self.bottom + (number as f64 - 0.5) * BACK;
        format!("M{x:.1} {y:.1}H{right:.1}V{below:.1}H{left:.1}V{to_y:.1}H{:.1}", to_x - 7.0)
    }

    fn node(&mut self, index: usize) {
        let node = &self.graph.nodes[index];
        let shape = &self.boxes.shapes[index];
        let (x, y) = (self.lefts[self.columns[index]], self.top(index));
        let (width, height) = (shape.width, shape.height);
        let colour = priority_colour(node.priority);
        let name = escaped(&node.name);
        self.put(format_args!("<g class=\"domain\" id=\"{name}\">"));
        self.put(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"5\" fill=\"white\"/>\
             <path d=\"M{x:.1} {:.1}v-{:.1}q0 -5 5 -5h{:.1}q5 0 5 5v{:.1}z\" fill=\"{colour}\"/>\
             <rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"5\" fill=\"none\" \
             stroke=\"#333\"/>",
            y + HEAD - 4.0,
            HEAD - 9.0,
            width - 10.0,
            HEAD - 9.0
        ));
        self.put(format_args!(
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"13\" font-weight=\"bold\">{name}</text>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <text x=\"{:.1}\" y=\"{:.1}\" font-size=\"10\">{}</text>",
            x + MARGIN,
            y + 15.0,
            x + width - MARGIN,
            y + 15.0,
            escaped(&role(node)),
            x + MARGIN,
            y + 29.0,
            escaped(&subtitle(node))
        ));
        self.rows(node, x, y, width);
        self.put(format_args!("</g>"));
    }

    fn rows(&mut self, node: &Node, x: f64, y: f64, width: f64) {
        for (index, export) in node.exports.iter().enumerate() {
            let row = y + export_row(index) + 4.0;
            let text = escaped(&named(&export.name, &export.interface));
            self.put(format_args!("<text x=\"{:.1}\" y=\"{row:.1}\">{text}</text>", x + MARGIN));
        }
        for (index, import) in node.imports.iter().enumerate() {
            let row = y + import_row(node, index) + 4.0;
            let text = escaped(&import_text(import));
            self.put(format_args!(
                "<text x=\"{:.1}\" y=\"{row:.1}\" text-anchor=\"end\" fill=\"#333\">{text}</text>",
                x + width - MARGIN
            ));
        }
        for (index, device) in node.devices.iter().enumerate() {
            let row = y + import_row(node, node.imports.len() + index);
            self.put(format_args!(
                "<rect class=\"device\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"2\" \
                 fill=\"#e4e4e4\"/><text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x + 5.0,
                row - ROW / 2.0 + 3.0,
                width - 10.0,
                ROW - 3.0,
                x + MARGIN,
                row + 5.0,
                escaped(device)
            ));
        }
    }

    fn key(&mut self, y: f64) {
        let mut y = y;
        for line in [
            "A box is an instance. Without a frame it has a protection domain of its own. Grey are its devices.",
            "Left its exports, right its imports with the letters of their portals; +1: one more export serves the interface.",
        ] {
            self.put(format_args!("<text x=\"{BORDER}\" y=\"{y:.1}\">{line}</text>"));
            y += 20.0;
        }
        let text = "Priority of its first thread:";
        self.put(format_args!("<text x=\"{BORDER}\" y=\"{y:.1}\">{text}</text>"));
        let mut x = BORDER + (text.len() + 1) as f64 * CHARACTER;
        for priority in [0u8, 64, 128, 192, 255] {
            self.put(format_args!(
                "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"34\" height=\"15\" fill=\"{}\" stroke=\"#333\"/>\
                 <text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{priority}</text>",
                y - 11.0,
                priority_colour(priority),
                x + 17.0
            ));
            x += 34.0;
        }
        self.put(format_args!(
            "<text x=\"{:.1}\" y=\"{y:.1}\">Dashed: may be opened at run time.</text>",
            x + 2.0 * CHARACTER
        ));
    }
}

/// From a light blue (0) over white-yellow to a light red (255); black text stays legible on all.
fn priority_colour(priority: u8) -> String {
    const STOPS: [[f64; 3]; 3] =
        [[198.0, 219.0, 239.0], [255.0, 244.0, 190.0], [252.0, 174.0, 145.0]];
    let position = f64::from(priority) / 127.5;
    let stop = (position as usize).min(1);
    let part = position - stop as f64;
    let mix = |channel: usize| {
        let (from, to) = (STOPS[stop][channel], STOPS[stop + 1][channel]);
        (from + (to - from) * part).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
