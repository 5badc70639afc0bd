//! What stands for something else in a description, and is put in before it is read: variables, templates, copies, what packages replace.

use crate::load::Setting;
use crate::names::{NameKind, name_fault, suggestion};
use crate::place::{Place, Source};
use crate::report::{Error, Report};
use crate::successor;
use crate::tree::{Data, Entry, Node};
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

/// What stands for a copy's number.
const NUMBER: &str = "n";

/// How many copies there can be.
pub(crate) const COUNT: RangeInclusive<u64> = 1..=INSTANCES_MAXIMUM as u64 - 1;

/// Texts by the names that stand for them.
type Values = BTreeMap<String, String>;

/// The tree with everything put in. `settings` are variables' values from outside.
pub(crate) fn expand(mut top: Node, settings: &[Setting], report: &mut Report) -> Option<Node> {
    let before = report.errors().len();
    let variables = variables(top.remove("variables"), settings, report);
    let templates = top.remove("template");
    use_templates(&mut top, templates.as_ref().map(|entry| &entry.value), report);
    let counted = counts(&mut top, &variables, report);
    if let Some(instances) = top.get_mut("instance").and_then(Node::entries_mut) {
        for instance in instances.iter_mut().filter(|one| !counted.contains_key(&one.name)) {
            number_imports(&mut instance.value, &counted, &variables, report);
        }
    }
    for kind in ["instance", "section"] {
        if let Some(tables) = top.get_mut(kind).and_then(Node::entries_mut) {
            *tables = unfold(std::mem::take(tables), &variables, report);
        }
    }
    fill(&mut top, &variables, report);
    successor::inherit(&mut top, report);
    (report.errors().len() == before).then_some(top)
}

/// The values of `[variables]`, and of those that are set.
fn variables(table: Option<Entry>, settings: &[Setting], report: &mut Report) -> Values {
    let mut values = Values::new();
    if let Some(table) = table.as_ref().filter(|table| table.value.entries().is_none()) {
        let found = table.value.type_name();
        report.push(Error::new(
            &table.key,
            "`variables` has the wrong type",
            format!("expected a table, found another type: {found}"),
            "write [variables], and below it for example: sensors = 4",
        ));
    }
    for entry in table.iter().flat_map(|table| table.value.entries().unwrap_or_default()) {
        let fault = name_fault(&entry.name, NameKind::Identifier);
        let reserved = (entry.name == NUMBER).then(|| "`n` is the number of a copy".to_owned());
        if let Some(fault) = fault.or(reserved) {
            let help = "write a name such as `sensors`";
            report.push(Error::new(&entry.key, "bad name of a variable", fault, help));
        }
        let value = match &entry.value.data {
            Data::Text(text) => text.clone(),
            Data::Integer(Some(value)) => value.to_string(),
            Data::Boolean(value) => value.to_string(),
            _ => {
                report.push(Error::new(
                    &entry.value.place,
                    format!("bad value of the variable `{}`", entry.name),
                    "expected a string, an integer, `true` or `false`",
                    format!("write for example: {} = \"64K\"", entry.name),
                ));
                continue;
            }
        };
        values.insert(entry.name.clone(), value);
    }
    for (name, value) in settings {
        if !values.contains_key(name) {
            let known = values.keys().map(String::as_str);
            let asked = Source::new("--set", format!("{name}={value}"));
            report.push(Error::new(
                &Place::new(&asked, 0..name.len()),
                format!("unknown variable `{name}`"),
                "expected a variable of `[variables]` of this system",
                suggestion(name, "the variables are", known, "add it to `[variables]`"),
            ));
        }
        values.insert(name.clone(), value.clone());
    }
    values
}

/// Lays each instance, and each package, over the template that it names.
fn use_templates(top: &mut Node, templates: Option<&Node>, report: &mut Report) {
    for kind in ["instance", "package"] {
        let tables = top.get_mut(kind).and_then(Node::entries_mut);
        tables.into_iter().flatten().for_each(|table| use_template(table, templates, report));
    }
}

