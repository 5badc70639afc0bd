//! The table of an instance, as written.

use super::connections::{read_export, read_import};
use super::package;
use super::processes::read_processes;
use super::{
    DestinationDraft, InstanceDraft, LOG_SIZE_DEFAULT, MEMORY_MAXIMUM, STACK_DEFAULT,
    STACKS_MAXIMUM, Shares, StacksDraft, all, copies, log_level, number,
};
use crate::arguments;
use crate::devices::Asked;
use crate::model::{Access, Cpu, Placement, Restart};
use crate::names::{NameKind, is_path, nearest};
use crate::place::Located;
use crate::report::{Error, Report};
use crate::table::{Table, Value, article};
use crate::units::show_duration;
use cairn_abi::address::{ACTIVATION_STACK_MAXIMUM, LOG_MAXIMUM, PAGE_SIZE};
use cairn_abi::device::DMA_MAXIMUM;
use cairn_abi::domain::PORTALS_ADDED;
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::memory::SECTIONS_MAXIMUM;
use cairn_abi::record::{IDLE_STOP, NAMES_MAXIMUM};
use cairn_abi::semaphore::{LOCKS_MAXIMUM, SEMAPHORES_MAXIMUM};
use cairn_abi::startup::ARGUMENT_SIZE;
use cairn_abi::thread::THREADS_MAXIMUM;

/// Most components that an instance has loaded at a time: numbers of instances are below their maximum, and 0 is none.
const CHILDREN_MAXIMUM: u64 = INSTANCES_MAXIMUM as u64 - 1;

/// Processor budgets, in nanoseconds, and the period of one that is a part of the time.
const CPU_PERIOD: std::ops::RangeInclusive<u64> = 1_000_000..=10_000_000_000;
const CPU_BUDGET: std::ops::RangeInclusive<u64> = 10_000..=10_000_000_000;
const CPU_PERIOD_DEFAULT: u64 = 10_000_000;

