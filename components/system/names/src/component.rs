//! The record's exports and the additions, behind the interfaces.

use cairn::Error;
use cairn::record::Record;
use cairn::text::Line;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_abi::InstanceId;
use cairn_abi::descriptor::{is_name, name_text};
use cairn_abi::record::{Export, Instance, Method};
use cairn_interfaces::{self as interfaces, RUN_TIME_NAMES};
use cairn_names::{
    Additions, EVERYBODY, NAME_MAXIMUM, Policy, Server as Owner, admits, belongs_to, decide,
    parse_policy,
};
use core::fmt::{Arguments, Write};

struct Server;
static SERVER: Server = Server;
static ADDITIONS: Additions = Additions::new(RUN_TIME_NAMES);

cairn::component! {
    name: "names",
    exports: {
        names: interfaces::Names = SERVER,
        control: interfaces::NameControl = SERVER,
    },
}

/// Of the description; some may have retired.
fn described_instances() -> &'static [Instance] {
    Record::find().map_or(&[], |record| record.table(record.header.instances))
}

/// Those of the description that there are.
fn instances() -> impl Iterator<Item = &'static Instance> {
    described_instances().iter().filter(|instance| !ADDITIONS.is_retired(instance.number))
}

fn exports() -> &'static [Export] {
    Record::find().map_or(&[], |record| record.table(record.header.exports))
}

fn instance_name(number: InstanceId) -> Option<&'static str> {
    instances().find(|instance| instance.number == number).map(|instance| name_text(&instance.name))
}

/// The server under whose name an instance's names are.
fn owner(number: InstanceId) -> Owner {
    Owner { number, among: described_instances().len() }
}

/// The number of the instance called `name`.
fn instance_number(name: &str) -> Option<InstanceId> {
    let is = |instance: &&Instance| name_text(&instance.name) == name;
    instances().find(is).map(|instance| instance.number)
}

/// The number of the instance before the dot of a name, and what stands behind it.
fn server_of<'name>(
    described: &'static [Instance],
    name: &'name [u8],
) -> Option<(InstanceId, &'name [u8])> {
    // Padding is no part of a name.
    let end =
        name.iter().position(|byte| matches!(byte, b'.' | 0)).filter(|end| name[*end] != 0)?;
    let (server, export) = (&name[..end], &name[end + 1..]);
    let mut candidates = described.iter();
    let found = candidates.find(|candidate| is_name(&candidate.name, server))?;
    (!ADDITIONS.is_retired(found.number)).then_some((found.number, export))
}

/// The description's export called `name`. Objects have no names.
fn described(name: &[u8]) -> Option<(usize, &'static Export)> {
    let record = Record::find()?;
    let found = server_of(record.table(record.header.instances), name);
    let (server, export) = found.filter(|(_, export)| !export.contains(&0))?;
    let exports: &[Export] = record.table(record.header.exports);
    exports.iter().enumerate().find(|(_, candidate)| {
        candidate.instance == server && candidate.is_object == 0 && is_name(&candidate.name, export)
    })
}

type Text = Line<256>;

fn line(name: Arguments, interface: &str, policy: &Policy) -> Text {
    let mut line = Text::new();
    // A line that is too long is cut.
    let _ = write!(line, "{name} {interface} ");
    if *policy == EVERYBODY {
        let _ = line.write_str("*");
        return line;
    }
    let mut separator = "";
    for instance in instances().filter(|instance| admits(policy, instance.number)) {
        let _ = write!(line, "{separator}{}", name_text(&instance.name));
        separator = ",";
    }
    if separator.is_empty() {
        let _ = line.write_str("-");
    }
    line
}

impl interfaces::Names for Server {
    fn look_up(&self, client: InstanceId, name: ReadWindow<'_>) -> Result<u64, Error> {
        let mut buffer = [0; NAME_MAXIMUM];
        let name = &*name.copy(&mut buffer)?;
        let (number, policy) = match described(name) {
            Some((index, export)) => {
                return ADDITIONS.decide_described(&export.open, client).map(|()| index as u64);
            }
            None => {
                let (server, _) = server_of(described_instances(), name).ok_or(Error::NotFound)?;
                let addition = ADDITIONS.find(owner(server.into()), name).ok_or(Error::NotFound)?;
                (addition.number, addition.policy)
            }
        };
        decide(&policy, client).map(|()| number)
    }

