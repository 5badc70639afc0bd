//! Who stands between whom, by name.

use super::{Server, locked};
use cairn::text::Line;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, InstanceId};
use cairn_abi::descriptor::{NAME_SIZE, name_text};
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_interfaces::Interposition;
use cairn_portals::blocks::NO_INSTANCE;
use cairn_portals::manager::Manager;
use cairn_portals::wraps::Rule;
use core::fmt::Write;

/// An instance by its name; nothing: all.
fn named(manager: &Manager, name: &[u8]) -> Result<InstanceId, Error> {
    match name {
        [] => Ok(NO_INSTANCE),
        _ => manager.instances().named(name).ok_or(Error::BadArgument),
    }
}

/// The three of a rule.
struct Names([[u8; NAME_SIZE]; 3], [usize; 3]);

impl Names {
    fn of(windows: [ReadWindow<'_>; 3]) -> Result<Names, Error> {
        let mut names = Names([[0; NAME_SIZE]; 3], [0; 3]);
        for (window, (name, length)) in windows.iter().zip(names.0.iter_mut().zip(&mut names.1)) {
            *length = window.copy(name).map_err(|_| Error::BadArgument)?.len();
        }
        Ok(names)
    }

    fn find(&self, manager: &Manager) -> Result<(InstanceId, InstanceId, InstanceId), Error> {
        let name = |place: usize| named(manager, &self.0[place][..self.1[place]]);
        Ok((name(0)?, name(1)?, name(2)?))
    }
}

/// Takes a rule back, and all wraps of it.
fn take_back(rule: (InstanceId, InstanceId, InstanceId)) -> Result<u64, Error> {
    locked(|manager, _| manager.remove_rule(rule.0, rule.1, rule.2))?;
    let mut portals = 0;
    loop {
        match locked(|manager, machine| manager.unwrap_step(machine, rule))? {
            0 => return Ok(portals),
            more => portals += more,
        }
    }
}

impl Interposition for Server {
    fn wrap(
        &self,
        client: ReadWindow<'_>,
        server: ReadWindow<'_>,
        interposer: ReadWindow<'_>,
        falls_back: bool,
    ) -> Result<u64, Error> {
        let names = Names::of([client, server, interposer])?;
        let rule = locked(|manager, machine| {
            let rule = names.find(manager)?;
            manager.add_rule(machine, rule, falls_back)
        })?;
        let clients = match rule.client {
            NO_INSTANCE => 1..INSTANCES_MAXIMUM as u16,
            InstanceId(one) => one..one + 1,
        };
        let mut portals = 0;
        for client in clients {
            match locked(|manager, machine| manager.wrap_client(machine, &rule, InstanceId(client)))
            {
                Ok(wrapped) => portals += wrapped,
                Err(error) => {
                    let Rule { client, server, interposer, .. } = rule;
                    take_back((client, server, interposer))?;
                    return Err(error);
                }
            }
        }
        Ok(portals)
    }

    fn unwrap(
        &self,
        client: ReadWindow<'_>,
        server: ReadWindow<'_>,
        interposer: ReadWindow<'_>,
    ) -> Result<u64, Error> {
        let names = Names::of([client, server, interposer])?;
        take_back(locked(|manager, _| names.find(manager))?)
    }

    fn rule(&self, number: u64, text: WriteWindow<'_>) -> Result<usize, Error> {
        let line = locked(|manager, _| {
            let rules = manager.rules();
            let number = usize::try_from(number).map_err(|_| Error::NotFound)?;
            let rule = rules.get(number).ok_or(Error::NotFound)?;
            let name = |one: InstanceId| match one {
                NO_INSTANCE => "*",
                one => manager.instances().get(one).map_or("?", |one| name_text(&one.name)),
            };
            let mut line = Line::<128>::new();
            let Rule { client, server, interposer, .. } = *rule;
            let falls_back = if rule.falls_back { " falls back" } else { "" };
            // What does not fit is left out.
            let _ =
                write!(line, "{} {} {}{falls_back}", name(client), name(server), name(interposer));
            Ok(line)
        })?;
        text.write(0, line.bytes())
    }
}