/// Reads the table of an instance, or of what messages call otherwise.
pub(super) fn read_instance(
    value: &Value<'_>,
    noun: &'static str,
    report: &mut Report,
) -> Option<InstanceDraft> {
    let what = format!("{} {noun}", article(noun));
    let name = value.key_name(NameKind::Plain, &what, "console", report);
    let mut table = value.table(format!("the {noun} `{}`", value.name), report)?;
    let component = table
        .require("component", &format!("component = \"{}\"", value.name), report)
        .and_then(|value| read_component(&value, report));
    copies(&mut table, report);
    // What it says has been put in, and it is not there any more.
    table.take("template").and_then(|value| value.name(NameKind::Plain, "sensor", report));
    let placement = match table.take("placement") {
        Some(value) => read_placement(&value, report).map(|(place, with)| (Some(place), with)),
        None => Some((None, None)),
    };
    let fate = match table.take("fate") {
        Some(value) => value.name(NameKind::Plain, "drivers", report).map(Some),
        None => Some(None),
    };
    let moves = match table.take("moves") {
        Some(value) => read_moves(&value, report).map(Some),
        None => Some(None),
    };
    let accepts_unsafe_code = match table.take("trust") {
        Some(value) => value.choice(&[("unsafe-code", true)], report),
        None => Some(Located::new(false, table.place().clone())),
    };
    let priority = priority_of(&mut table, "priority", report);
    let recovery_priority = priority_of(&mut table, "recovery_priority", report);
    let memory = table
        .require("memory", "memory = \"256K\"", report)
        .and_then(|value| value.size(PAGE_SIZE..=MEMORY_MAXIMUM, PAGE_SIZE, report));
    let dma = size(&mut table, "dma", 0..=DMA_MAXIMUM, 0, report);
    let heap = size(&mut table, "heap", 0..=MEMORY_MAXIMUM, 0, report);
    let heap_limit = size(&mut table, "heap_limit", 0..=MEMORY_MAXIMUM, 0, report);
    let log = log_level(&mut table, report);
    let log_size = size(&mut table, "log_size", 0..=LOG_MAXIMUM, LOG_SIZE_DEFAULT, report);
    let stack =
        size(&mut table, "stack", PAGE_SIZE..=ACTIVATION_STACK_MAXIMUM, STACK_DEFAULT, report);
    let stack_limit = size(&mut table, "stack_limit", 0..=ACTIVATION_STACK_MAXIMUM, 0, report);
    let stacks = match table.take("stacks") {
        Some(value) => read_stacks(&value, report).map(Some),
        None => Some(None),
    };
    let threads = number(&mut table, "threads", 0..=THREADS_MAXIMUM as u64, 1, report);
    let share = number(&mut table, "share", 0..=100, 0, report);
    let cpu = match table.take("cpu") {
        Some(value) => read_cpu(&value, report).map(Some),
        None => Some(None),
    };
    let processes = match table.take("processes") {
        Some(value) => read_processes(&value, report).map(Some),
        None => Some(None),
    };
    let semaphores = number(&mut table, "semaphores", 0..=SEMAPHORES_MAXIMUM as u64, 0, report);
    // The heap takes one.
    let locks_default = 1 + u64::from(
        [&heap, &heap_limit].iter().any(|heap| heap.as_ref().is_some_and(|heap| **heap > 0)),
    );
    let locks = number(&mut table, "locks", 0..=LOCKS_MAXIMUM as u64, locks_default, report);
    let children = number(&mut table, "children", 0..=CHILDREN_MAXIMUM, 0, report);
    let portals = number(&mut table, "portals", 0..=PORTALS_ADDED as u64, 0, report);
    let names = number(&mut table, "names", 0..=NAMES_MAXIMUM as u64, 0, report);
    let most = 0..=SECTIONS_MAXIMUM as u64;
    let sections_at_run_time = number(&mut table, "sections_at_run_time", most, 0, report);
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
    let on_demand = match table.take("start") {
        Some(value) => value.choice(&[("at-boot", false), ("on-demand", true)], report).map(Some),
        None => Some(None),
    };
    let idle_stop = match table.take("idle_stop") {
        Some(value) => value.duration(IDLE_STOP, report).map(Some),
        None => Some(None),
    };
    let callers_wait = match table.take("before_ready") {
        Some(value) => value.choice(&[("error", false), ("wait", true)], report).map(Some),
        None => Some(None),
    };
    let float_at_start = match table.take("float") {
        Some(value) => value.choice(&[("first-use", false), ("start", true)], report).map(Some),
        None => Some(None),
    };
    let locked = match table.take("locked") {
        Some(value) => value.boolean(report),
        None => Some(Located::new(false, table.place().clone())),
    };
    let trusted = match table.take("trusted") {
        Some(value) => value.boolean(report),
        None => Some(Located::new(false, table.place().clone())),
    };
    let wrapped_by = match table.take("wrapped_by") {
        Some(value) => value.name(NameKind::Plain, "guard", report).map(Some),
        None => Some(None),
    };
    let argument = match table.take("argument") {
        Some(value) => read_argument(&value, report),
        None => Some(String::new()),
    };
    let arguments = match table.take("arguments") {
        Some(value) => value
            .table("`arguments`", report)
            .and_then(|mut table| all(table.take_all(), report, arguments::read)),
        None => Some(Vec::new()),
    };
    let stack_group = match table.take("stack_group") {
        Some(value) => value.name(NameKind::Plain, "fast", report).map(Some),
        None => Some(None),
    };
    let devices = match table.take("devices") {
        Some(value) => read_devices(&value, report),
        None => Some(Vec::new()),
    };
    let sections = match table.take("sections") {
        Some(value) => value
            .table("`sections`", report)
            .and_then(|mut table| all(table.take_all(), report, read_section_use)),
        None => Some(Vec::new()),
    };
    // What it has as that has been put in.
    let replaces = match (noun == package::PACKAGE).then(|| table.take("replaces")).flatten() {
        Some(value) => value.name(NameKind::Plain, "console", report).map(Some),
        None => Some(None),
    };
    let paged = match (noun == package::PACKAGE).then(|| table.take("paged")).flatten() {
        Some(value) => package::read_paged(&value, report).map(Some),
        None => Some(None),
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
    let (placement, with) = placement?;
    Some(InstanceDraft {
        shares: shares(placement.as_ref(), with, fate?, report)?,
        noun,
        table: value.table_name.to_owned(),
        name: name?,
        component: component?,
        placement,
        moves: moves?,
        accepts_unsafe_code: accepts_unsafe_code?,
        priority: priority?,
        recovery_priority: recovery_priority?,
        memory: memory?,
        dma: dma?,
        heap: heap?,
        heap_limit: heap_limit?,
        log: log?,
        log_size: log_size?,
        stack: stack?,
        stack_limit: stack_limit?,
        stacks: stacks?,
        threads: threads?,
        share: share?,
        cpu: cpu?,
        processes: processes?,
        semaphores: semaphores?,
        locks: locks?,
        children: children?,
        portals: portals?,
        names: names?,
        sections_at_run_time: sections_at_run_time?,
        restart: restart?,
        essential: essential?,
        on_demand: on_demand?,
        idle_stop: idle_stop?,
        callers_wait: callers_wait?,
        trusted: trusted?,
        wrapped_by: wrapped_by?,
        float_at_start: float_at_start?,
        locked: locked?,
        argument: argument?,
        arguments: arguments?,
        stack_group: stack_group?,
        devices: devices?,
        sections: sections?,
        replaces: replaces?,
        paged: paged?,
        imports: imports?,
        exports: exports?,
    })
}

/// `"10%"`, or the budget and its period.
fn read_cpu(value: &Value<'_>, report: &mut Report) -> Option<Located<Cpu>> {
    const EXAMPLE: &str = "cpu = \"10%\", or cpu = { period = \"10ms\", budget = \"1ms\" }";
    if let Some(mut table) = value.as_table("`cpu`") {
        let mut time = |key, range| {
            table.require(key, EXAMPLE, report).and_then(|value| value.duration(range, report))
        };
        let (period, budget) = (time("period", CPU_PERIOD), time("budget", CPU_BUDGET));
        table.finish(report);
        let cpu = Cpu { period: period?.value, budget: budget.clone()?.value };
        if cpu.budget > cpu.period {
            report.push(Error::new(
                &budget?.place,
                "the budget is longer than its period",
                format!("expected at most {}", show_duration(cpu.period)),
                "write less, or remove `cpu`: without it there is no limit",
            ));
            return None;
        }
        return Some(Located::new(cpu, value.place()));
    }
    if value.as_text().is_none() {
        value.expected("a part of the time in percent, or a table", EXAMPLE, report);
        return None;
    }
    let text = value.text("10%", report)?;
    let percent =
        text.strip_suffix('%').filter(|digits| digits.bytes().all(|one| one.is_ascii_digit()));
    match percent
        .and_then(|digits| digits.parse::<u64>().ok())
        .filter(|part| (1..=100).contains(part))
    {
        Some(part) => Some(Located::new(
            Cpu { period: CPU_PERIOD_DEFAULT, budget: CPU_PERIOD_DEFAULT / 100 * part },
            text.place,
        )),
        None => {
            value.invalid("expected 1% to 100%", format!("write {EXAMPLE}"), report);
            None
        }
    }
}

fn priority_of(
    table: &mut Table<'_>,
    key: &'static str,
    report: &mut Report,
) -> Option<Option<Located<u8>>> {
    match table.take(key) {
        Some(value) => {
            value.integer(0..=255, report).map(|priority| Some(priority.map(|n| n as u8)))
        }
        None => Some(None),
    }
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
    if is_path(&text) {
        return Some(text);
    }
    report.push(Error::new(
        &text.place,
        "bad value for `component`",
        "expected the name of a folder in `components/*/`, or a path below the repository's root",
        "write for example \"console\" or \"examples/hello\"",
    ));
    None
}

/// What can be written for a placement.
const PLACEMENTS: &str = "\"domain\", \"kernel\" or { with = \"NAME\" }";

/// Where it runs, and with whom if the description names one.
fn read_placement(
    value: &Value<'_>,
    report: &mut Report,
) -> Option<(Located<Placement>, Option<Located<String>>)> {
    if let Some(mut table) = value.as_table("`placement`") {
        let with = table.require("with", "placement = { with = \"console\" }", report);
        table.finish(report);
        let with = with?.text("console", report)?;
        return Some((Located::new(Placement::Domain, value.place()), Some(with)));
    }
    if value.as_text().is_none() {
        value.expected("a string or a table", "placement = \"domain\"", report);
        return None;
    }
    let text = value.text("domain", report)?;
    let placement = match text.as_str() {
        "domain" => Placement::Domain,
        "kernel" => Placement::Kernel,
        "extension" => {
            report.push(Error::new(
                &text.place,
                "this placement is not possible yet",
                format!("expected {PLACEMENTS}"),
                "place it in a protection domain of its own: placement = \"domain\"",
            ));
            return None;
        }
        other => {
            let help = match nearest(other, ["domain", "kernel"]) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => {
                    "to be in the domain of another instance, write { with = \"NAME\" }".to_owned()
                }
            };
            value.invalid(format!("expected {PLACEMENTS}"), help, report);
            return None;
        }
    };
    Some((Located::new(placement, text.place), None))
}

