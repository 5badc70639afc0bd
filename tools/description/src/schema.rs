//! JSON schemas of descriptions, for editors: what the readers ask for, with what the reference says of each key.

mod reference;

use crate::board;
use crate::draft::{self, ABSENT};
use crate::probe::{Kind, Probe};
use crate::report::Report;
use crate::tree::Node;
use reference::Reference;
use serde_json::{Map, Value, json};

/// The schema of descriptions of systems, and of parts of some. No key is required: what is not there, a file below may say.
pub fn of_systems() -> Value {
    let read = |tree: &Node| drop(draft::read(tree, &mut Report::new()));
    let schema = Schema { reference: Reference::new(), is_filled: true };
    schema.whole("Cairn: description of a system", &Probe::of(read))
}

/// The schema of descriptions of boards.
pub fn of_boards() -> Value {
    let read = |tree: &Node| drop(board::read_tree(tree, &mut Report::new()));
    let schema = Schema { reference: Reference::new(), is_filled: false };
    schema.whole("Cairn: description of a board", &Probe::of(read))
}

/// As an editor's extension reads it, indented.
pub fn text(schema: &Value) -> String {
    format!("{schema:#}\n")
}

struct Schema {
    reference: Reference,
    /// A text with a variable in it may stand for a value of any type, and files lie over each other.
    is_filled: bool,
}

impl Schema {
    fn whole(&self, title: &str, top: &Node) -> Value {
        let mut schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "title": title,
            "$comment": "Made by `cairn schema`.",
        });
        let members = schema.as_object_mut().expect("it is an object");
        members.extend(self.value(top, ""));
        const INSTANCE: &str = "/properties/instance/additionalProperties";
        let instance = schema.pointer(INSTANCE).cloned();
        let of = |kind: &str| format!("/properties/{kind}/additionalProperties");
        if let Some(same) = schema.pointer_mut(&of("template"))
            && Some(&*same) == instance.as_ref()
        {
            *same = json!({ "$ref": format!("#{INSTANCE}") });
        }
        let instance = instance.as_ref().and_then(|instance| instance["properties"].as_object());
        let package = schema.pointer_mut(&(of("package") + "/properties"));
        if let Some((package, instance)) = package.and_then(Value::as_object_mut).zip(instance) {
            package.retain(|key, _| !ABSENT.iter().any(|(absent, _)| absent == key));
            for (key, same) in package {
                if Some(&*same) == instance.get(key) {
                    *same = json!({ "$ref": format!("#{INSTANCE}/properties/{key}") });
                }
            }
        }
        schema
    }

    /// The schema of the value at `path`.
    fn value(&self, node: &Node, path: &str) -> Map<String, Value> {
        let probe = node.probe().expect("readers have seen nothing else");
        let asked = probe.asked();
        // A table of names is read as a table first.
        let has_names = asked.contains(&Kind::Names);
        let kinds = asked.iter().filter(|kind| !(has_names && **kind == Kind::Table));
        let mut ways: Vec<Value> = kinds.flat_map(|kind| self.ways(probe, kind, path)).collect();
        let is_text = asked.iter().any(|kind| matches!(kind, Kind::Text | Kind::Given));
        let is_scalar = |kind: &Kind| !matches!(kind, Kind::Table | Kind::Names | Kind::Array);
        if self.is_filled && !is_text && asked.iter().any(is_scalar) {
            ways.push(json!({ "type": "string", "pattern": r"\{[a-z]" }));
        }
        let schema = match ways.len() {
            1 => ways.remove(0),
            _ => json!({ "anyOf": ways }),
        };
        let Value::Object(schema) = schema else { unreachable!("all of them are objects") };
        schema
    }

    /// The schemas of what is read in this way.
    fn ways(&self, probe: &Probe, kind: &Kind, path: &str) -> Vec<Value> {
        let integer = |least: &u64, most: &u64| json!({ "type": "integer", "minimum": least, "maximum": most });
        match kind {
            Kind::Table => vec![self.table(probe, path)],
            Kind::Names => {
                let inner = self.value(&probe.inner().value, &format!("{path}.*"));
                vec![json!({ "type": "object", "additionalProperties": inner })]
            }
            Kind::Array => {
                let items = self.value(&probe.inner().value, path);
                vec![json!({ "type": "array", "items": items })]
            }
            Kind::Text => vec![json!({ "type": "string" })],
            Kind::Boolean => vec![json!({ "type": "boolean" })],
            Kind::Given => vec![json!({ "type": ["integer", "string", "boolean"] })],
            Kind::Integer(range) => vec![integer(range.start(), range.end())],
            Kind::Size(range) => vec![
                json!({ "type": "string", "pattern": "^[0-9]+[KMG]$" }),
                integer(range.start(), range.end()),
            ],
            Kind::Duration => vec![json!({ "type": "string", "pattern": "^[0-9]+(ns|us|ms|s)$" })],
            Kind::Choice(words) => vec![json!({ "enum": words })],
        }
    }

    fn table(&self, probe: &Probe, path: &str) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for entry in probe.entries() {
            let of_entry = match path {
                "" => entry.name.clone(),
                _ => format!("{path}.{}", entry.name),
            };
            let mut schema = self.value(&entry.value, &of_entry);
            let text = self.reference.text(&of_entry);
            schema.extend(text.map(|text| ("description".to_owned(), text.into())));
            properties.insert(entry.name.clone(), schema.into());
            if !self.is_filled && entry.value.probe().is_some_and(Probe::is_required) {
                required.push(entry.name.as_str());
            }
        }
        let mut table =
            json!({ "type": "object", "properties": properties, "additionalProperties": false });
        if !required.is_empty() {
            table["required"] = required.into();
        }
        table
    }
}
