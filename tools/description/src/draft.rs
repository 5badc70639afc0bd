//! A system description as it is written: types are checked, names are not yet resolved.

use crate::document;
use crate::model::{Access, Restart, Role, StackMode, StateMode};
use crate::names::NameKind;
use crate::place::{Located, Place, Source};
use crate::report::{Error, Report};
use crate::table::{Table, Value};
use cairn_abi::address::{ACTIVATION_STACK_MAXIMUM, LEAF_SPAN, PAGE_SIZE};
use cairn_abi::semaphore::SEMAPHORES_MAXIMUM;
use cairn_abi::startup::ARGUMENT_SIZE;
use cairn_abi::thread::THREADS_MAXIMUM;
use std::sync::Arc;

/// Default of `[system] threads`.
const THREADS_DEFAULT: u64 = 64;
/// Default size of a stack.
const STACK_DEFAULT: u64 = 16 << 10;
/// Largest quota of memory: more than an instance's region holds makes no sense.
const MEMORY_MAXIMUM: u64 = cairn_abi::address::REGION_SIZE;
/// Most activations of an instance (more would not fit into its region).
const STACKS_MAXIMUM: u64 = 383;
/// Longest declared execution time: beyond that a callee might as well declare none.
const EXECUTION_MAXIMUM: u64 = 1_000_000_000_000;

pub(crate) struct Draft {
    pub name: Located<String>,
    pub board: Located<String>,
    pub roles: Vec<(Role, Located<String>)>,
    pub counting: bool,
    pub threads: Located<u32>,
    pub instances: Vec<InstanceDraft>,
    pub sections: Vec<(Located<String>, Located<u64>)>,
    /// The groups that have a table.
    pub stack_groups: Vec<Located<String>>,
}

pub(crate) struct InstanceDraft {
    pub name: Located<String>,
    pub component: Located<String>,
    /// `None`: the default, which depends on the role.
    pub priority: Option<Located<u8>>,
    pub memory: Located<u64>,
    pub heap: Located<u64>,
    pub stack: Located<u64>,
    pub stacks: Option<StacksDraft>,
    pub threads: Located<u32>,
    pub semaphores: Located<u32>,
    pub restart: Option<Located<Restart>>,
    pub essential: Option<Located<bool>>,
    pub argument: String,
    pub stack_group: Option<Located<String>>,
    pub devices: Vec<Located<String>>,
    pub sections: Vec<(Located<String>, Located<Access>)>,
    pub imports: Vec<ImportDraft>,
    pub exports: Vec<ExportDraft>,
}

pub(crate) struct StacksDraft {
    pub place: Place,
    pub count: Located<u32>,
    pub size: Located<u64>,
    pub per_client: Option<Located<u32>>,
}

pub(crate) struct ImportDraft {
    pub import: Located<String>,
    pub instance: Located<String>,
    pub export: Located<String>,
    pub stack: Option<Located<StackMode>>,
    pub state: Option<Located<StateMode>>,
}

pub(crate) struct ExportDraft {
    pub name: Located<String>,
    pub open: Option<Located<Vec<Located<String>>>>,
    pub trust: Vec<Located<String>>,
    pub longest_execution: Option<Located<u64>>,
}

/// Reads a system description; everything that is wrong is reported, and then there is no draft.
pub(crate) fn read(source: &Arc<Source>, report: &mut Report) -> Option<Draft> {
    let tree = document::parse(source, report)?;
    let mut top = document::top(source, &tree, "a system description");
    let system = top.require("system", "[system]", report);
    let instances = top.require("instance", "[instance.scheduler]", report);
    let sections = top.take("section");
    let stack_groups = top.take("stack_group");
    top.finish(report);

    let instances = instances.and_then(|value| {
        let mut table = value.table("`instance`", report)?;
        all(table.take_all(), report, read_instance)
    });
    let sections = match sections {
        Some(value) => value
            .table("`section`", report)
            .and_then(|mut table| all(table.take_all(), report, read_section)),
        None => Some(Vec::new()),
    };
    let stack_groups = match stack_groups {
        Some(value) => value
            .table("`stack_group`", report)
            .and_then(|mut table| all(table.take_all(), report, read_stack_group)),
        None => Some(Vec::new()),
    };
    let (name, board, roles, counting, threads) = read_system(&system?, report)?;
    Some(Draft {
        name,
        board,
        roles,
        counting,
        threads,
        instances: instances?,
        sections: sections?,
        stack_groups: stack_groups?,
    })
}

