//! The record's exports and the additions, behind the interfaces.

use cairn::Error;
use cairn::in_place::State;
use cairn::record::Record;
use cairn::text::Line;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_abi::InstanceId;
use cairn_abi::descriptor::{is_name, name_text};
use cairn_abi::record::{Export, Instance, Method, Range};
use cairn_interfaces::{self as interfaces, RUN_TIME_NAMES};
use cairn_names::{
    Additions, EVERYBODY, NAME_MAXIMUM, Policy, Server as Owner, admits, belongs_to, decide,
    parse_policy, whole_entries,
};
use core::fmt::{Arguments, Write};

struct Server;
static SERVER: Server = Server;
/// All that lasts, which names nothing of this content: a successor goes on with it.
static ADDITIONS: State<Additions> = State::new(Additions::new(RUN_TIME_NAMES));
/// Raise it with each change of what is in there.
const STATE_VERSION: u64 = 1;

cairn::component! {
    name: "names",
    exports: {
        names: interfaces::Names = SERVER,
        control: interfaces::NameControl = SERVER,
        in_place: interfaces::InPlace = SERVER,
    },
}

/// What the layout's record says of instances and their exports.
#[derive(Clone, Copy)]
struct Directory {
    /// By number from 1; of some there may be none any more.
    instances: &'static [Instance],
    exports: &'static [Export],
    methods: &'static [Method],
    /// Where the errors of methods have their names.
    texts: &'static [u8],
}

impl Directory {
    fn find() -> Result<Directory, Error> {
        let record = Record::find().ok_or(Error::NotFound)?;
        let instances: &[Instance] = record.table(record.header.instances);
        // The first call of all can come after something was loaded, and be to add that.
        let described = instances.iter().filter(|one| one.is_described());
        ADDITIONS.domains.begin(described.map(|instance| instance.number));
        Ok(Directory {
            instances,
            exports: record.table(record.header.exports),
            methods: record.table(record.header.methods),
            texts: record.table(record.header.symbol_names),
        })
    }

    /// Those that there are.
    fn instances(&self) -> impl Iterator<Item = &'static Instance> {
        self.instances.iter().filter(|instance| ADDITIONS.domains.is_present(instance.number))
    }

    fn instance_name(&self, number: InstanceId) -> Option<&'static str> {
        let mut instances = self.instances();
        instances.find(|one| one.number == number).map(|instance| name_text(&instance.name))
    }

    /// The number of the instance called `name`.
    fn instance_number(&self, name: &str) -> Option<InstanceId> {
        let is = |instance: &&Instance| name_text(&instance.name) == name;
        self.instances().find(is).map(|instance| instance.number)
    }

    /// The server under whose name an instance's names are.
    fn owner(&self, number: InstanceId) -> Owner {
        let record = number.index().checked_sub(1).and_then(|place| self.instances.get(place));
        Owner { number, names: record.map_or(Range::default(), |record| record.names) }
    }

    /// The instance before the dot of a name, and what stands behind it.
    fn server_of<'name>(&self, name: &'name [u8]) -> Option<(&'static Instance, &'name [u8])> {
        // Padding is no part of a name.
        let end =
            name.iter().position(|byte| matches!(byte, b'.' | 0)).filter(|end| name[*end] != 0)?;
        let (server, export) = (&name[..end], &name[end + 1..]);
        let mut candidates = self.instances.iter();
        let found = candidates.find(|candidate| is_name(&candidate.name, server))?;
        ADDITIONS.domains.is_present(found.number).then_some((found, export))
    }

    /// The export of a server called `name`. Objects have no names.
    fn export(&self, server: &Instance, name: &[u8]) -> Option<(usize, &'static Export)> {
        let first = server.first_export as usize;
        let exports = self.exports.get(first..first + server.export_count as usize)?;
        let is = |one: &Export| {
            // What nobody serves now is not found.
            one.instance == server.number && one.is_object == 0 && is_name(&one.name, name)
        };
        let place = exports.iter().position(is).filter(|_| !name.contains(&0))?;
        Some((first + place, &exports[place]))
    }

    /// The export called `name`, its server's name before the dot.
    fn described(&self, name: &[u8]) -> Option<(usize, &'static Export)> {
        let (server, export) = self.server_of(name)?;
        self.export(server, export)
    }

    fn line(&self, name: Arguments, interface: &str, policy: &Policy) -> Text {
        let mut line = Text::new();
        // A line that is too long is cut.
        let _ = write!(line, "{name} {interface} ");
        if *policy == EVERYBODY {
            let _ = line.write_str("*");
            return line;
        }
        let mut separator = "";
        for instance in self.instances().filter(|instance| admits(policy, instance.number)) {
            let _ = write!(line, "{separator}{}", name_text(&instance.name));
            separator = ",";
        }
        if separator.is_empty() {
            let _ = line.write_str("-");
        }
        line
    }
}

/// Longest line that is told.
const LINE: usize = 256;
type Text = Line<LINE>;