/// Where it moves: there is one place beside its own.
fn read_moves(value: &Value<'_>, report: &mut Report) -> Option<Located<DestinationDraft>> {
    let places = value.array("[\"kernel\"]", report)?;
    let read = places.iter().map(|place| read_destination(place, report));
    let read: Option<Vec<_>> = read.collect();
    match <[_; 1]>::try_from(read?) {
        Ok([destination]) => Some(Located::new(destination, value.place())),
        Err(_) => {
            let expected =
                "expected one place beside its own, [\"kernel\"] or [{ with = \"NAME\" }]";
            value.invalid(expected, "write one of them, or remove the key", report);
            None
        }
    }
}

fn read_destination(value: &Value<'_>, report: &mut Report) -> Option<DestinationDraft> {
    if let Some(mut table) = value.as_table("`moves`") {
        let with = table.require("with", "moves = [{ with = \"console\" }]", report);
        table.finish(report);
        return with?.text("console", report).map(DestinationDraft::With);
    }
    if value.as_text().is_none() {
        value.expected("a string or a table", "moves = [\"kernel\"]", report);
        return None;
    }
    let text = value.text("kernel", report)?;
    if *text == "kernel" {
        return Some(DestinationDraft::Kernel);
    }
    let help = match nearest(&text, ["kernel"]) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => "to be in the page table of another instance, write { with = \"NAME\" }".to_owned(),
    };
    value.invalid("expected \"kernel\" or { with = \"NAME\" }", help, report);
    None
}