/// The same for one.
fn use_template(instance: &mut Entry, templates: Option<&Node>, report: &mut Report) {
    let mut used: Vec<String> = Vec::new();
    while let Some(name) = instance.value.remove("template") {
        let place = &name.value.place;
        let Some(text) = name.value.text("template", "template = \"sensor\"", report) else {
            break;
        };
        let template = templates.and_then(|templates| templates.get(text));
        let Some(template) = template.filter(|template| template.entries().is_some()) else {
            let names = templates.and_then(Node::entries).unwrap_or_default().iter();
            let names = names.map(|entry| entry.name.as_str());
            report.push(Error::new(
                place,
                format!("unknown template `{text}`"),
                "expected the name of a table `[template.NAME]`",
                suggestion(text, "the templates are", names, "add it"),
            ));
            break;
        };
        if used.iter().any(|used| used == text) {
            report.push(Error::new(
                place,
                "templates use each other in a circle",
                "expected a template that is not made of itself",
                "remove this line",
            ));
            break;
        }
        used.push(text.to_owned());
        instance.value = instance.value.clone().over(template.clone());
    }
}

/// How many copies there are of each instance that says so.
fn counts(top: &mut Node, variables: &Values, report: &mut Report) -> HashMap<String, u64> {
    let instances = top.get_mut("instance").and_then(Node::entries_mut);
    let count = |instance: &mut Entry| {
        let count = instance.value.get_mut("count")?;
        Some((instance.name.clone(), number(count, variables, report)?))
    };
    instances.into_iter().flatten().filter_map(count).collect()
}

/// A `count`.
fn number(count: &mut Node, variables: &Values, report: &mut Report) -> Option<u64> {
    let before = report.errors().len();
    fill(count, variables, report);
    if report.errors().len() > before {
        return None;
    }
    let value = match &count.data {
        Data::Integer(value) => *value,
        Data::Filled(text) => text.parse().ok(),
        _ => None,
    };
    let value =
        value.filter(|value| u64::try_from(*value).is_ok_and(|value| COUNT.contains(&value)));
    if value.is_none() {
        report.push(Error::new(
            &count.place,
            "bad value for `count`",
            format!("expected {} to {}", COUNT.start(), COUNT.end()),
            "write a number in this range, or a variable that stands for one",
        ));
    }
    value.map(|value| value as u64)
}

/// Imports whose names have a number in them: one from each copy of the instance that they name.
fn number_imports(
    instance: &mut Node,
    counts: &HashMap<String, u64>,
    variables: &Values,
    report: &mut Report,
) {
    let Some(imports) = instance.get_mut("imports").and_then(Node::entries_mut) else { return };
    for import in std::mem::take(imports) {
        if !import.name.contains("{n}") {
            imports.push(import);
            continue;
        }
        let target = import.value.get("to").unwrap_or(&import.value).as_text().unwrap_or_default();
        let copied = target.split_once("-{n}.").and_then(|(name, _)| counts.get(name));
        let Some(count) = copied else {
            report.push(Error::new(
                &import.value.place,
                format!("`{}` does not say of whom it is an import", import.name),
                "expected \"NAME-{n}.EXPORT\", where `[instance.NAME]` has a `count`",
                "write for example: \"sensor{n}\" = \"sensor-{n}.sensor\"",
            ));
            continue;
        };
        for number in 1..=*count {
            imports.push(copy(&import, number, &import.name, variables, report));
        }
    }
}

/// The tables in order, each with a `count` as often as it says: `NAME-1`, `NAME-2`, and so on.
fn unfold(tables: Vec<Entry>, variables: &Values, report: &mut Report) -> Vec<Entry> {
    let mut all: Vec<Entry> = Vec::new();
    for mut table in tables {
        let count = table.value.remove("count");
        // What is wrong with that of an instance has been said.
        let Some(count) = count.and_then(|mut count| number(&mut count.value, variables, report))
        else {
            all.push(table);
            continue;
        };
        let name = format!("{}-{{n}}", table.name);
        let longest = format!("{}-{count}", table.name);
        if let Some(fault) = name_fault(&longest, NameKind::Plain) {
            let message = format!("the copy `{longest}` cannot be called so");
            let help = format!("shorten the name `{}`", table.name);
            report.push(Error::new(&table.key, message, fault, help));
            continue;
        }
        all.extend((1..=count).map(|number| copy(&table, number, &name, variables, report)));
    }
    let mut places: HashMap<&str, &Place> = HashMap::new();
    for table in &all {
        if let Some(other) = places.insert(&table.name, &table.key) {
            report.push(
                Error::new(
                    &table.key,
                    format!("two tables are called `{}`", table.name),
                    "expected a name that no other table has",
                    "rename this table, or the one with `count`",
                )
                .note(other, "the other one"),
            );
        }
    }
    all
}

