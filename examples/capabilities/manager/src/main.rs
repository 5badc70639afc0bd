//! A capability manager, by interposition alone: it stands between components, has a list of capabilities for each, and where a parameter
//! or value is a capability it turns the sender's number for it into the receiver's. So nobody names what it was not passed, and
//! neither side knows that there is a manager.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod lists;

use cairn::interpose::{Answer, Interposer, Passing};
use cairn::sync::Mutex;
use cairn::text::Line;
use cairn::{Caller, Error, InstanceId, environment};
use cairn_example_capabilities_contract::{Capabilities, Rights};
use cairn_interfaces as interfaces;
use lists::Lists;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "capability-manager",
    imports: {
        portals: interfaces::Portals,
        listing: interfaces::PortalListing,
        instances: interfaces::Supervisor,
    },
    exports: { capabilities: Capabilities = SERVER },
    main: main,
}

/// What of a method is a capability: the argument type.
#[derive(Clone, Copy)]
enum Type {
    /// The first argument, which the server gets for a list of its own.
    Passed,
    /// The first argument, of what the server serves itself; and the right that this takes.
    Served(u32),
    /// The value, something new of the server's.
    Made,
    /// The value, of what the server has in its list.
    Returned,
}

/// Where capabilities stand in interfaces.
const TYPES: [(&str, Type); 5] = [
    ("vault.vault put", Type::Made),
    ("vault.vault value", Type::Served(Rights::LOOK)),
    ("vault.vault change", Type::Served(Rights::CHANGE)),
    ("courier.courier hand", Type::Passed),
    ("courier.courier back", Type::Returned),
];

/// A call's ends, and what of it is a capability.
struct Known {
    what: Option<Type>,
    client: InstanceId,
    server: InstanceId,
}

static LISTS: Mutex<Lists> = Mutex::new(Lists::EMPTY);

fn main() -> Result<(), Error> {
    imports::PORTALS.stand_between::<Server>()
}

/// The instance of this name.
fn named(name: &str) -> Option<InstanceId> {
    let (mut number, mut text) = (1, [0; 128]);
    while let Ok((length, described)) = imports::INSTANCES.describe(number, &mut text) {
        let line = core::str::from_utf8(text.get(..length)?).ok()?;
        if line.split(' ').next() == Some(name) {
            return u16::try_from(described).ok().map(InstanceId);
        }
        number = described + 1;
    }
    None
}

/// Asks what an index is: `npci vault.vault value for client`. With each call, since it keeps its meaning only as long as somebody is on the
/// way by it.
fn look_up(index: u64) -> Result<Known, Error> {
    let own = environment::startup().instance;
    let mut text = [0; 160];
    let (length, found) = imports::LISTING.describe(own, index, &mut text)?;
    let line = text.get(..length).and_then(|text| core::str::from_utf8(text).ok());
    let line = line.filter(|_| found == index).and_then(|line| line.split_once(" for "));
    let (portal, client) = line.ok_or(Error::NotFound)?;
    let mut words = portal.split(' ').skip(1);
    let mut word = || words.next().ok_or(Error::Malformed);
    let (export, method) = (word()?, word()?);
    let name = Line::<64>::of(format_args!("{export} {method}"));
    let what = TYPES.iter().find(|(method, _)| *method == name.text()).map(|(_, what)| *what);
    let server = export.split('.').next().and_then(named).ok_or(Error::NotFound)?;
    let client = client.split(' ').next().and_then(named).ok_or(Error::NotFound)?;
    Ok(Known { what, client, server })
}

impl Interposer for Server {
    fn intercept(call: &Passing) -> Answer {
        pass(call).unwrap_or_else(Answer::error)
    }
}

/// Passes a call on, with the capability turned into that of who gets it. The manager is not locked while others work.
fn pass(call: &Passing) -> Result<Answer, Error> {
    let Known { what, client, server } = look_up(call.index())?;
    let number = call.argument(1);
    let theirs = match what {
        Some(Type::Passed) => LISTS.lock()?.pass(client, number, server)?,
        Some(Type::Served(right)) => LISTS.lock()?.call(client, number, (server, right))?,
        Some(Type::Made | Type::Returned) | None => number,
    };
    let answer = call.with_argument(1, theirs).forward();
    if answer.status != 0 {
        return Ok(answer);
    }
    let value = answer.words[0];
    let value = match what {
        Some(Type::Made) => LISTS.lock()?.make(server, value, client)?,
        Some(Type::Returned) => LISTS.lock()?.pass(server, value, client)?,
        Some(Type::Passed | Type::Served(_)) | None => value,
    };
    let mut words = answer.words;
    words[0] = value;
    Ok(Answer { words, ..answer })
}

impl Capabilities for Server {
    fn derive(&self, caller: Caller, capability: u64, rights: Rights) -> Result<u64, Error> {
        LISTS.lock()?.derive(caller.0, capability, rights)
    }

    fn revoke(&self, caller: Caller, capability: u64) -> Result<u64, Error> {
        LISTS.lock()?.revoke(caller.0, capability)
    }
}
