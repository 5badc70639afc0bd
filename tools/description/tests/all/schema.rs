//! The schemas hold for every description, and for nothing that a reader refuses by its key or type.

use crate::common::repository;
use cairn_description::schema;
use regex::Regex;
use serde_json::{Value, json};

/// What is wrong with a value, by the words of JSON schemas that these have; others are wrong too.
fn wrong(schema: &Value, value: &Value, top: &Value) -> Option<String> {
    for (word, of) in schema.as_object().expect("an object") {
        let fault = match word.as_str() {
            "$schema" | "$comment" | "title" | "description" => None,
            "$ref" => {
                let path = of.as_str().and_then(|path| path.strip_prefix('#')).expect("a path");
                wrong(top.pointer(path).expect("it is there"), value, top)
            }
            "type" => {
                let found = match value {
                    Value::Object(_) => "object",
                    Value::Array(_) => "array",
                    Value::String(_) => "string",
                    Value::Bool(_) => "boolean",
                    Value::Number(number) if number.is_u64() || number.is_i64() => "integer",
                    _ => "another",
                };
                let is_one =
                    of == found || of.as_array().is_some_and(|of| of.contains(&json!(found)));
                (!is_one).then(|| format!("{value} is no {of}"))
            }
            "minimum" | "maximum" => {
                let (limit, number) = (of.as_u64().expect("a number"), value.as_i64());
                let is_in =
                    |number: u64| if word == "minimum" { number >= limit } else { number <= limit };
                let is_in = number.is_none_or(|number| u64::try_from(number).is_ok_and(is_in));
                (!is_in).then(|| format!("{value} is beyond {limit}"))
            }
            "pattern" => {
                let pattern = Regex::new(of.as_str().expect("a text")).expect("a pattern");
                let is_match = value.as_str().is_none_or(|text| pattern.is_match(text));
                (!is_match).then(|| format!("{value} is not {of}"))
            }
            "enum" => {
                let is_one = of.as_array().expect("a list").contains(value);
                (!is_one).then(|| format!("{value} is none of {of}"))
            }
            "anyOf" => {
                let faults =
                    of.as_array().expect("a list").iter().map(|way| wrong(way, value, top));
                let faults: Option<Vec<String>> = faults.collect();
                faults.map(|faults| faults.join(", "))
            }
            "items" => {
                let mut items = value.as_array().into_iter().flatten();
                items.find_map(|item| wrong(of, item, top))
            }
            "required" => {
                let mut keys = of.as_array().expect("a list").iter().filter_map(Value::as_str);
                keys.find(|key| value.get(key).is_none()).map(|key| format!("{key} is missing"))
            }
            "properties" => {
                let mut known = of.as_object().expect("an object").iter();
                known.find_map(|(key, schema)| {
                    Some(format!("{key}: {}", wrong(schema, value.get(key)?, top)?))
                })
            }
            "additionalProperties" => {
                let known = &schema["properties"];
                let mut others = value.as_object().into_iter().flatten();
                others.find_map(|(key, value)| match of {
                    _ if known.get(key).is_some() => None,
                    Value::Bool(false) => Some(format!("{key} is unknown")),
                    _ => Some(format!("{key}: {}", wrong(of, value, top)?)),
                })
            }
            other => Some(format!("the schema has the word `{other}`")),
        };
        if fault.is_some() {
            return fault;
        }
    }
    None
}

fn wrong_with(schema: &Value, text: &str) -> Option<String> {
    wrong(schema, &toml::from_str(text).expect("it is TOML"), schema)
}

#[test]
fn every_description_of_the_repository_is_valid() {
    let (systems, boards) = (schema::of_systems(), schema::of_boards());
    let mut counts = [0, 0];
    for (path, text, is_board) in repository() {
        counts[usize::from(is_board)] += 1;
        let schema = if is_board { &boards } else { &systems };
        assert_eq!(wrong_with(schema, &text), None, "{}", path.display());
    }
    assert!(counts[0] > 150 && counts[1] >= 10, "{counts:?}");
}

