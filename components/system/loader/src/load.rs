//! The steps of a load. The first that fails undoes those before it.

use super::component::{DOMAIN_MEMORY, DOMAIN_PORTALS, HeadBytes, INSTANCES};
use super::content;
use super::failure::failed;
use super::fetch::{Fetched, fetch};
use super::startup;
use cairn::component::Interface;
use cairn::section::Section;
use cairn::text::Line;
use cairn::{Error, InstanceId};
use cairn_abi::RegionId;
use cairn_abi::domain::PORTAL_OF_FAULTS;
use cairn_interfaces::Pager;
use cairn_loader::package::{Head, Import};
use cairn_loader::placement::Placement;

/// Said to what is loaded of an export that names who may call it.
const CLOSED: &str = "it is not open to what is loaded: `open = [\"*\"]` is";

/// A package.
pub struct Source<'a> {
    /// All of its bytes, which nobody else writes.
    pub bytes: Section,
    /// It is on the shelf: instances share what they do not change.
    pub is_shelved: bool,
    /// Its head, checked.
    pub head: Head<'a>,
    /// The bytes of that.
    pub head_bytes: &'a [u8],
}

/// Where the content of a package comes.
pub struct Place {
    /// The number under which it is made.
    pub number: InstanceId,
    /// First address of the region for which it is linked.
    pub region: u64,
    /// Where it is in there.
    pub placement: Placement,
}

impl<'a> Source<'a> {
    /// Fetches a package, and checks its head.
    pub fn fetch(
        fetched: &'a mut Option<Fetched>,
        buffer: &'a mut HeadBytes,
        package: &str,
    ) -> Result<Source<'a>, Error> {
        let fetched = fetched.insert(fetch(buffer, package)?);
        let bytes = fetched.bytes();
        let length = bytes.size().min(buffer.0.len());
        for (place, bytes_of) in (0..length).step_by(8).zip(buffer.0.as_chunks_mut::<8>().0) {
            *bytes_of = bytes.load(place).to_le_bytes();
        }
        let head = Head::read(&buffer.0[..length]).map_err(|fault| {
            failed(
                Error::Malformed,
                format_args!("the package `{package}` cannot be read: {fault}"),
            )
        })?;
        let head_bytes = &buffer.0[..head.numbers().head_size as usize];
        Ok(Source { bytes, is_shelved: fetched.is_shelved(), head, head_bytes })
    }
}

/// Makes an instance called `name` of a package, as a child of `parent`.
pub fn load(
    buffer: &mut HeadBytes,
    parent: InstanceId,
    (package, name): (&str, &str),
    begins: bool,
) -> Result<InstanceId, Error> {
    check_name(name)?;
    let mut fetched = None;
    let source = Source::fetch(&mut fetched, buffer, package)?;
    let made = DOMAIN_MEMORY.make(parent, name, source.head_bytes);
    let instance = made.map_err(|error| {
        let (kibibytes, why) = (source.head.numbers().memory >> 10, lacking(error));
        match error {
            Error::Exhausted => failed(
                error,
                format_args!("no memory for `{name}`, which takes {kibibytes}K: {why}"),
            ),
            _ => failed(error, format_args!("cannot make `{name}`: {why}")),
        }
    })?;
    let region = RegionId(instance.0);
    let wanted = source.head.wanted(source.head.numbers().activations.into());
    let place = Place {
        number: instance,
        region: cairn_abi::address::region(region),
        placement: Placement::new(&wanted, region),
    };
    let made = fill(&source, &place, name)
        .and_then(|()| connect(&source.head, instance, name))
        .and_then(|()| connect_pager(&source.head, instance))
        .and_then(|()| if begins { begin(instance, name) } else { Ok(()) });
    whole(instance, name, made)
}

/// Whether an instance can be called so.
pub fn check_name(name: &str) -> Result<(), Error> {
    let is_name = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    match is_name {
        true => Ok(()),
        false => {
            Err(failed(Error::BadArgument, format_args!("`{name}` is no name of an instance")))
        }
    }
}

/// Lets an instance live that has all that it needs.
pub fn begin(instance: InstanceId, name: &str) -> Result<(), Error> {
    INSTANCES.begin(instance).map_err(|error| {
        let why = match error {
            Error::Exhausted => {
                "its parent's `threads`, `semaphores` and `locks` have not as many left as it takes"
            }
            Error::NotAllowed => "its `priority` is above that of its parent",
            Error::Dead => "its parent ends",
            error => error.text(),
        };
        failed(error, format_args!("`{name}` cannot begin: {why}"))
    })
}