    fn list(&self, number: u64, text: WriteWindow<'_>) -> Result<(usize, u64), Error> {
        let exports = exports();
        let from = usize::try_from(number).unwrap_or(usize::MAX);
        let mut described = exports.iter().enumerate().skip(from);
        let described = described
            .find(|(_, export)| export.is_object == 0 && !ADDITIONS.is_retired(export.instance));
        if let Some((index, export)) = described {
            let instance = instance_name(export.instance).unwrap_or("?");
            let line = line(
                format_args!("{instance}.{}", name_text(&export.name)),
                name_text(&export.interface),
                &export.open,
            );
            return Ok(line.answer(&text, index as u64 + 1));
        }
        let from = from.saturating_sub(exports.len());
        let (place, addition) = ADDITIONS.iter(from).next().ok_or(Error::NotFound)?;
        let mut buffer = [0; 64];
        let name = addition.name(&mut buffer);
        let line = line(format_args!("{name}"), "(run-time)", &addition.policy);
        Ok(line.answer(&text, (exports.len() + place) as u64 + 1))
    }

    fn describe_method(
        &self,
        name: ReadWindow<'_>,
        number: u64,
        text: WriteWindow<'_>,
    ) -> Result<usize, Error> {
        let mut buffer = [0; NAME_MAXIMUM];
        let (_, export) = described(name.copy(&mut buffer)?).ok_or(Error::NotFound)?;
        let record = Record::find().ok_or(Error::NotFound)?;
        let methods: &[Method] = record.table(record.header.methods);
        if number >= u64::from(export.method_count) {
            return Err(Error::NotFound);
        }
        let method =
            methods.get(export.first_method as usize + number as usize).ok_or(Error::NotFound)?;
        let length =
            method.letters.iter().position(|letter| *letter == 0).unwrap_or(method.letters.len());
        let letters = core::str::from_utf8(&method.letters[..length]).unwrap_or("?");
        let name = name_text(&method.name);
        let described = Text::of(format_args!("{name} {letters} {}", method.value));
        Ok(text.write(0, described.bytes()))
    }
}

impl interfaces::NameControl for Server {
    fn add(
        &self,
        server: InstanceId,
        name: ReadWindow<'_>,
        policy: ReadWindow<'_>,
    ) -> Result<u64, Error> {
        let mut buffer = [0; NAME_MAXIMUM];
        let name = name.text(&mut buffer)?;
        let mut policy_buffer = [0; 256];
        let policy = policy.text(&mut policy_buffer)?;
        if !belongs_to(name, instance_name(server).ok_or(Error::BadArgument)?) {
            return Err(Error::NotAllowed);
        }
        if described(name.as_bytes()).is_some() {
            return Err(Error::Busy);
        }
        let policy = parse_policy(policy, instance_number)?;
        ADDITIONS.add(owner(server), name, policy)
    }

    fn admit(
        &self,
        server: InstanceId,
        name: ReadWindow<'_>,
        client: InstanceId,
        admitted: bool,
    ) -> Result<(), Error> {
        if !instances().any(|instance| instance.number == client) {
            return Err(Error::BadArgument);
        }
        let mut buffer = [0; NAME_MAXIMUM];
        ADDITIONS.admit(owner(server), name.text(&mut buffer)?, client, admitted)
    }

    fn remove(&self, server: InstanceId, name: ReadWindow<'_>) -> Result<u64, Error> {
        let mut buffer = [0; NAME_MAXIMUM];
        ADDITIONS.remove(owner(server), name.text(&mut buffer)?)
    }

    fn remove_all(&self, server: InstanceId) -> Result<u64, Error> {
        ADDITIONS.remove_all(owner(server))
    }
}
