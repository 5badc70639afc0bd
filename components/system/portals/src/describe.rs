//! Portals as text, for people; counters of a counting build.

use crate::memory::Memory;
use cairn::text::Line;
use cairn::{Error, InstanceId, environment};
use cairn_abi::address::{COUNTERS, PORTAL_CODE};
use cairn_abi::descriptor::{LETTERS_SIZE, name_text};
use cairn_abi::domain::{PORTAL_FIRST_IMPORT, PORTALS_DESCRIBED};
use cairn_abi::privileged::*;
use cairn_abi::record::{Instance, Interrupt};
use cairn_portal::invocation::Words;
use cairn_portal::literal::{LITERAL_COUNTER, LITERALS_SIZE};
use cairn_portals::blocks::Kind;
use cairn_portals::machine::{Layout, Machine};
use cairn_portals::make::COUNTERS_END;
use cairn_portals::manager::Manager;
use cairn_portals::wraps::FAULTS_FIRST;
use core::fmt::Write;

/// A portal, described.
pub type Text = Line<128>;

/// Address of the counter of the portal with this code, in a counting build.
fn counter(memory: &Memory, code: u64) -> Option<u64> {
    code.checked_sub(PORTAL_CODE).filter(|offset| *offset >= LITERALS_SIZE as u64)?;
    let counter = memory.load(code.wrapping_add_signed(LITERAL_COUNTER))?;
    (memory.layout().header.counting != 0 && (COUNTERS..COUNTERS_END).contains(&counter))
        .then_some(counter)
}

/// The first counter that no portal of the layout has.
pub fn counters_used(memory: &Memory) -> u64 {
    if memory.layout().header.counting == 0 {
        return COUNTERS;
    }
    let entries = memory.layout().instances.iter().flat_map(|instance| {
        (PORTAL_FIRST_IMPORT..PORTALS_DESCRIBED).map(|index| memory.entry(instance.domain, index))
    });
    entries.filter_map(|code| counter(memory, code)).max().map_or(COUNTERS, |last| last + 8)
}

/// The next portal of an instance from `index` on. What else is in its domain's table is another's of the domain.
pub fn describe(
    manager: &Manager,
    memory: &Memory,
    instance: InstanceId,
    index: u64,
) -> Result<(usize, Text), Error> {
    let record = manager.instances().get(instance)?;
    // Below are what every domain has: return, its own number, its thread's, the time.
    let from = usize::try_from(index).unwrap_or(usize::MAX).max(PORTAL_SWITCH);
    for index in from..memory.layout().tables().entries() {
        let code = memory.entry(record.domain, index);
        let mut line = Text::new();
        // What an interposer calls by is what its client has.
        let behind = manager.wrap_behind(instance, index);
        let (client, at) = match behind {
            Some(wrap) => {
                let at = usize::from(wrap.first) + index - usize::from(wrap.inner);
                (manager.instances().get(wrap.client)?, at)
            }
            None => (record, index),
        };
        // What does not fit is left out.
        if code == memory.layout().header.no_portal
            || index == PORTAL_KERNEL_CALL
            || describe_entry(manager, memory, &mut line, client, at).is_none()
        {
            continue;
        }
        if behind.is_some() {
            let _ = write!(line, " for {}", name_text(&client.name));
        } else if let Some(wrap) = manager.wrap_at(instance, index)
            && let Ok(interposer) = manager.instances().get(wrap.rule.interposer)
        {
            let _ = write!(line, " by {}", name_text(&interposer.name));
        }
        if let Some(counter) = counter(memory, code)
            && let Some(section) = environment::section("counters")
            && ((counter - COUNTERS) as usize) < section.size()
        {
            let _ = write!(line, " {}", section.load((counter - COUNTERS) as usize));
        }
        return Ok((index, line));
    }
    Err(Error::NotFound)
}