/// The copy with this number.
fn copy(table: &Entry, number: u64, name: &str, variables: &Values, report: &mut Report) -> Entry {
    let mut copy = table.clone();
    let mut values = variables.clone();
    values.insert(NUMBER.to_owned(), number.to_string());
    copy.name = name.replace("{n}", &number.to_string());
    copy.copy_of = Some(table.name.clone());
    fill(&mut copy.value, &values, report);
    copy
}

/// Puts values into all texts and names that have not been filled yet.
fn fill(node: &mut Node, values: &Values, report: &mut Report) {
    match &mut node.data {
        Data::Text(text) if text.contains('{') => match filled(text, values) {
            Ok(text) if text == node.as_text().unwrap_or_default() => {}
            Ok(text) => node.data = Data::Filled(text),
            Err(name) => report.push(unknown(&node.place, &name, values)),
        },
        Data::Array(array) => array.iter_mut().for_each(|one| fill(one, values, report)),
        Data::Table(entries) => {
            // Copies have been filled.
            for entry in entries.iter_mut().filter(|entry| entry.copy_of.is_none()) {
                match filled(&entry.name, values) {
                    Ok(name) => entry.name = name,
                    Err(name) => report.push(unknown(&entry.key, &name, values)),
                }
                fill(&mut entry.value, values, report);
            }
        }
        _ => {}
    }
}

/// A text with values for `{name}`; `{{name}}` is `{name}` itself. The name that has none, if there is one.
fn filled(text: &str, values: &Values) -> Result<String, String> {
    let mut result = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        result += &rest[..start];
        rest = &rest[start..];
        let named = |braced: &str, open: &str, close: &str| {
            let name = braced.strip_prefix(open)?.split_once(close)?.0.to_owned();
            name_fault(&name, NameKind::Identifier).is_none().then_some(name)
        };
        if let Some(name) = named(rest, "{{", "}}") {
            result += &format!("{{{name}}}");
            rest = &rest[name.len() + 4..];
        } else if let Some(name) = named(rest, "{", "}") {
            result += values.get(&name).ok_or_else(|| name.clone())?;
            rest = &rest[name.len() + 2..];
        } else {
            result.push('{');
            rest = &rest[1..];
        }
    }
    Ok(result + rest)
}

fn unknown(place: &Place, name: &str, values: &Values) -> Error {
    if name == NUMBER {
        return Error::new(
            place,
            "`{n}` is the number of a copy",
            "expected it in a table with `count`",
            "add `count` to the table, or write \"{{n}}\" for the text itself",
        );
    }
    let otherwise =
        format!("add it to `[variables]`, or write \"{{{{{name}}}}}\" for the text itself");
    Error::new(
        place,
        format!("unknown variable `{name}`"),
        "expected a variable of `[variables]`",
        suggestion(name, "the variables are", values.keys().map(String::as_str), &otherwise),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_braces_stand_for_values() {
        let values = Values::from([("n".to_owned(), "3".to_owned()), ("a_b".into(), "{n}".into())]);
        let filled = |text| filled(text, &values);
        for (text, expected) in [
            ("plain", "plain"),
            ("{n}", "3"),
            ("sensor-{n}.sensor{n}", "sensor-3.sensor3"),
            ("{a_b}{n}", "{n}3"),
            ("{{n}} {{x}}", "{n} {x}"),
            ("t={} {1} {N} {\"a\": {n}} { {n", "t={} {1} {N} {\"a\": 3} { {n"),
        ] {
            assert_eq!(filled(text).as_deref(), Ok(expected), "{text}");
        }
        assert_eq!(filled("{n} {m}"), Err("m".to_owned()));
    }
}