/// An instance that was made, or, if it could not be made whole, nothing of it.
pub fn whole(
    instance: InstanceId,
    name: &str,
    made: Result<(), Error>,
) -> Result<InstanceId, Error> {
    match made {
        Ok(()) => Ok(instance),
        Err(error) => {
            give_back(instance, name);
            Err(error)
        }
    }
}

/// Takes back what was made under a number, of a name.
pub fn give_back(number: InstanceId, name: &str) {
    if let Err(left) = INSTANCES.retire(number) {
        cairn::log::error!("what was made of {name} stays: {}", left.text());
    }
}

/// What a parent or the system lacks.
pub fn lacking(error: Error) -> &'static str {
    match error {
        Error::Exhausted => "its parent has not so much of its `memory` left, or the system",
        Error::NotAllowed => "its parent has no `children` left",
        Error::Busy => "the name is taken",
        Error::NotFound => "its pager is not there",
        Error::BadArgument => {
            "it is made for the place of one that shares a domain: `replace` that with it"
        }
        Error::TooLarge => "it has more than the image has places for one that comes",
        error => error.text(),
    }
}

/// Puts the content into the memory that was made for it.
pub fn fill(source: &Source, place: &Place, name: &str) -> Result<(), Error> {
    let given = content::give_segments(source, place)
        .and_then(|()| startup::give(&source.head, place, name));
    let lacks = |whose, error: Error| {
        let why = if error == Error::Exhausted { whose } else { error.text() };
        failed(error, format_args!("no content for `{name}`: {why}"))
    };
    given
        .map_err(|error| lacks("the loader's own `memory` has no room for a copy of it", error))?;
    let finished = DOMAIN_MEMORY.finish(place.number);
    finished.map_err(|error| lacks("its `memory` does not hold it", error))
}

/// Connects all imports that are not left out.
fn connect(head: &Head, instance: InstanceId, name: &str) -> Result<(), Error> {
    DOMAIN_PORTALS.add_domain(instance).map_err(|error| {
        failed(error, format_args!("no portals for `{name}`: {}", error.text()))
    })?;
    connect_imports(head, instance, CLOSED)
}

/// The same, of an instance whose domain there is. `closed`: what is said of an export that is not open to it.
pub fn connect_imports(head: &Head, instance: InstanceId, closed: &str) -> Result<(), Error> {
    head.imports().try_for_each(|import| connect_import(&import, instance, closed))
}

/// Lets what an instance misses in its range call its pager, if it has one.
fn connect_pager(head: &Head, instance: InstanceId) -> Result<(), Error> {
    let Some((server, export)) = head.pager() else { return Ok(()) };
    let name = Line::<64>::of(format_args!("{server}.{export}"));
    let version = <dyn Pager>::DESCRIPTOR.version;
    let first = PORTAL_OF_FAULTS as u64;
    DOMAIN_PORTALS.connect(instance, first, name.text(), version, b"Pager ").map_err(|error| {
        let why = match error {
            Error::NotFound => "there is no such export",
            Error::NotAllowed => CLOSED,
            Error::VersionMismatch => "it is no pager, or one of another version",
            Error::NotSupported => "one of the two uses floating point, or it runs to completion",
            Error::Exhausted => {
                "it has no stack left for one more client, or the client no room for portals"
            }
            error => error.text(),
        };
        failed(error, format_args!("pager `{server}.{export}`: {why}"))
    })
}

fn connect_import(import: &Import, instance: InstanceId, closed: &str) -> Result<(), Error> {
    let Some((server, export)) = import.server else { return Ok(()) };
    let (first, signature) = (import.first_portal as u64, import.signature().as_bytes());
    let name = Line::<64>::of(format_args!("{server}.{export}"));
    let made = DOMAIN_PORTALS.connect(instance, first, name.text(), import.version, signature);
    made.map_err(|error| {
        let why = match error {
            Error::NotFound => "there is no such export",
            Error::NotAllowed => closed,
            Error::VersionMismatch => "it serves another interface, or another version",
            Error::Exhausted => "the server has no stack left for one more client, or the client no room for portals",
            error => error.text(),
        };
        let (of, interface) = (import.name(), import.interface());
        failed(error, format_args!("import `{of}` ({interface}) from `{server}.{export}`: {why}"))
    })
}
