//! A system description as it is written: types are checked, names are not yet resolved.

mod connections;
mod instance;
mod package;
mod processes;

use crate::arguments::Given;
use crate::devices::Asked;
use crate::expand::COUNT;
use crate::extend;
use crate::model::{
    Access, Cpu, Placement, Processes, Profile, Restart, Role, StackMode, StateMode,
};
use crate::names::{NameKind, is_path};
use crate::package::Paged;
use crate::place::{Located, Place};
use crate::report::Report;
use crate::table::{Table, Value};
use crate::tree::Node;
use cairn_abi::address::{
    ACTIVATION_STRIDE, DEVICES_OFFSET, IMAGE_OFFSET, PAGE_SIZE, REGION_SIZE, SECTION_MAXIMUM,
};
use cairn_abi::log::LEVELS;
use cairn_abi::record::CANCELLED;
use cairn_abi::thread::THREADS_MAXIMUM;
pub(crate) use package::{ABSENT, PACKAGE};

/// Default of `[system] threads`.
const THREADS_DEFAULT: u64 = 64;
/// Default size of a stack.
const STACK_DEFAULT: u64 = 16 << 10;
/// Largest quota of memory: more than an instance's region holds makes no sense.
const MEMORY_MAXIMUM: u64 = REGION_SIZE;
/// Most stacks for callers: as many as the region holds beside that of the first thread.
const STACKS_MAXIMUM: u64 = (DEVICES_OFFSET - IMAGE_OFFSET) / ACTIVATION_STRIDE - 1;
/// Default of `[system] cancelled_for`, in nanoseconds.
const CANCELLED_DEFAULT: u64 = 100_000_000;

/// Default of `[system] log`: `info`.
const LOG_DEFAULT: u8 = 3;
/// Default of an instance's `log_size`.
const LOG_SIZE_DEFAULT: u64 = PAGE_SIZE;

pub(crate) struct Draft {
    pub name: Located<String>,
    pub board: Located<String>,
    pub roles: Vec<(Role, Located<String>)>,
    pub profile: Profile,
    pub counting: bool,
    pub threads: Located<u32>,
    pub cancelled_for: u64,
    /// The number of the last level that instances log which do not say.
    pub log: u8,
    pub instances: Vec<InstanceDraft>,
    pub packages: Vec<PackageDraft>,
    pub sections: Vec<SectionDraft>,
    /// The groups that have a table.
    pub stack_groups: Vec<Located<String>>,
}

pub(crate) struct PackageDraft {
    pub instance: InstanceDraft,
    /// It is in the image.
    pub is_shelved: bool,
    /// It has no table.
    pub has_defaults: bool,
}

/// Where one goes on that moves.
#[derive(Clone)]
pub(crate) enum DestinationDraft {
    Kernel,
    With(Located<String>),
}

pub(crate) struct InstanceDraft {
    pub name: Located<String>,
    /// What messages call it, and its table.
    pub noun: &'static str,
    /// Its table's name, which copies have in common.
    pub table: String,
    pub component: Located<String>,
    /// `None`: the default, which whoever loads the description can change.
    pub placement: Option<Located<Placement>>,
    /// Whose domain it is in, if not one of its own.
    pub shares: Option<Shares>,
    /// Where it goes on that moves while it runs.
    pub moves: Option<Located<DestinationDraft>>,
    pub accepts_unsafe_code: Located<bool>,
    /// `None`: the default, which depends on the role.
    pub priority: Option<Located<u8>>,
    /// `None`: its priority.
    pub recovery_priority: Option<Located<u8>>,
    pub memory: Located<u64>,
    pub dma: Located<u64>,
    pub heap: Located<u64>,
    pub heap_limit: Located<u64>,
    pub log: Option<u8>,
    pub log_size: Located<u64>,
    pub stack: Located<u64>,
    pub stack_limit: Located<u64>,
    pub stacks: Option<StacksDraft>,
    pub threads: Located<u32>,
    pub share: Located<u32>,
    pub cpu: Option<Located<Cpu>>,
    pub processes: Option<Located<Processes>>,
    pub semaphores: Located<u32>,
    pub locks: Located<u32>,
    pub children: Located<u32>,
    pub portals: Located<u32>,
    pub names: Located<u32>,
    pub sections_at_run_time: Located<u32>,
    pub restart: Option<Located<Restart>>,
    pub essential: Option<Located<bool>>,
    /// It is started by the first call into it.
    pub on_demand: Option<Located<bool>>,
    pub idle_stop: Option<Located<u64>>,
    /// Whether callers wait until it serves.
    pub callers_wait: Option<Located<bool>>,
    pub trusted: Located<bool>,
    /// Who stands between it and its clients.
    pub wrapped_by: Option<Located<String>>,
    pub argument: String,
    pub arguments: Vec<(Located<String>, Located<Given>)>,
    pub float_at_start: Option<Located<bool>>,
    pub locked: Located<bool>,
    pub stack_group: Option<Located<String>>,
    pub devices: Vec<Asked>,
    pub sections: Vec<(Located<String>, Located<Access>)>,
    /// Of a package: the instance that it replaces.
    pub replaces: Option<Located<String>>,
    /// Of a package: its range of addresses that has a pager.
    pub paged: Option<Paged>,
    pub imports: Vec<ImportDraft>,
    pub exports: Vec<ExportDraft>,
}

