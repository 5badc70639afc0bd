//! Grants as text, for people.

use crate::memory::Memory;
use cairn::text::Line;
use cairn::{Error, InstanceId, time};
use cairn_abi::descriptor::name_text;
use cairn_portals::blocks::Kind;
use cairn_portals::machine::Machine;
use cairn_portals::manager::Manager;
use cairn_portals::manager::grants::Given;
use core::fmt::{Result, Write};

/// A grant, described.
pub type Text = Line<256>;

/// The next grant that an instance made, from this number on.
pub fn given(
    manager: &Manager,
    memory: &Memory,
    instance: InstanceId,
    from: u64,
) -> core::result::Result<(usize, Text), Error> {
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    let (given, number) = manager.given(memory, instance, from).ok_or(Error::NotFound)?;
    let mut line = Text::new();
    // What does not fit is left out.
    let _ = describe(manager, memory, &given, &mut line);
    Ok((number, line))
}

fn describe(manager: &Manager, memory: &Memory, given: &Given<'_>, line: &mut Text) -> Result {
    let instance = |number: InstanceId| {
        manager.instances().get(number).map_or("?", |instance| name_text(&instance.name))
    };
    let state = if given.is_accepted { "accepted" } else { "offered" };
    write!(line, "{} {state} ", instance(given.receiver))?;
    let export = match given.kind {
        Kind::Export(number) | Kind::Object(number, _) => memory.layout().export(number as usize),
        _ => Err(Error::NotFound),
    };
    match (given.kind, export) {
        (Kind::Registration(number), _) => {
            let registration = manager.registration(number);
            line.write_str(registration.map_or("(name-taken-back)", |found| found.name()))?;
        }
        (kind, Ok(export)) => {
            write!(line, "{}.{}", instance(given.server), name_text(&export.name))?;
            if let Kind::Object(_, control) = kind {
                write!(line, ":{control:#x}")?;
            }
        }
        (Kind::Semaphore(_), _) => line.write_str("(semaphore)")?,
        (Kind::Lock(_), _) => line.write_str("(lock)")?,
        _ => line.write_str("?")?,
    }
    let methods = export.map_or(&[][..], |export| memory.layout().methods_of(export));
    line.write_char(' ')?;
    if given.rights.methods == (1 << given.count) - 1 {
        line.write_str("all")?;
    } else {
        let given = (0..given.count).filter(|index| given.rights.methods >> index & 1 == 1);
        for (place, index) in given.enumerate() {
            line.write_str(if place > 0 { "," } else { "" })?;
            match methods.get(index) {
                Some(method) => line.write_str(name_text(&method.name))?,
                None => write!(line, "{index}")?,
            }
        }
    }
    match given.uses_left {
        Some(left) => write!(line, " {left}")?,
        None => line.write_str(" any")?,
    }
    let left = given.rights.until.checked_sub(time::now()).map(time::duration);
    match left {
        _ if given.rights.until == 0 => line.write_str(" any")?,
        Some(left) => write!(line, " {}ms", left.as_millis())?,
        None => line.write_str(" over")?,
    }
    write!(line, " {}", given.rights.passes)
}