impl interfaces::Names for Server {
    fn look_up(&self, client: InstanceId, name: ReadWindow<'_>) -> Result<u64, Error> {
        let mut buffer = [0; NAME_MAXIMUM];
        let name = &*name.copy(&mut buffer)?;
        let directory = Directory::find()?;
        let (server, export) = directory.server_of(name).ok_or(Error::NotFound)?;
        if let Some((index, export)) = directory.export(server, export) {
            return ADDITIONS.decide_described(&export.open, client).map(|()| index as u64);
        }
        let addition =
            ADDITIONS.find(directory.owner(server.number), name).ok_or(Error::NotFound)?;
        decide(&addition.policy, client).map(|()| addition.number)
    }

    fn list(&self, number: u64, text: WriteWindow<'_>) -> Result<(usize, u64), Error> {
        let directory = Directory::find()?;
        let exports = directory.exports;
        let from = usize::try_from(number).unwrap_or(usize::MAX);
        let mut described = exports.iter().enumerate().skip(from);
        let described = described.find(|(_, export)| {
            export.is_object == 0 && ADDITIONS.domains.is_present(export.instance)
        });
        if let Some((index, export)) = described {
            let instance = directory.instance_name(export.instance).unwrap_or("?");
            let line = directory.line(
                format_args!("{instance}.{}", name_text(&export.name)),
                name_text(&export.interface),
                &export.open,
            );
            return line.answer(&text, index as u64 + 1);
        }
        let from = from.saturating_sub(exports.len());
        let (place, addition) = ADDITIONS.iter(from).next().ok_or(Error::NotFound)?;
        let mut buffer = [0; 64];
        let name = addition.name(&mut buffer);
        let line = directory.line(format_args!("{name}"), "(run-time)", &addition.policy);
        line.answer(&text, (exports.len() + place) as u64 + 1)
    }

    fn describe_method(
        &self,
        name: ReadWindow<'_>,
        number: u64,
        text: WriteWindow<'_>,
    ) -> Result<usize, Error> {
        let mut buffer = [0; NAME_MAXIMUM];
        let directory = Directory::find()?;
        let (_, export) = directory.described(name.copy(&mut buffer)?).ok_or(Error::NotFound)?;
        if number >= u64::from(export.method_count) {
            return Err(Error::NotFound);
        }
        let index = export.first_method as usize + number as usize;
        let method = directory.methods.get(index).ok_or(Error::NotFound)?;
        let length =
            method.letters.iter().position(|letter| *letter == 0).unwrap_or(method.letters.len());
        let letters = core::str::from_utf8(&method.letters[..length]).unwrap_or("?");
        let name = name_text(&method.name);
        let meanings = directory.texts.get(method.meanings as usize..).unwrap_or(&[]);
        let meanings = meanings.get(..method.meanings_length as usize).unwrap_or(&[]);
        let meanings = core::str::from_utf8(meanings).unwrap_or("");
        let mut described = Text::of(format_args!("{name} {letters} {} ", method.value));
        let room = LINE - described.bytes().len();
        let _ = described.write_str(whole_entries(meanings, room));
        text.write(0, described.bytes())
    }
}

impl interfaces::InPlace for Server {
    fn state(&self) -> Result<interfaces::StatePlace, Error> {
        Ok(interfaces::StatePlace::of(&ADDITIONS, STATE_VERSION))
    }

    fn version(&self, text: WriteWindow<'_>) -> Result<usize, Error> {
        text.write(0, env!("CARGO_PKG_VERSION").as_bytes())
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
        let directory = Directory::find()?;
        if !belongs_to(name, directory.instance_name(server).ok_or(Error::BadArgument)?) {
            return Err(Error::NotAllowed);
        }
        if directory.described(name.as_bytes()).is_some() {
            return Err(Error::Busy);
        }
        let policy = parse_policy(policy, |name| directory.instance_number(name))?;
        ADDITIONS.add(directory.owner(server), name, policy)
    }

    fn admit(
        &self,
        server: InstanceId,
        name: ReadWindow<'_>,
        client: InstanceId,
        admitted: bool,
    ) -> Result<(), Error> {
        let directory = Directory::find()?;
        if !ADDITIONS.domains.is_present(client) {
            return Err(Error::BadArgument);
        }
        let mut buffer = [0; NAME_MAXIMUM];
        ADDITIONS.admit(directory.owner(server), name.text(&mut buffer)?, client, admitted)
    }

    fn remove(&self, server: InstanceId, name: ReadWindow<'_>) -> Result<u64, Error> {
        let mut buffer = [0; NAME_MAXIMUM];
        ADDITIONS.remove(Directory::find()?.owner(server), name.text(&mut buffer)?)
    }

    fn remove_all(&self, server: InstanceId) -> Result<u64, Error> {
        ADDITIONS.remove_all(Directory::find()?.owner(server))
    }

    fn add_domain(&self, instance: InstanceId) -> Result<(), Error> {
        Directory::find()?;
        ADDITIONS.domains.add_domain(instance)
    }

    fn retire_domain(&self, instance: InstanceId) -> Result<(), Error> {
        ADDITIONS.retire_domain(Directory::find()?.owner(instance))
    }
}
