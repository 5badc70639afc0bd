//! The table on the terminal.

use super::Measurement;
use super::catalogue::{Benchmark, Catalogue, Filter};
use super::floor::Floors;
use super::results::{Measured, Unit};
use std::fmt::Write;

type Cell<'a> = Box<dyn Fn(&Benchmark, &Measured) -> String + 'a>;

/// A column: its head, its width, and what stands in it.
struct Column<'a> {
    head: &'a str,
    width: usize,
    value: Cell<'a>,
}

/// Results, budgets and the figures of other systems side by side.
pub fn table(catalogue: &Catalogue, measurement: &Measurement, filter: &Filter) -> String {
    let mut text = format!("{} ({})", measurement.unit.name(), measurement.machine);
    let other_units = catalogue
        .references
        .iter()
        .filter(|reference| !measurement.unit.name().ends_with(&reference.unit));
    for reference in other_units {
        let _ = write!(text, "; {}: {}, of another machine", reference.system, reference.unit);
    }
    if let Some(floors) = &measurement.floors {
        let _ = write!(text, "; {}", floors.text());
    }
    text.push('\n');
    let columns = columns(catalogue, measurement);
    let _ = write!(text, "{:<30}", "");
    for column in &columns {
        let _ = write!(text, "{:>1$}", column.head, column.width);
    }
    text.push('\n');
    let mut missing = String::new();
    let mut over = 0;
    for benchmark in catalogue.chosen(filter) {
        let result = measurement.results.iter().find(|result| result.name == benchmark.name);
        let Some(result) = result else {
            let why = benchmark.missing.as_deref().unwrap_or("its system did not report it");
            let _ = writeln!(missing, "{:<30}{why}", benchmark.name);
            continue;
        };
        over += usize::from(is_over(benchmark, result));
        let _ = write!(text, "{:<30}", benchmark.name);
        for column in &columns {
            let _ = write!(text, "{:>1$}", (column.value)(benchmark, result), column.width);
        }
        text.push('\n');
    }
    if over > 0 {
        let _ = writeln!(text, "! above its budget: {over}");
    }
    if !missing.is_empty() {
        let _ = write!(text, "not measured:\n{missing}");
    }
    text + &operations(catalogue, &measurement.results)
}

fn is_over(benchmark: &Benchmark, result: &Measured) -> bool {
    let is_more = |value: Option<f64>, most: Option<f64>| {
        value.zip(most).is_some_and(|(value, most)| value > most)
    };
    is_more(Some(result.median), benchmark.budget) || is_more(result.ratio, benchmark.ratio)
}

fn columns<'a>(catalogue: &'a Catalogue, measurement: &'a Measurement) -> Vec<Column<'a>> {
    type Value = fn(&Benchmark, &Measured) -> String;
    let plain = |head, width, value: Value| Column { head, width, value: Box::new(value) };
    let mut columns = vec![
        plain("Cairn", 9, |_, result| number(Some(result.median))),
        plain("p99", 9, |_, result| number(Some(result.p99))),
        plain("max", 9, |_, result| number(Some(result.max))),
        plain("samples", 8, |_, result| result.samples.to_string()),
    ];
    if measurement.unit == Unit::Cycles {
        columns.extend([
            plain("instr.", 9, |_, result| number(result.instructions)),
            plain("each", 6, |_, result| {
                ratio(result.instructions.map(|instructions| result.median / instructions))
            }),
        ]);
    }
    if measurement.results.iter().any(|result| result.native.is_some()) {
        columns.extend([
            plain("native", 10, |_, result| number(result.native)),
            plain("ratio", 7, |_, result| ratio(result.ratio)),
            plain("at most", 9, |benchmark, result| {
                let mark = if is_over(benchmark, result) { '!' } else { ' ' };
                format!("{}{mark}", ratio(benchmark.ratio))
            }),
        ]);
        return columns;
    }
    if measurement.unit == Unit::Cycles {
        columns.extend([
            plain("floor", 7, |_, result| number(result.floor)),
            plain("ratio", 6, |_, result| ratio(result.ratio)),
        ]);
    }
    if let Some(floors) = &measurement.floors {
        let value = |benchmark: &Benchmark, result: &Measured| {
            ratio(each_beyond(floors, benchmark, result))
        };
        columns.push(Column { head: "beyond", width: 7, value: Box::new(value) });
    }
    columns.push(plain("budget", 9, |benchmark, result| {
        let mark = if is_over(benchmark, result) { '!' } else { ' ' };
        format!("{}{mark}", number(benchmark.budget))
    }));
    for reference in &catalogue.references {
        let value = |benchmark: &Benchmark, _: &Measured| {
            number(reference.figures.get(&benchmark.name).map(|figure| figure.value))
        };
        columns.push(Column { head: &reference.system, width: 9, value: Box::new(value) });
    }
    columns
}

