//! Plots of results, where the papers have a figure.

use super::catalogue::Plot;
use super::results::{Measured, Unit};
use anyhow::{Result, anyhow};
use plotters::prelude::*;

const SIZE: (u32, u32) = (760, 460);
const FONT: &str = "sans-serif";
const COLORS: [RGBColor; 4] =
    [RGBColor(0, 90, 181), RGBColor(200, 70, 0), RGBColor(0, 130, 90), RGBColor(120, 60, 160)];

/// A number of a result.
type Value = fn(&Measured) -> f64;

/// A line of a plot: the value at each column that has one.
struct Line {
    name: String,
    points: Vec<(f64, f64)>,
}

/// The plot as SVG; `None` if nothing of it was measured.
pub fn draw(plot: &Plot, unit: Unit, results: &[Measured]) -> Result<Option<String>> {
    let lines = lines(plot, results);
    let highest =
        lines.iter().flat_map(|line| &line.points).map(|point| point.1).fold(0.0, f64::max);
    if highest == 0.0 {
        return Ok(None);
    }
    let mut text = String::new();
    // Room for the legend above the lines.
    let top = highest * if plot.spread { 1.5 } else { 1.25 };
    paint(plot, unit, &lines, top, &mut text).map_err(|error| anyhow!("{}: {error}", plot.file))?;
    Ok(Some(text))
}

fn lines(plot: &Plot, results: &[Measured]) -> Vec<Line> {
    let mut lines = Vec::new();
    for (name, series) in &plot.series {
        let values = |what: Value| -> Vec<(f64, f64)> {
            let found = plot.names(series).into_iter().enumerate().filter_map(|(column, name)| {
                let result = results.iter().find(|result| result.name == name)?;
                Some((column as f64, what(result)))
            });
            found.collect()
        };
        let kinds: &[(&str, Value)] = if plot.spread {
            &[
                (" median", |result| result.median),
                (" 99th percentile", |result| result.p99),
                (" maximum", |result| result.max),
            ]
        } else {
            &[("", |result| result.median)]
        };
        for (kind, what) in kinds {
            let line = Line { name: format!("{name}{kind}"), points: values(*what) };
            if !line.points.is_empty() {
                lines.push(line);
            }
        }
    }
    lines
}

fn paint(
    plot: &Plot,
    unit: Unit,
    lines: &[Line],
    top: f64,
    text: &mut String,
) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let last = plot.columns.len() as f64 - 1.0;
    let mut chart = ChartBuilder::on(&area)
        .caption(&plot.title, (FONT, 18))
        .margin(14)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(-0.4..last + 0.4, 0.0..top)?;
    let column = |at: &f64| -> String {
        let whole = (at - at.round()).abs() < 0.01 && *at >= -0.01;
        if whole {
            plot.columns.get(at.round() as usize).cloned().unwrap_or_default()
        } else {
            String::new()
        }
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(WHITE)
        .x_labels(plot.columns.len() + 1)
        .x_label_formatter(&column)
        .y_label_formatter(&|count| format!("{count:.0}"))
        .x_desc(&plot.across)
        .y_desc(unit.name())
        .label_style((FONT, 13))
        .draw()?;
    for (index, line) in lines.iter().enumerate() {
        // Of a spread, the three kinds of a series have its colour, each paler than the one before.
        let (color, strength) = if plot.spread {
            (COLORS[index / 3 % COLORS.len()], [1.0, 0.6, 0.3][index % 3])
        } else {
            (COLORS[index % COLORS.len()], 1.0)
        };
        let color = color.mix(strength);
        // Of lines at the same height, all are seen: what is drawn later is narrower.
        let below = if plot.spread { 0 } else { (lines.len() - 1 - index) as u32 };
        chart
            .draw_series(LineSeries::new(
                line.points.iter().copied(),
                color.stroke_width(2 + 3 * below),
            ))?
            .label(&line.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color.stroke_width(3)));
        chart.draw_series(
            line.points.iter().map(|point| Circle::new(*point, 4 + 2 * below, color.filled())),
        )?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.3))
        .label_font((FONT, 13))
        .draw()?;
    drop(chart);
    area.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn plot() -> Plot {
        Plot {
            file: "f.svg".into(),
            title: "Title".into(),
            across: "domains".into(),
            columns: vec!["1".into(), "2".into()],
            series: BTreeMap::from([("line".to_owned(), "a.*".to_owned())]),
            spread: false,
        }
    }

    #[test]
    fn what_was_measured_is_drawn() {
        let results = [
            Measured::parse("a.1 cycles 1 1 10 1 1 1").unwrap().1,
            Measured::parse("a.2 cycles 1 1 20 1 1 1").unwrap().1,
        ];
        let picture = draw(&plot(), Unit::Cycles, &results).unwrap().unwrap();
        assert!(
            picture.starts_with("<svg")
                && picture.contains("Title")
                && picture.contains("domains")
                && picture.contains("cycles")
        );
        assert_eq!(picture.matches("<circle").count(), 2);
    }

    #[test]
    fn of_equal_lines_both_are_seen() {
        let mut plot = plot();
        plot.series.insert("other".to_owned(), "b.*".to_owned());
        let results: Vec<_> = ["a.1", "a.2", "b.1", "b.2"]
            .map(|name| Measured::parse(&format!("{name} cycles 1 1 10 1 1 1")).unwrap().1)
            .into();
        let picture = draw(&plot, Unit::Cycles, &results).unwrap().unwrap();
        let [wide, narrow] = ["5", "2"].map(|width| format!("stroke-width=\"{width}\""));
        assert!(picture.find(&wide).unwrap() < picture.rfind(&narrow).unwrap(), "{picture}");
    }

    #[test]
    fn nothing_measured_is_no_plot() {
        assert!(draw(&plot(), Unit::Cycles, &[]).unwrap().is_none());
    }
}