/// Reads every element even if one fails, so that all errors are found.
fn all<T>(
    values: Vec<Value<'_>>,
    report: &mut Report,
    read: impl Fn(&Value<'_>, &mut Report) -> Option<T>,
) -> Option<Vec<T>> {
    let read: Vec<Option<T>> = values.iter().map(|value| read(value, report)).collect();
    read.into_iter().collect()
}

type SystemTable = (
    Located<String>,
    Located<String>,
    Vec<(Role, Located<String>)>,
    bool,
    Located<u32>,
);

fn read_system(value: &Value<'_>, report: &mut Report) -> Option<SystemTable> {
    let mut table = value.table("`[system]`", report)?;
    let name = table
        .require("name", "name = \"demo\"", report)
        .and_then(|value| value.name(NameKind::Plain, "demo", report));
    let board = table
        .require("board", "board = \"qemu-virt\"", report)
        .and_then(|value| value.name(NameKind::Plain, "qemu-virt", report));
    let mut roles = Some(Vec::new());
    for role in Role::ALL {
        let value = match role {
            Role::Scheduler => {
                let value = table.require(role.key(), "scheduler = \"scheduler\"", report);
                if value.is_none() {
                    roles = None;
                }
                value
            }
            _ => table.take(role.key()),
        };
        let Some(value) = value else { continue };
        match (value.text(role.key(), report), &mut roles) {
            (Some(name), Some(roles)) => roles.push((role, name)),
            _ => roles = None,
        }
    }
    let counting = match table.take("counting") {
        Some(value) => value.boolean(report).map(|counting| counting.value),
        None => Some(false),
    };
    let most = THREADS_MAXIMUM as u64;
    let threads = number(&mut table, "threads", 1..=most, THREADS_DEFAULT, report);
    table.finish(report);
    Some((name?, board?, roles?, counting?, threads?))
}

fn number(
    table: &mut Table<'_>,
    key: &'static str,
    range: std::ops::RangeInclusive<u64>,
    default: u64,
    report: &mut Report,
) -> Option<Located<u32>> {
    match table.take(key) {
        Some(value) => value
            .integer(range, report)
            .map(|number| number.map(|n| n as u32)),
        None => Some(Located::new(default as u32, table.place().clone())),
    }
}

fn read_section(value: &Value<'_>, report: &mut Report) -> Option<(Located<String>, Located<u64>)> {
    let name = value.key_name(NameKind::Plain, "a section", "log", report);
    let mut table = value.table("a section", report)?;
    // The last page of a section's address space stays unmapped: a guard before the next section.
    let size = table
        .require("size", "size = \"64K\"", report)
        .and_then(|value| value.size(PAGE_SIZE..=LEAF_SPAN - PAGE_SIZE, PAGE_SIZE, report));
    table.finish(report);
    Some((name?, size?))
}

fn read_stack_group(value: &Value<'_>, report: &mut Report) -> Option<Located<String>> {
    let name = value.key_name(NameKind::Plain, "a stack group", "fast", report);
    let table = value.table("a stack group, which has none,", report)?;
    table.finish(report);
    name
}

fn read_instance(value: &Value<'_>, report: &mut Report) -> Option<InstanceDraft> {
    let name = value.key_name(NameKind::Plain, "an instance", "console", report);
    let mut table = value.table("an instance", report)?;
    let component = table
        .require(
            "component",
            &format!("component = \"{}\"", value.name),
            report,
        )
        .and_then(|value| read_component(&value, report));
    let placement = match table.take("placement") {
        Some(value) => read_placement(&value, report),
        None => Some(()),
    };
    let priority = match table.take("priority") {
        Some(value) => value
            .integer(0..=255, report)
            .map(|priority| Some(priority.map(|n| n as u8))),
        None => Some(None),
    };
    let memory = table
        .require("memory", "memory = \"256K\"", report)
        .and_then(|value| value.size(PAGE_SIZE..=MEMORY_MAXIMUM, PAGE_SIZE, report));
    let heap = size(&mut table, "heap", 0..=MEMORY_MAXIMUM, 0, report);
    let stack = size(
        &mut table,
        "stack",
        PAGE_SIZE..=ACTIVATION_STACK_MAXIMUM,
        STACK_DEFAULT,
        report,
    );
    let stacks = match table.take("stacks") {
        Some(value) => read_stacks(&value, report).map(Some),
        None => Some(None),
    };
    let threads = number(&mut table, "threads", 0..=THREADS_MAXIMUM as u64, 1, report);
    let semaphores = number(
        &mut table,
        "semaphores",
        0..=SEMAPHORES_MAXIMUM as u64,
        0,
        report,
    );
    let restart = match table.take("restart") {
        Some(value) => {
            let choices = [
                ("never", Restart::Never),
                ("always", Restart::Always),
                ("on-fault", Restart::OnFault),
            ];
            value.choice(&choices, report).map(Some)
        }
        None => Some(None),
    };
    let essential = match table.take("essential") {
        Some(value) => value.boolean(report).map(Some),
        None => Some(None),
    };
    let argument = match table.take("argument") {
        Some(value) => read_argument(&value, report),
        None => Some(String::new()),
    };
    let stack_group = match table.take("stack_group") {
        Some(value) => value.name(NameKind::Plain, "fast", report).map(Some),
        None => Some(None),
    };
    let devices = match table.take("devices") {
        Some(value) => value.texts("[\"serial@10000000\"]", report),
        None => Some(Vec::new()),
    };
    let sections = match table.take("sections") {
        Some(value) => value
            .table("`sections`", report)
            .and_then(|mut table| all(table.take_all(), report, read_section_use)),
        None => Some(Vec::new()),
    };
    let imports = match table.take("imports") {
        Some(value) => value
            .table("`imports`", report)
            .and_then(|mut table| all(table.take_all(), report, read_import)),
        None => Some(Vec::new()),
    };
    let exports = match table.take("exports") {
        Some(value) => value
            .table("`exports`", report)
            .and_then(|mut table| all(table.take_all(), report, read_export)),
        None => Some(Vec::new()),
    };
    table.finish(report);
    placement?;
    Some(InstanceDraft {
        name: name?,
        component: component?,
        priority: priority?,
        memory: memory?,
        heap: heap?,
        stack: stack?,
        stacks: stacks?,
        threads: threads?,
        semaphores: semaphores?,
        restart: restart?,
        essential: essential?,
        argument: argument?,
        stack_group: stack_group?,
        devices: devices?,
        sections: sections?,
        imports: imports?,
        exports: exports?,
    })
}

fn size(
    table: &mut Table<'_>,
    key: &'static str,
    range: std::ops::RangeInclusive<u64>,
    default: u64,
    report: &mut Report,
) -> Option<Located<u64>> {
    match table.take(key) {
        Some(value) => value.size(range, PAGE_SIZE, report),
        None => Some(Located::new(default, table.place().clone())),
    }
}

fn read_component(value: &Value<'_>, report: &mut Report) -> Option<Located<String>> {
    let text = value.text("console", report)?;
    // A folder below the root: nothing that climbs out of it or means another thing elsewhere.
    let part = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphanumeric())
            && part
                .chars()
                .all(|character| character.is_ascii_alphanumeric() || "._-".contains(character))
    };
    if text.split('/').all(part) {
        return Some(text);
    }
    report.push(Error::new(
        &text.place,
        "bad value for `component`",
        "expected the name of a folder in `components/`, or a path below the repository's root",
        "write for example \"console\" or \"examples/hello-c\"",
    ));
    None
}

