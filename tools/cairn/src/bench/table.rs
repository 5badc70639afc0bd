//! The table on the terminal.

use super::catalogue::Catalogue;
use super::results::Measured;
use std::fmt::Write;

/// Results, budgets and the figures of other systems side by side.
pub fn table(catalogue: &Catalogue, measured: &[Measured], filter: &str) -> String {
    let mut text = String::from("executed instructions (QEMU virt, -icount shift=0)");
    for reference in
        catalogue.references.iter().filter(|reference| reference.unit != "instructions")
    {
        let _ = write!(text, "; {}: {}, of another machine", reference.system, reference.unit);
    }
    text.push('\n');
    let _ = write!(
        text,
        "{:<30}{:>9}{:>9}{:>9}{:>8}{:>9}",
        "", "Cairn", "p99", "max", "samples", "budget"
    );
    for reference in &catalogue.references {
        let _ = write!(text, "{:>9}", reference.system);
    }
    text.push('\n');
    let mut missing = String::new();
    let mut over = 0;
    for benchmark in catalogue.chosen(filter) {
        let Some(result) = measured.iter().find(|result| result.name == benchmark.name) else {
            let why = benchmark.missing.as_deref().unwrap_or("its system did not report it");
            let _ = writeln!(missing, "{:<30}{why}", benchmark.name);
            continue;
        };
        let too_much = benchmark.budget.is_some_and(|budget| result.median > budget);
        over += usize::from(too_much);
        let _ = write!(
            text,
            "{:<30}{:>9}{:>9}{:>9}{:>8}{:>8}{}",
            benchmark.name,
            number(Some(result.median)),
            number(Some(result.p99)),
            number(Some(result.max)),
            result.samples,
            number(benchmark.budget),
            if too_much { '!' } else { ' ' }
        );
        for reference in &catalogue.references {
            let figure = reference.figures.get(&benchmark.name).map(|figure| figure.value);
            let _ = write!(text, "{:>9}", number(figure));
        }
        text.push('\n');
    }
    if over > 0 {
        let _ = writeln!(text, "! above its budget: {over}");
    }
    if !missing.is_empty() {
        let _ = write!(text, "not measured:\n{missing}");
    }
    text + &operations(catalogue, measured)
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
