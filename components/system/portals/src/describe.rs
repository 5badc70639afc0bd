//! Portals as text, for people; counters of a counting build.

use crate::memory::Memory;
use cairn::text::Line;
use cairn::{DomainId, Error, InstanceId, environment};
use cairn_abi::address::{COUNTERS, PORTAL_CODE};
use cairn_abi::descriptor::{LETTERS_SIZE, name_text};
use cairn_abi::domain::{PORTAL_FIRST_IMPORT, PORTALS_MAXIMUM};
use cairn_abi::privileged::*;
use cairn_portal::invocation::Words;
use cairn_portal::literal::{LITERAL_COUNTER, LITERALS_SIZE};
use cairn_portals::blocks::Kind;
use cairn_portals::machine::{Layout, Machine};
use cairn_portals::make::COUNTERS_END;
use cairn_portals::manager::Manager;
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
        (PORTAL_FIRST_IMPORT..PORTALS_MAXIMUM).map(|index| memory.entry(instance.domain, index))
    });
    entries.filter_map(|code| counter(memory, code)).max().map_or(COUNTERS, |last| last + 8)
}

/// The next portal of a domain from `index` on.
pub fn describe(
    manager: &Manager,
    memory: &Memory,
    domain: DomainId,
    index: u64,
) -> Result<(usize, Text), Error> {
    manager.instances().in_domain(domain)?;
    // Below are what every domain has: return, its own number, its thread's, the time.
    let from = usize::try_from(index).unwrap_or(usize::MAX).max(PORTAL_SWITCH);
    let index = (from..PORTALS_MAXIMUM)
        .find(|index| memory.entry(domain, *index) != memory.layout().header.no_portal)
        .ok_or(Error::NotFound)?;
    let mut line = Text::new();
    // What does not fit is left out.
    let _ = describe_entry(manager, memory, &mut line, domain, index);
    if let Some(counter) = counter(memory, memory.entry(domain, index))
        && let Some(section) = environment::section("counters")
        && ((counter - COUNTERS) as usize) < section.size()
    {
        let _ = write!(line, " {}", section.load((counter - COUNTERS) as usize));
    }
    Ok((index, line))
}

/// Whether an instance is in a domain.
fn is_in(manager: &Manager, instance: InstanceId, domain: DomainId) -> bool {
    manager.instances().get(instance).is_ok_and(|instance| instance.domain == domain)
}

fn describe_entry(
    manager: &Manager,
    memory: &Memory,
    line: &mut Text,
    domain: DomainId,
    index: usize,
) -> core::fmt::Result {
    let layout = memory.layout();
    let instance = |number: InstanceId| {
        manager.instances().get(number).map_or("?", |instance| name_text(&instance.name))
    };
    let listed = layout
        .portals
        .iter()
        .find(|portal| portal.index as usize == index && is_in(manager, portal.client, domain));
    if let Some(portal) = listed {
        let Some(export) = layout.exports.get(portal.export as usize) else { return Ok(()) };
        let method = layout.methods_of(export).get(portal.method as usize);
        let length = portal.specification.iter().position(|byte| *byte == 0).unwrap_or(16);
        let specification = core::str::from_utf8(&portal.specification[..length]).unwrap_or("?");
        let method = method.map_or("?", |method| name_text(&method.name));
        return write!(
            line,
            "{specification} {}.{} {method}",
            instance(export.instance),
            name_text(&export.name)
        );
    }
    if index < PORTAL_FIRST_IMPORT {
        return write!(line, "short-circuit nucleus {}", privileged(index));
    }
    let holders = manager.instances().all().filter(|instance| instance.domain == domain);
    let mut blocks = holders.map(|instance| manager.open_at(instance.number, index));
    let Some(block) = blocks.find_map(|block| block) else {
        return describe_interrupt((manager, layout), line, domain, index);
    };
    let method = index - block.first();
    let stack = if block.server == manager.scheduler() { "rp" } else { "np" };
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
    match block.kind {
        Kind::Export(export) => described(line, export),
        Kind::Object(export, control) => {
            described(line, export)?;
            write!(line, " object {control:#x}")
        }
        Kind::Semaphore(number) => {
            described(line, semaphores)?;
            write!(line, " semaphore {number}")
        }
        Kind::Lock(number) => {
            described(line, locks)?;
            write!(line, " lock {number}")
        }
        Kind::Registration(number) => match manager.registration(number) {
            Some(registration) => {
                write!(
                    line,
                    "np{} {} {method}",
                    letters(&registration.methods[method].0),
                    registration.name()
                )
            }
            None => {
                write!(line, "{} (name taken back) {method}", instance(block.server))
            }
        },
    }
}

/// A driver's portals: behind its imports, for each of its interrupts a semaphore's and the
/// dispatcher's acknowledgement.
fn describe_interrupt(
    (manager, layout): (&Manager, &Layout),
    line: &mut Text,
    domain: DomainId,
    index: usize,
) -> core::fmt::Result {
    let imports =
        layout.portals.iter().filter(|portal| is_in(manager, portal.client, domain)).count();
    let offset = index - PORTAL_FIRST_IMPORT - imports.min(index - PORTAL_FIRST_IMPORT);
    let served = |interface: &str| {
        layout.exports.iter().find(|export| name_text(&export.interface) == interface)
    };
    let semaphore = served("Semaphore");
    let semaphore_methods = semaphore.map_or(&[][..], |export| layout.methods_of(export));
    let size = semaphore_methods.len() + 1;
    let mut interrupts =
        layout.interrupts.iter().filter(|one| is_in(manager, one.instance, domain));
    let Some(interrupt) = interrupts.nth(offset / size) else { return line.write_str("?") };
    let acknowledge = served("Interrupt");
    let (export, method) = match semaphore_methods.get(offset % size) {
        Some(method) => (semaphore, Some(method)),
        None => (acknowledge, acknowledge.and_then(|export| layout.methods_of(export).first())),
    };
    let (Some(export), Some(method)) = (export, method) else { return line.write_str("?") };
    let server =
        manager.instances().get(export.instance).map_or("?", |server| name_text(&server.name));
    write!(
        line,
        "rp{} {server}.{} {} interrupt {}",
        letters(&method.letters),
        name_text(&export.name),
        name_text(&method.name),
        interrupt.source
    )
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
        PORTAL_RESET => "reset",
        PORTAL_DIVERT => "divert",
        PORTAL_REFUSE => "refuse",
        _ => "?",
    }
}

fn letters(letters: &[u8; LETTERS_SIZE]) -> &str {
    let length = letters.iter().position(|letter| *letter == 0).unwrap_or(LETTERS_SIZE);
    core::str::from_utf8(&letters[..length]).unwrap_or("?")
}
