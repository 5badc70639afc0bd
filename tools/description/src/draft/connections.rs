//! Imports and exports of an instance, as written.

use super::{ExportDraft, ImportDraft};
use crate::model::{StackMode, StateMode};
use crate::names::NameKind;
use crate::place::Located;
use crate::report::{Error, Report};
use crate::table::Value;
use cairn_abi::record::{CANCELLED, LONGEST};

pub(super) fn read_import(value: &Value<'_>, report: &mut Report) -> Option<ImportDraft> {
    let import = value.key_name(NameKind::Identifier, "an import", "console", report);
    let (target, stack, state, windows) = match value
        .as_table(format!("the connection of `{}`", value.name))
    {
        Some(mut table) => {
            let example = "to = \"console.console\"";
            let target =
                table.require("to", example, report).and_then(|value| read_target(&value, report));
            let stack = match table.take("stack") {
                Some(value) => value
                    .choice(&[("new", StackMode::New), ("shared", StackMode::Shared)], report)
                    .map(Some),
                None => Some(None),
            };
            let choices = [("partial", StateMode::Partial), ("minimal", StateMode::Minimal)];
            let state = match table.take("state") {
                Some(value) => value.choice(&choices, report).map(Some),
                None => Some(None),
            };
            let windows = match table.take("windows") {
                Some(value) => value.name(NameKind::Plain, "buffers", report).map(Some),
                None => Some(None),
            };
            table.finish(report);
            (target, stack, state, windows)
        }
        None if value.as_text().is_some() => {
            (read_target(value, report), Some(None), Some(None), Some(None))
        }
        None => {
            let example = format!("{} = \"console.console\"", value.name);
            value.expected("\"INSTANCE.EXPORT\" or a table", &example, report);
            return None;
        }
    };
    let (instance, export) = target?;
    Some(ImportDraft {
        import: import?,
        instance,
        export,
        stack: stack?,
        state: state?,
        windows: windows?,
    })
}

/// `"INSTANCE.EXPORT"`.
pub(super) fn read_target(
    value: &Value<'_>,
    report: &mut Report,
) -> Option<(Located<String>, Located<String>)> {
    let text = value.text("console.console", report)?;
    let Some((instance, export)) =
        text.split_once('.').filter(|(_, export)| !export.contains('.') && !export.is_empty())
    else {
        report.push(Error::new(
            &text.place,
            "this does not name an export",
            "expected \"INSTANCE.EXPORT\"",
            "write the instance, a dot, and the name of its export: \"console.console\"",
        ));
        return None;
    };
    let dot = instance.len();
    Some((
        Located::new(instance.to_owned(), value.part(0, dot)),
        Located::new(export.to_owned(), value.part(dot + 1, text.len())),
    ))
}

pub(super) fn read_export(value: &Value<'_>, report: &mut Report) -> Option<ExportDraft> {
    let name = value.key_name(NameKind::Identifier, "an export", "console", report);
    let mut table = value.table(format!("the export `{}`", value.name), report)?;
    let open = match table.take("open") {
        Some(value) => {
            value.texts("[\"shell\"]", report).map(|names| Some(Located::new(names, value.place())))
        }
        None => Some(None),
    };
    let trust = match table.take("trust") {
        Some(value) => value.texts("[\"shell\"]", report),
        None => Some(Vec::new()),
    };
    let longest_execution = match table.take("longest_execution") {
        Some(value) => value.duration(LONGEST, report).map(Some),
        None => Some(None),
    };
    let longest_call = match table.take("longest_call") {
        Some(value) => value.duration(LONGEST, report).map(Some),
        None => Some(None),
    };
    let cancelled_for = match table.take("cancelled_for") {
        Some(value) => value.duration(CANCELLED, report).map(Some),
        None => Some(None),
    };
    table.finish(report);
    Some(ExportDraft {
        name: name?,
        open: open?,
        trust: trust?,
        longest_execution: longest_execution?,
        longest_call: longest_call?,
        cancelled_for: cancelled_for?,
    })
}