/// What an instance says of those with which it has one domain.
#[derive(Clone)]
pub(crate) enum Shares {
    /// `placement = { with = "NAME" }`: it is in that instance's.
    With(Located<String>),
    /// `fate = "NAME"`: in the kernel domain, with all that say so.
    Fate(Located<String>),
}

pub(crate) struct StacksDraft {
    pub place: Place,
    pub count: Located<u32>,
    pub size: Located<u64>,
    pub limit: Located<u64>,
    pub per_client: Option<Located<u32>>,
}

/// A section, what it begins with, and whose export provides it with pages.
pub(crate) struct SectionDraft {
    pub name: Located<String>,
    /// `None`: that of its content.
    pub size: Option<Located<u64>>,
    /// As it is written.
    pub content: Option<Located<String>>,
    pub pager: Option<(Located<String>, Located<String>)>,
}

pub(crate) struct ImportDraft {
    pub import: Located<String>,
    pub instance: Located<String>,
    pub export: Located<String>,
    pub stack: Option<Located<StackMode>>,
    pub state: Option<Located<StateMode>>,
    pub windows: Option<Located<String>>,
}

pub(crate) struct ExportDraft {
    pub name: Located<String>,
    pub open: Option<Located<Vec<Located<String>>>>,
    pub trust: Vec<Located<String>>,
    pub longest_execution: Option<Located<u64>>,
    pub longest_call: Option<Located<u64>>,
    pub cancelled_for: Option<Located<u64>>,
}

