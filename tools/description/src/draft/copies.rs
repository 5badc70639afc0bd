//! `copies`: one table for any number of equal instances.

use super::InstanceDraft;
use crate::names::{NameKind, name_fault};
use crate::place::Located;
use crate::report::{Error, Report};

/// What stands for a copy's number in its argument.
const NUMBER: &str = "{copy}";

/// The instances of each table, in order: a table with `copies` gives `NAME1`, `NAME2`, and so on.
pub(super) fn unfold(
    tables: Vec<(InstanceDraft, Option<Located<u64>>)>,
    report: &mut Report,
) -> Option<Vec<InstanceDraft>> {
    let before = report.errors().len();
    let mut instances: Vec<InstanceDraft> = Vec::new();
    for (table, copies) in tables {
        let Some(copies) = copies else {
            instances.push(table);
            continue;
        };
        for number in 1..=copies.value {
            let name = format!("{}{number}", *table.name);
            if let Some(fault) = name_fault(&name, NameKind::Plain) {
                let message = format!("the copy `{name}` cannot be called so");
                let help = format!("shorten the name `{}`", *table.name);
                report.push(Error::new(&table.name.place, message, fault, help));
                break;
            }
            instances.push(InstanceDraft {
                name: Located::new(name, table.name.place.clone()),
                argument: table.argument.replace(NUMBER, &number.to_string()),
                ..table.clone()
            });
        }
    }
    let mut places = std::collections::HashMap::new();
    for instance in &instances {
        if let Some(other) = places.insert(instance.name.value.clone(), &instance.name.place) {
            report.push(Error::new(
                &instance.name.place,
                format!("two instances are called `{}`", *instance.name),
                format!("expected another name than in line {}", other.line()),
                "rename this table, or the one with `copies`",
            ));
        }
    }
    (report.errors().len() == before).then_some(instances)
}
