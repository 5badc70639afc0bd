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

/// Longest name of a server and an interface.
const NAMES: usize = 2 * NAME_SIZE;

/// The three of a rule.
struct Names([[u8; NAMES]; 3], [usize; 3]);

impl Names {
    fn of(windows: [ReadWindow<'_>; 3]) -> Result<Names, Error> {
        let mut names = Names([[0; NAMES]; 3], [0; 3]);
        for (window, (name, length)) in windows.iter().zip(names.0.iter_mut().zip(&mut names.1)) {
            *length = window.copy(name).map_err(|_| Error::BadArgument)?.len();
        }
        Ok(names)
    }

    fn find(&self, manager: &Manager) -> Result<Rule, Error> {
        let name = |place: usize| &self.0[place][..self.1[place]];
        let mut parts = name(1).splitn(2, |byte| *byte == b'/');
        let server = named(manager, parts.next().unwrap_or_default())?;
        let rule = Rule::between(named(manager, name(0))?, server, named(manager, name(2))?);
        let mut interface = [0; NAME_SIZE];
        if let Some(part) = parts.next() {
            let text = interface.get_mut(..part.len()).ok_or(Error::BadArgument)?;
            text.copy_from_slice(part);
        }
        Ok(Rule { interface, ..rule })
    }
}

/// Takes a rule back, and all wraps of it. A thread that is called home from here leaves the rule, as one that ends.
#[inline(never)]
fn take_back(rule: &Rule) -> Result<u64, Error> {
    let mut portals = 0;
    loop {
        match locked(|manager, machine| manager.unwrap_step(machine, rule)) {
            Ok(0) => return Ok(portals),
            Ok(more) => portals += more,
            // Another thread came to the end of it.
            Err(Error::NotFound) if portals > 0 => return Ok(portals),
            Err(error) => return Err(error),
        }
    }
}

/// Puts an interposer before all that a rule is about; how many portals.
#[inline(never)]
fn put(wanted: Rule) -> Result<u64, Error> {
    let rule = locked(|manager, machine| manager.add_rule(machine, wanted))?;
    let clients = match rule.client {
        NO_INSTANCE => 1..INSTANCES_MAXIMUM as u16,
        InstanceId(one) => one..one + 1,
    };
    let mut portals = 0;
    for client in clients {
        match locked(|manager, machine| manager.wrap_client(machine, &rule, InstanceId(client))) {
            Ok(wrapped) => portals += wrapped,
            Err(error) => {
                take_back(&rule)?;
                return Err(error);
            }
        }
    }
    Ok(portals)
}

/// An interposer has registered its entrance: calls that wait for it, and that nobody else lets go on, do.
pub(super) fn go_on(interposer: InstanceId) -> Result<(), Error> {
    while locked(|manager, machine| manager.go_on_step(machine, interposer))? {}
    Ok(())
}

/// An interposer has registered its entrance: it stands where the description wants it from now on, whoever starts again. Those that
/// could call are less urgent than its thread, which is here.
pub(super) fn stand_as_described(interposer: InstanceId) -> Result<(), Error> {
    let mut from = 0;
    loop {
        let next =
            locked(|manager, machine| Ok(manager.next_described(machine, from, interposer)))?;
        let Some(server) = next else { return Ok(()) };
        from = server.0 + 1;
        let wanted = Rule::between(NO_INSTANCE, server, interposer);
        // An `unwrap` was cut short, in this life or before: it comes to its end first.
        if locked(|manager, _| Ok(manager.ends(&wanted)))? {
            match take_back(&wanted) {
                Ok(_) | Err(Error::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        match put(wanted) {
            // It stands there since its last life.
            Ok(_) | Err(Error::Busy) => {}
            Err(error) => return Err(error),
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
        let wanted = locked(|manager, _| names.find(manager))?;
        put(Rule { falls_back, ..wanted })
    }

    fn unwrap(
        &self,
        client: ReadWindow<'_>,
        server: ReadWindow<'_>,
        interposer: ReadWindow<'_>,
    ) -> Result<u64, Error> {
        let names = Names::of([client, server, interposer])?;
        take_back(&locked(|manager, _| names.find(manager))?)
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
            let Rule { client, server, interposer, interface, .. } = *rule;
            let by = name_text(&interface);
            let separator = if by.is_empty() { "" } else { "/" };
            let falls_back = match (rule.ends(), rule.falls_back) {
                (true, _) => " ends",
                (false, true) => " falls back",
                (false, false) => "",
            };
            // What does not fit is left out.
            let _ = write!(
                line,
                "{} {}{separator}{by} {}{falls_back}",
                name(client),
                name(server),
                name(interposer)
            );
            Ok(line)
        })?;
        text.write(0, line.bytes())
    }
}