fn read_placement(value: &Value<'_>, report: &mut Report) -> Option<()> {
    if let Some(mut table) = value.as_table("`placement`") {
        let with = table.require("with", "placement = { with = \"console\" }", report);
        table.finish(report);
        with?.text("console", report)?;
    } else if value.as_text().is_none() {
        value.expected("a string or a table", "placement = \"domain\"", report);
        return None;
    } else {
        let choices = [("domain", true), ("kernel", false), ("extension", false)];
        if value.choice(&choices, report)?.value {
            return Some(());
        }
    }
    report.push(Error::new(
        &value.place(),
        "this placement is not possible yet",
        "expected \"domain\"",
        "place it in a protection domain of its own: placement = \"domain\"",
    ));
    None
}

fn read_stacks(value: &Value<'_>, report: &mut Report) -> Option<StacksDraft> {
    let mut table = value.table("`stacks`", report)?;
    let count = table
        .require("count", "stacks = { count = 4, size = \"16K\" }", report)
        .and_then(|value| value.integer(0..=STACKS_MAXIMUM, report));
    let stack = size(
        &mut table,
        "size",
        PAGE_SIZE..=ACTIVATION_STACK_MAXIMUM,
        STACK_DEFAULT,
        report,
    );
    let per_client = match table.take("per_client") {
        Some(value) => value
            .integer(1..=STACKS_MAXIMUM, report)
            .map(|per_client| Some(per_client.map(|n| n as u32))),
        None => Some(None),
    };
    table.finish(report);
    Some(StacksDraft {
        place: value.place(),
        count: count?.map(|count| count as u32),
        size: stack?,
        per_client: per_client?,
    })
}