/// Reads a system description; everything that is wrong is reported, and then there is no draft.
pub(crate) fn read(tree: &Node, report: &mut Report) -> Option<Draft> {
    let mut top = Table::top(tree, "the system description");
    let system = top.require("system", "[system]", report);
    let instances = top.require("instance", "[instance.scheduler]", report);
    let packages = top.take("package");
    let sections = top.take("section");
    let stack_groups = top.take("stack_group");
    // What these say has been put in, and they are not there any more.
    let named = [("variables", false), ("template", true)];
    for (key, is_instance) in named {
        let Some(value) = top.take(key) else { continue };
        let Some(mut table) = value.table(format!("`{key}`"), report) else { continue };
        for value in table.take_all() {
            if is_instance {
                instance::read_instance(&value, "instance", report);
            } else {
                value.given(report);
            }
        }
    }
    top.finish(report);

    let instances = instances.and_then(|value| {
        let mut table = value.table("`instance`", report)?;
        let read = |value: &Value<'_>, report: &mut Report| {
            instance::read_instance(value, "instance", report)
        };
        all(table.take_all(), report, read)
    });
    let packages = match packages {
        Some(value) => value
            .table("`package`", report)
            .and_then(|mut table| all(table.take_all(), report, package::read_package)),
        None => Some(Vec::new()),
    };
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
    let (name, board, roles, profile, counting, threads, cancelled_for, log, shelf) =
        read_system(&system?, report)?;
    let packages = package::shelve(packages?, &shelf, report);
    Some(Draft {
        name,
        board,
        roles,
        profile,
        counting,
        threads,
        cancelled_for,
        log,
        instances: instances?,
        packages,
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
    Profile,
    bool,
    Located<u32>,
    u64,
    u8,
    Vec<Located<String>>,
);

/// The name of a file in a folder of its own, or with a `/` in it the path of another.
fn read_path(value: &Value<'_>, example: &str, report: &mut Report) -> Option<Located<String>> {
    match value.as_text() {
        Some(text) if text.contains('/') && is_path(text) => value.text(example, report),
        _ => value.name(NameKind::Plain, example, report),
    }
}

fn read_system(value: &Value<'_>, report: &mut Report) -> Option<SystemTable> {
    let mut table = value.table("`[system]`", report)?;
    // Read already, when the files were put together.
    let (extends, without) = (table.take("extends"), table.take("without"));
    extends.and_then(|value| extend::paths(&value, report));
    without.and_then(|value| value.texts("[\"console\"]", report));
    let name = table
        .require("name", "name = \"demo\"", report)
        .and_then(|value| value.name(NameKind::Plain, "demo", report));
    let board = table
        .require("board", "board = \"qemu-virt\"", report)
        .and_then(|value| read_path(&value, "qemu-virt", report));
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
    let profiles = Profile::ALL.map(|profile| (profile.name(), profile));
    let profile = match table.take("profile") {
        Some(value) => value.choice(&profiles, report).map(|profile| *profile),
        None => Some(Profile::default()),
    };
    let counting = match table.take("counting") {
        Some(value) => value.boolean(report).map(|counting| counting.value),
        None => Some(false),
    };
    let most = THREADS_MAXIMUM as u64;
    let threads = number(&mut table, "threads", 1..=most, THREADS_DEFAULT, report);
    let cancelled_for = match table.take("cancelled_for") {
        Some(value) => value.duration(CANCELLED, report).map(|time| *time),
        None => Some(CANCELLED_DEFAULT),
    };
    let log = log_level(&mut table, report);
    let shelf = match table.take("shelf") {
        Some(value) => value.texts("[\"greeter\"]", report),
        None => Some(Vec::new()),
    };
    table.finish(report);
    let log = log?.unwrap_or(LOG_DEFAULT);
    Some((name?, board?, roles?, profile?, counting?, threads?, cancelled_for?, log, shelf?))
}

/// The number of the level that the key `log` says, if it is there.
fn log_level(table: &mut Table<'_>, report: &mut Report) -> Option<Option<u8>> {
    let Some(value) = table.take("log") else { return Some(None) };
    let levels: Vec<(&str, u8)> = LEVELS.into_iter().zip(0..).collect();
    value.choice(&levels, report).map(|level| Some(*level))
}

fn number(
    table: &mut Table<'_>,
    key: &'static str,
    range: std::ops::RangeInclusive<u64>,
    default: u64,
    report: &mut Report,
) -> Option<Located<u32>> {
    match table.take(key) {
        Some(value) => value.integer(range, report).map(|number| number.map(|n| n as u32)),
        None => Some(Located::new(default as u32, table.place().clone())),
    }
}

fn read_section(value: &Value<'_>, report: &mut Report) -> Option<SectionDraft> {
    let name = value.key_name(NameKind::Plain, "a section", "log", report);
    let mut table = value.table(format!("the section `{}`", value.name), report)?;
    copies(&mut table, report);
    let content = match table.take("content") {
        Some(value) => value.text("files/greeting.txt", report).map(Some),
        None => Some(None),
    };
    let size = match content {
        Some(None) => table.require("size", "size = \"64K\"", report),
        _ => table.take("size"),
    };
    let size = match size {
        Some(value) => value.size(PAGE_SIZE..=SECTION_MAXIMUM, PAGE_SIZE, report).map(Some),
        None => Some(None),
    };
    let pager = match table.take("pager") {
        Some(value) => connections::read_target(&value, report).map(Some),
        None => Some(None),
    };
    table.finish(report);
    let (content, size) = (content?, size?);
    // A missing size has been reported.
    if content.is_none() && size.is_none() {
        return None;
    }
    Some(SectionDraft { name: name?, size, content, pager: pager? })
}

/// How many copies there are: they have been made, and the key is not there any more.
fn copies(table: &mut Table<'_>, report: &mut Report) {
    table.take("count").and_then(|value| value.integer(COUNT, report));
}

fn read_stack_group(value: &Value<'_>, report: &mut Report) -> Option<Located<String>> {
    let name = value.key_name(NameKind::Plain, "a stack group", "fast", report);
    let table = value.table(format!("the stack group `{}`", value.name), report)?;
    table.finish(report);
    name
}
