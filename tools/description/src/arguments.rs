//! The arguments of an instance, of the types that its component declares.

use crate::model::Instance;
use crate::names::{NameKind, list, suggestion};
use crate::place::Located;
use crate::report::{Error, Report};
use crate::table;
use crate::units::{parse_duration, parse_size};
use cairn_abi::descriptor::{
    ARGUMENT_BOOL, ARGUMENT_BYTES, ARGUMENT_DURATION, ARGUMENT_ENUM, ARGUMENT_KEYS,
    ARGUMENT_SIGNED, ARGUMENT_TEXT, ARGUMENT_UNSIGNED,
};
use cairn_abi::startup::ARGUMENT_SIZE;
use cairn_loader::package::Keys;
use cairn_loader::{Argument, Descriptor};

/// A value as it is written, before its component says of which type it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// A number.
    Integer(i128),
    /// A text, a size or a duration.
    Text(String),
    /// `true` or `false`.
    Bool(bool),
    /// A text in which something stands for something else, and which may be meant as a value of any type.
    Filled(String),
}

/// The value of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// As a component finds it in its startup page.
    Word(u64),
    /// Text.
    Text(String),
}

/// Reads one of the table `arguments`.
pub(crate) fn read(
    value: &table::Value<'_>,
    report: &mut Report,
) -> Option<(Located<String>, Located<Given>)> {
    let name = value.key_name(NameKind::Plain, "an argument", "period", report);
    let given = value.given(report);
    Some((name?, given?))
}

/// The values of an instance's arguments, in the order of its component; reports what does not fit.
pub(crate) fn check(
    instance: &Instance,
    component: &Descriptor,
    report: &mut Report,
) -> Vec<Value> {
    let declared = &component.arguments;
    for (name, _) in &instance.arguments {
        if !declared.iter().any(|argument| argument.name == **name) {
            let names = declared.iter().map(|argument| argument.name.as_str());
            report.push(Error::new(
                &name.place,
                format!("`{}` has no argument `{name}`", instance.component),
                "expected an argument that the component declares",
                match declared.is_empty() {
                    true => "remove it: the component declares none".to_owned(),
                    false => suggestion(name, "its arguments are", names, "remove it"),
                },
            ));
        }
    }
    let mut room = ARGUMENT_SIZE.saturating_sub(instance.argument.len());
    let mut values = Vec::new();
    for argument in declared {
        let given = instance.arguments.iter().find(|(name, _)| **name == argument.name);
        let value = match (given, argument.default) {
            (Some((_, given)), _) => value(argument, given, report),
            (None, Some(_)) if matches!(argument.kind, ARGUMENT_TEXT | ARGUMENT_KEYS) => {
                Some(Value::Text(String::new()))
            }
            (None, Some(default)) => Some(Value::Word(default)),
            (None, None) => {
                report.push(missing(instance, argument));
                None
            }
        };
        let Some(value) = value else { continue };
        if let (Value::Text(text), Some((_, given))) = (&value, given) {
            match room.checked_sub(text.len()) {
                Some(rest) => room = rest,
                None => report.push(Error::new(
                    &given.place,
                    format!("the texts of `{}` are too long", instance.name),
                    format!("expected at most {ARGUMENT_SIZE} bytes in all, with `argument`"),
                    "shorten them, or hand larger data over in a section",
                )),
            }
        }
        values.push(value);
    }
    values
}