fn read_argument(value: &Value<'_>, report: &mut Report) -> Option<String> {
    let text = value.text("text", report)?;
    if text.len() > ARGUMENT_SIZE {
        report.push(Error::new(
            &text.place,
            "the argument is too long",
            format!(
                "expected at most {ARGUMENT_SIZE} bytes, found {}",
                text.len()
            ),
            "shorten it, or hand larger data over in a section",
        ));
        return None;
    }
    Some(text.value)
}

fn read_section_use(
    value: &Value<'_>,
    report: &mut Report,
) -> Option<(Located<String>, Located<Access>)> {
    let access = value.choice(
        &[("read", Access::Read), ("read-write", Access::ReadWrite)],
        report,
    )?;
    Some((Located::new(value.name.clone(), value.key.clone()), access))
}

fn read_import(value: &Value<'_>, report: &mut Report) -> Option<ImportDraft> {
    let import = value.key_name(NameKind::Identifier, "an import", "console", report);
    let (target, stack, state) = match value.as_table("a connection") {
        Some(mut table) => {
            let example = "to = \"console.console\"";
            let target = table
                .require("to", example, report)
                .and_then(|value| read_target(&value, report));
            let stack = match table.take("stack") {
                Some(value) => value
                    .choice(
                        &[("new", StackMode::New), ("shared", StackMode::Shared)],
                        report,
                    )
                    .map(Some),
                None => Some(None),
            };
            let choices = [
                ("partial", StateMode::Partial),
                ("minimal", StateMode::Minimal),
            ];
            let state = match table.take("state") {
                Some(value) => value.choice(&choices, report).map(Some),
                None => Some(None),
            };
            table.finish(report);
            (target, stack, state)
        }
        None if value.as_text().is_some() => (read_target(value, report), Some(None), Some(None)),
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
    })
}

fn read_target(
    value: &Value<'_>,
    report: &mut Report,
) -> Option<(Located<String>, Located<String>)> {
    let text = value.text("console.console", report)?;
    let Some((instance, export)) = text
        .split_once('.')
        .filter(|(_, export)| !export.contains('.') && !export.is_empty())
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

fn read_export(value: &Value<'_>, report: &mut Report) -> Option<ExportDraft> {
    let name = value.key_name(NameKind::Identifier, "an export", "console", report);
    let mut table = value.table("an export", report)?;
    let open = match table.take("open") {
        Some(value) => value
            .texts("[\"shell\"]", report)
            .map(|names| Some(Located::new(names, value.place()))),
        None => Some(None),
    };
    let trust = match table.take("trust") {
        Some(value) => value.texts("[\"shell\"]", report),
        None => Some(Vec::new()),
    };
    let longest_execution = match table.take("longest_execution") {
        Some(value) => value.duration(1_000..=EXECUTION_MAXIMUM, report).map(Some),
        None => Some(None),
    };
    table.finish(report);
    Some(ExportDraft {
        name: name?,
        open: open?,
        trust: trust?,
        longest_execution: longest_execution?,
    })
}