/// With whom it has one domain.
fn shares(
    placement: Option<&Located<Placement>>,
    with: Option<Located<String>>,
    fate: Option<Located<String>>,
    report: &mut Report,
) -> Option<Option<Shares>> {
    match fate {
        None => Some(with.map(Shares::With)),
        Some(fate) if placement.is_some_and(|place| **place == Placement::Kernel) => {
            Some(Some(Shares::Fate(fate)))
        }
        Some(fate) => {
            report.push(Error::new(
                &fate.place,
                "only in the kernel domain a `fate` is chosen",
                "expected `placement = \"kernel\"`",
                "write placement = \"kernel\" too, or remove it: in user mode those of one protection domain have one fate: placement = { with = \"NAME\" }",
            ));
            None
        }
    }
}

fn read_stacks(value: &Value<'_>, report: &mut Report) -> Option<StacksDraft> {
    let mut table = value.table("`stacks`", report)?;
    let count = table
        .require("count", "stacks = { count = 4, size = \"16K\" }", report)
        .and_then(|value| value.integer(0..=STACKS_MAXIMUM, report));
    let stack =
        size(&mut table, "size", PAGE_SIZE..=ACTIVATION_STACK_MAXIMUM, STACK_DEFAULT, report);
    let limit = size(&mut table, "limit", 0..=ACTIVATION_STACK_MAXIMUM, 0, report);
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
        limit: limit?,
        per_client: per_client?,
    })
}

fn read_argument(value: &Value<'_>, report: &mut Report) -> Option<String> {
    let text = value.text("text", report)?;
    if text.len() > ARGUMENT_SIZE {
        report.push(Error::new(
            &text.place,
            "the argument is too long",
            format!("expected at most {ARGUMENT_SIZE} bytes, found {}", text.len()),
            "shorten it, or hand larger data over in a section",
        ));
        return None;
    }
    Some(text.value)
}

/// `["serial0"]`, or `{ port = "serial0" }` where the component calls it otherwise.
fn read_devices(value: &Value<'_>, report: &mut Report) -> Option<Vec<Asked>> {
    if let Some(mut table) = value.as_table("`devices`") {
        return all(table.take_all(), report, |value, report| {
            let called = value.key_name(NameKind::Plain, "a device", "port", report);
            let device = value.text("serial0", report)?;
            Some((called?.value, device))
        });
    }
    let devices = value.texts("[\"serial0\"]", report)?;
    let called = |device: &str| device.strip_suffix('?').unwrap_or(device).to_owned();
    Some(devices.into_iter().map(|device| (called(&device), device)).collect())
}

fn read_section_use(
    value: &Value<'_>,
    report: &mut Report,
) -> Option<(Located<String>, Located<Access>)> {
    let access =
        value.choice(&[("read", Access::Read), ("read-write", Access::ReadWrite)], report)?;
    Some((Located::new(value.name.clone(), value.key.clone()), access))
}