/// The value of an argument that is given.
fn value(argument: &Argument, given: &Located<Given>, report: &mut Report) -> Option<Value> {
    let example = example(argument);
    let (value, expected) = match argument.kind {
        ARGUMENT_UNSIGNED | ARGUMENT_BYTES => {
            let word = match &**given {
                Given::Integer(number) => u64::try_from(*number).ok(),
                Given::Text(text) => parse_size(text),
                Given::Filled(text) => text.parse().ok().or_else(|| parse_size(text)),
                Given::Bool(_) => None,
            };
            let expected = match argument.kind {
                ARGUMENT_BYTES => "a size",
                _ => "a number from 0 on, or a size",
            };
            (word.map(Value::Word), expected.to_owned())
        }
        ARGUMENT_SIGNED => {
            let number = match &**given {
                Given::Integer(number) => i64::try_from(*number).ok(),
                Given::Filled(text) => text.parse().ok(),
                _ => None,
            };
            (number.map(|number| Value::Word(number as u64)), "a number of 64 bits".to_owned())
        }
        ARGUMENT_BOOL => {
            let word = match &**given {
                Given::Bool(value) => Some((*value).into()),
                Given::Filled(text) => text.parse().ok().map(bool::into),
                _ => None,
            };
            (word.map(Value::Word), "`true` or `false`".to_owned())
        }
        ARGUMENT_DURATION => {
            let word = match &**given {
                Given::Text(text) | Given::Filled(text) => parse_duration(text),
                _ => None,
            };
            (word.map(Value::Word), "a duration".to_owned())
        }
        ARGUMENT_ENUM => {
            let named = |text: &String| argument.variants.iter().find(|one| one.name == *text);
            let variant = match &**given {
                Given::Text(text) | Given::Filled(text) => named(text),
                _ => None,
            };
            let names = argument.variants.iter().map(|variant| variant.name.as_str());
            let expected = format!("one of {}", list(names));
            (variant.map(|variant| Value::Word(variant.code as u64)), expected)
        }
        kind => {
            let text = match &**given {
                Given::Text(text) | Given::Filled(text) => Some(text.clone()),
                _ => None,
            };
            match text.as_ref().and_then(|text| Keys(text).wrong()) {
                Some(wrong) if kind == ARGUMENT_KEYS => (None, not_a_key(wrong)),
                _ if kind == ARGUMENT_KEYS => (text.map(Value::Text), "public keys".to_owned()),
                _ => (text.map(Value::Text), "a text".to_owned()),
            }
        }
    };
    if value.is_none() {
        report.push(Error::new(
            &given.place,
            format!("bad value for the argument `{}`", argument.name),
            format!("expected {expected}"),
            format!("write for example: {} = {example}", argument.name),
        ));
    }
    value
}

/// What is expected of what stands in a place of a public key.
fn not_a_key(wrong: &str) -> String {
    let count = wrong.chars().count();
    let shown: String = wrong.chars().take(16).collect();
    let dots = if count > 16 { "…" } else { "" };
    match wrong.chars().find(|digit| !digit.is_ascii_hexdigit()) {
        Some(digit) => {
            format!(
                "64 hexadecimal digits for each key, with space between them; `{shown}{dots}` has a `{digit}`"
            )
        }
        None => {
            format!(
                "64 hexadecimal digits for each key, with space between them; `{shown}{dots}` has {count}"
            )
        }
    }
}

/// What a value can look like.
fn example(argument: &Argument) -> String {
    let example = match argument.kind {
        ARGUMENT_UNSIGNED => "64",
        ARGUMENT_SIGNED => "-1",
        ARGUMENT_BOOL => "true",
        ARGUMENT_DURATION => "\"10ms\"",
        ARGUMENT_BYTES => "\"64K\"",
        ARGUMENT_KEYS => "\"8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c\"",
        ARGUMENT_ENUM => {
            let first = argument.variants.first();
            return format!("\"{}\"", first.map_or("", |variant| variant.name.as_str()));
        }
        _ => "\"text\"",
    };
    example.to_owned()
}

fn missing(instance: &Instance, argument: &Argument) -> Error {
    let example = example(argument);
    Error::new(
        &instance.name.place,
        format!("the argument `{}` of `{}` is missing", argument.name, instance.name),
        format!("expected a value, since `{}` has no default for it", instance.component),
        format!(
            "{}: {} = {example}",
            instance
                .write_into("arguments", instance.arguments.first().map(|(name, _)| &name.place)),
            argument.name
        ),
    )
}