/// `None`: what is there is not this instance's.
fn describe_entry(
    manager: &Manager,
    memory: &Memory,
    line: &mut Text,
    client: &Instance,
    index: usize,
) -> Option<core::fmt::Result> {
    let layout = memory.layout();
    let instance = |number: InstanceId| {
        manager.instances().get(number).map_or("?", |instance| name_text(&instance.name))
    };
    if let Some(number) = index.checked_sub(FAULTS_FIRST) {
        let export = layout.export(layout.pager(layout.ranges.get(number)?.pager)?).ok()?;
        let method = layout.methods_of(export).first()?;
        let (server, letters) = (instance(export.instance), letters(&method.letters));
        let (export, method) = (name_text(&export.name), name_text(&method.name));
        return Some(write!(line, "np{letters} {server}.{export} {method}"));
    }
    let code = manager.original(memory, client.number, index);
    if let Some(connection) = layout.connection(client.number, index)
        && connection.is_code(code)
    {
        let export = layout.exports.get(connection.export as usize)?;
        let method = layout.methods_of(export).get(connection.method as usize);
        let method = method.map_or("?", |method| name_text(&method.name));
        let length = connection.specification.iter().position(|byte| *byte == 0).unwrap_or(16);
        let specification = core::str::from_utf8(&connection.specification[..length]);
        return Some(write!(
            line,
            "{} {}.{} {method}",
            specification.unwrap_or("?"),
            instance(export.instance),
            name_text(&export.name)
        ));
    }
    if index < PORTAL_FIRST_IMPORT {
        let (whose, what) = match code < PORTAL_CODE {
            true => ("nucleus", privileged(index)),
            false => ("process", of_processes(index)),
        };
        return Some(write!(line, "short-circuit {whose} {what}"));
    }
    let index = manager.exchanged(client.number, index).unwrap_or(index);
    let Some(block) = manager.open_at(client.number, index) else {
        return describe_interrupt((manager, layout), line, client.number, index);
    };
    let method = index - block.first();
    let is_in_kernel = manager.instances().get(block.server).is_ok_and(|one| one.in_kernel != 0);
    let stack = match (block.server == manager.scheduler(), is_in_kernel, client.in_kernel != 0) {
        (true, _, false) => "rp",
        (true, _, true) => "rk",
        (false, false, false) => "np",
        (false, true, false) => "kp",
        (false, false, true) => "nk",
        (false, true, true) => "kk",
    };
    let (semaphores, locks) = manager.synchronisation_exports();
    let described = |line: &mut Text, export: u32| {
        let Some(export) = layout.exports.get(export as usize) else {
            return line.write_str("?");
        };
        let Some(method) = layout.methods_of(export).get(method) else {
            return line.write_str("?");
        };
        write!(
            line,
            "{stack}{} {}.{} {}",
            letters(&method.letters),
            instance(export.instance),
            name_text(&export.name),
            name_text(&method.name)
        )
    };
    Some(match block.kind {
        Kind::Export(export) => described(line, export),
        Kind::Object(export, control) => {
            described(line, export).and_then(|()| write!(line, " object {control:#x}"))
        }
        Kind::Semaphore(number) => {
            described(line, semaphores).and_then(|()| write!(line, " semaphore {number}"))
        }
        Kind::Lock(number) => described(line, locks).and_then(|()| write!(line, " lock {number}")),
        Kind::Registration(number) => match manager.registration(number) {
            Some(registration) => write!(
                line,
                "{stack}{} {} {method}",
                letters(&registration.methods[method].0),
                registration.name()
            ),
            None => write!(line, "{} (name taken back) {method}", instance(block.server)),
        },
    })
}

/// A driver's portals: for each of its interrupts a semaphore's and the
/// dispatcher's acknowledgement.
fn describe_interrupt(
    (manager, layout): (&Manager, &Layout),
    line: &mut Text,
    client: InstanceId,
    index: usize,
) -> Option<core::fmt::Result> {
    let served = |interface: &str| {
        layout.exports.iter().find(|export| name_text(&export.interface) == interface)
    };
    let semaphore = served("Semaphore")?;
    let semaphore_methods = layout.methods_of(semaphore);
    let size = semaphore_methods.len() + 1;
    let of_interrupt = |one: &&Interrupt| {
        let first = usize::from(one.portal);
        one.instance == client && (first..first + size).contains(&index)
    };
    let interrupt = layout.interrupts.iter().find(of_interrupt)?;
    let (export, method) = match semaphore_methods.get(index - usize::from(interrupt.portal)) {
        Some(method) => (semaphore, method),
        None => {
            let acknowledge = served("Interrupt")?;
            (acknowledge, layout.methods_of(acknowledge).first()?)
        }
    };
    let server =
        manager.instances().get(export.instance).map_or("?", |server| name_text(&server.name));
    Some(write!(
        line,
        "rp{} {server}.{} {} interrupt {}",
        letters(&method.letters),
        name_text(&export.name),
        name_text(&method.name),
        interrupt.source
    ))
}

/// What a privileged portal does.
const fn privileged(index: usize) -> &'static str {
    match index {
        PORTAL_SWITCH => "switch",
        PORTAL_SET_UP_THREAD => "set_up_thread",
        PORTAL_SET_TIMER => "set_timer",
        PORTAL_UNWIND => "unwind",
        PORTAL_SET_ALIVE => "set_alive",
        PORTAL_FENCE_TRANSLATION => "fence_translation",
        PORTAL_FENCE_INSTRUCTION => "fence_instruction",
        PORTAL_WAIT => "wait",
        PORTAL_FIRMWARE => "firmware",
        PORTAL_DIVERT => "divert",
        PORTAL_REFUSE => "refuse",
        _ => "?",
    }
}

/// What a portal of a server of processes does at such an index.
const fn of_processes(index: usize) -> &'static str {
    match index {
        PORTAL_PROCESS_BEGIN => "begin",
        PORTAL_PROCESS_SELECT => "select",
        PORTAL_PROCESS_MAP => "map",
        PORTAL_PROCESS_MAP_SEVERAL => "map several",
        PORTAL_PROCESS_LINK => "link",
        PORTAL_PROCESS_CLEAR => "clear",
        PORTAL_PROCESS_FENCE => "fence",
        PORTAL_PROCESS_INTERRUPT => "interrupt",
        PORTAL_PROCESS_FLOAT => "float",
        _ => "?",
    }
}

fn letters(letters: &[u8; LETTERS_SIZE]) -> &str {
    let length = letters.iter().position(|letter| *letter == 0).unwrap_or(LETTERS_SIZE);
    core::str::from_utf8(&letters[..length]).unwrap_or("?")
}