/// Cycles for each instruction that the floor does not have.
fn each_beyond(floors: &Floors, benchmark: &Benchmark, result: &Measured) -> Option<f64> {
    let least = floors.of(benchmark)?;
    let instructions = result.instructions? - least.instructions;
    (instructions >= 1.0).then(|| (result.median - least.cycles) / instructions)
}

/// What the other systems' figures stand for.
fn operations(catalogue: &Catalogue, measured: &[Measured]) -> String {
    let mut text = String::new();
    for result in measured {
        for reference in &catalogue.references {
            if let Some(figure) = reference.figures.get(&result.name) {
                let _ =
                    writeln!(text, "{:<30}{}: {}", result.name, reference.system, figure.operation);
            }
        }
    }
    if text.is_empty() { text } else { format!("what the other figures are:\n{text}") }
}

/// At most one decimal.
fn number(number: Option<f64>) -> String {
    match number {
        None => "-".to_owned(),
        Some(number) if number.fract() == 0.0 => format!("{number}"),
        Some(number) => format!("{number:.1}"),
    }
}

/// Two decimals.
fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(unit: Unit, floors: Option<Floors>, result: Measured) -> Measurement {
        let machine = "machine".to_owned();
        Measurement { machine, unit, results: vec![result], complaints: Vec::new(), floors }
    }

    #[test]
    fn a_row_has_what_the_head_says() {
        let catalogue = Catalogue::read(Some("cva6-rtl")).unwrap();
        let filter = Filter { part: "portal.smciii.2".to_owned(), quick: false };
        let floors = Floors::sample(20.0, 8.0);
        let mut result = Measured {
            name: "portal.smciii.2".to_owned(),
            median: 40.0,
            instructions: Some(16.0),
            ..Measured::default()
        };
        floors.put_beside(catalogue.find(&result.name).unwrap(), &mut result);
        let text = table(&catalogue, &measurement(Unit::Cycles, Some(floors), result), &filter);
        let lines: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(
            lines[1],
            "Cairn p99 max samples instr. each floor ratio beyond budget seL4"
                .split(' ')
                .collect::<Vec<_>>()
        );
        let row = &lines[2][1..];
        assert_eq!(row[..9], ["40", "0", "0", "0", "16", "2.50", "10", "4.00", "2.50"]);
        assert!(text.contains("floor: trap and return"), "{text}");
    }

    #[test]
    fn above_its_budget_a_row_is_marked() {
        let catalogue = Catalogue::read(None).unwrap();
        let filter = Filter { part: "portal.short_circuit".to_owned(), quick: false };
        let shown = |median| {
            let name = "portal.short_circuit".to_owned();
            let result = Measured { name, median, ..Measured::default() };
            table(&catalogue, &measurement(Unit::Instructions, None, result), &filter)
        };
        assert!(!shown(20.0).contains('!'));
        assert!(shown(21.0).contains("20!") && shown(21.0).contains("! above its budget: 1"));
    }
}