#[test]
fn unknown_keys_and_wrong_types_are_not_valid() {
    let systems = schema::of_systems();
    let wrong = |text: &str| wrong_with(&systems, text).unwrap_or_default();
    for (text, expected) in [
        ("[sytem]", "sytem is unknown"),
        ("[system]\nthread = 4", "system: thread is unknown"),
        ("[system]\nthreads = '4'", "system: threads: \"4\" is no \"integer\""),
        ("[system]\nthreads = 257", "257 is beyond 256"),
        ("[system]\nlogs = ['a']", "[\"a\"] is no \"string\""),
        ("[system]\nprofile = 'fast'", "\"fast\" is none of [\"development\",\"release\"]"),
        ("[system]\nextends = [1]", "1 is no \"string\""),
        ("[instance.a]\nmemry = '4K'", "instance: a: memry is unknown"),
        ("[instance.a]\nmemory = '4KB'", "\"4KB\" is not \"^[0-9]+[KMG]$\""),
        ("[instance.a]\nlocked = 1", "1 is no \"boolean\""),
        ("[instance.a]\nplacement = { wit = 'b' }", "wit is unknown"),
        ("[instance.a]\narguments = { a = [] }", "arguments: a: [] is no"),
        ("[instance.a]\nprocesses = { space = 1 }", "processes: space is unknown"),
        ("[package.a]\nprocesses = {}", "package: a: processes is unknown"),
        ("[instance.a.exports.b]\nlongest_call = '10'", "longest_call: \"10\" is not"),
        ("[template.a]\nmemory = true", "template: a: memory: true is no"),
        ("[package.a]\nmemory = true", "package: a: memory: true is no"),
        ("[package.a]\nplacement = 'kernel'", "package: a: placement is unknown"),
        ("[instance.a]\nreplaces = 'b'", "instance: a: replaces is unknown"),
        ("[section.a]\ncount = 0", "count: 0 is beyond 1"),
        ("[stack_group.a]\nb = 1", "b is unknown"),
        ("[variables]\na = {}", "variables: a: {} is no"),
    ] {
        assert!(
            wrong(text).contains(expected),
            "{text}: expected `{expected}` in `{}`",
            wrong(text)
        );
    }
    for text in [
        "[instance.a]\nmemory = '{quota}'\ncount = '{n}'\nlocked = '{locked}'",
        "[instance.a]\ndevices = { port = 'serial0' }\ncpu = '10%'\nimports.a = 'b.c'",
        "[instance.a]\ncpu = { period = '1ms', budget = '10us' }\nmemory = 4096",
        "[system]\nextends = 'base'\nwithout = ['a']",
        "[package.a]\nreplaces = 'b'\nmemory = '{quota}'\nexports.c = { longest_call = '1s' }",
    ] {
        assert_eq!(wrong(text), "", "{text}");
    }
    let board = "[board]\nname = 'a'\ntime_base = 1\nasid_bits = 0\nload_address = 0\n[memory]\nbase = 0\nsize = '1M'\n";
    let boards = schema::of_boards();
    assert_eq!(wrong_with(&boards, board), None);
    for (text, expected) in [
        (board.replace("time_base = 1\n", ""), "time_base is missing"),
        (board.replace("'a'", "1"), "name: 1 is no \"string\""),
        (format!("{board}[simulator]\ncor = 'a'"), "cor"),
        (
            format!("{board}[device.a]\nregisters = [0, 1]\nvirtio = 'gpu'"),
            "virtio: \"gpu\" is none of",
        ),
        (
            format!("{board}[device.a]\nregisters = [0, 1]\ninterrupt = 'a'"),
            "interrupt: \"a\" is no",
        ),
    ] {
        let fault = wrong_with(&boards, &text).unwrap_or_default();
        assert!(fault.contains(expected), "{text}: expected `{expected}` in `{fault}`");
    }
}

/// What the reference does not explain.
fn unexplained(schema: &Value, path: &str, found: &mut Vec<String>) {
    for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{key}");
        // What stands in a value of one line is explained with it; tables have chapters.
        let is_table = path.matches('.').count() == 1;
        match schema.get("description") {
            // It is explained where that is.
            None if schema.get("$ref").is_some() => {}
            None if !is_table => found.push(path),
            _ => unexplained(schema, &path, found),
        }
    }
    if let Some(inner) = schema.get("additionalProperties").filter(|inner| inner.is_object()) {
        unexplained(inner, &format!("{path}.*"), found);
    }
}

#[test]
fn the_reference_has_every_key() {
    for schema in [schema::of_systems(), schema::of_boards()] {
        let mut found = Vec::new();
        unexplained(&schema, "", &mut found);
        found.retain(|path| !path.starts_with(".board.tlb."));
        assert!(found.is_empty(), "docs/reference/system-description.md lacks {found:?}");
    }
    let systems = schema::of_systems();
    let memory = &systems["properties"]["instance"]["additionalProperties"]["properties"]["memory"];
    assert!(memory["description"].as_str().is_some_and(|text| text.starts_with("quota of memory")));
}
