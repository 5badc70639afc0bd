//! The steps of a replacement, up to the exchange: all that can be done while the old content serves.

use super::asked::{self, How, Job};
use super::component::{DOMAIN_MEMORY, HeadBytes, INSTANCES};
use super::failure::failed;
use super::in_place;
use super::load::{Place, Source, connect_imports, fill, give_back, lacking};
use cairn::{Error, InstanceId, environment};
use cairn_abi::RegionId;
use cairn_abi::address::region;
use cairn_interfaces::{Exchange, SuccessorError};
use cairn_loader::placement::Placement;

/// Said of an export that names who may call it.
const CLOSED: &str = "it is not open to the one that is replaced: its `open` says to whom";

/// Longest time that one may take.
pub(super) const MILLISECONDS_MAXIMUM: u64 = 60_000;

/// Replaces the content of the instance called `name` by a package's, at the expense of `parent` as long as both are there. The value is for how
/// many ticks callers waited.
pub fn replace(
    buffer: &mut HeadBytes,
    parent: InstanceId,
    name: &str,
    package: &str,
    milliseconds: u64,
) -> Result<u64, Error> {
    let refused = |error| {
        let why = match error {
            Error::NotFound => "there is no such instance",
            Error::NotAllowed => "the system ends with it",
            Error::Dead => "it does not live",
            Error::NotSupported => {
                "one of its devices reaches memory by itself, and nobody can reset it"
            }
            error => error.text(),
        };
        failed(error, format_args!("cannot replace `{name}`: {why}"))
    };
    let (instance, how) = INSTANCES.replaceable(name).map_err(refused)?;
    let is_own = instance == environment::startup().instance;
    let is_offered = in_place::is_offered(name).map_err(|error| {
        let why = "its export `in_place` is not open to the loader";
        failed(error, format_args!("cannot replace `{name}`: {why}"))
    })?;
    let how = match (is_offered, how) {
        (true, _) => Exchange::InPlace,
        (false, Exchange::InPlace) => return Err(refused(Error::NotAllowed)),
        (false, how) => how,
    };
    let in_place = how == Exchange::InPlace;
    let mut fetched = None;
    let source = Source::fetch(&mut fetched, buffer, package)?;
    let made = DOMAIN_MEMORY.make_successor(parent, instance, source.head_bytes, in_place);
    let (number, at) = made.map_err(|error| {
        let (error, why) = (cause(error), words(error));
        failed(error, format_args!("cannot replace `{name}` by `{package}`: {why}"))
    })?;
    let linked = RegionId(instance.0);
    let placement = Placement::at(&source.head.wanted(0), at, linked);
    let place = Place { number, region: region(linked), placement };
    let filled = fill(&source, &place, name);
    filled.and_then(|()| connect_imports(&source.head, instance, CLOSED)).inspect_err(|_| {
        give_back(number, name);
    })?;
    let milliseconds = milliseconds.min(MILLISECONDS_MAXIMUM);
    let job = Job::new((instance, number), name, milliseconds, How::Content(how));
    asked::run(if is_own { job.asked_by(parent, package) } else { job })
}

/// What is answered where a package is no successor.
fn cause(error: SuccessorError) -> Error {
    match error {
        SuccessorError::NotServed | SuccessorError::Idle => Error::VersionMismatch,
        SuccessorError::Region | SuccessorError::Exports | SuccessorError::Stack => Error::TooLarge,
        SuccessorError::Portals => Error::BadArgument,
        SuccessorError::Portal(error) => error,
        _ => Error::NotSupported,
    }
}

/// The same, for people.
fn words(error: SuccessorError) -> &'static str {
    match error {
        SuccessorError::InKernel => "it is in the kernel domain: `move` it first",
        SuccessorError::Away => "it was moved: `move` it back to its domain first",
        SuccessorError::Forked => "it is a copy of another one",
        SuccessorError::PagerWithoutState => {
            "it is a pager without `successor`, and its clients' pages are known to it alone"
        }
        SuccessorError::Paged => "it or the package has a range with a pager",
        SuccessorError::FloatingPoint => "the package uses floating point, and it does not",
        SuccessorError::NotAlone => {
            "threads are in it when its content is exchanged, and it is not alone in its domain"
        }
        SuccessorError::Heap => "it keeps its state in place, and the package has a `heap`",
        SuccessorError::Threads => "it keeps its state in place, and has `threads`",
        SuccessorError::Portals => {
            "the package has other portals before its own: `replaces` in its table names whose place it takes"
        }
        SuccessorError::Stack => {
            "the package needs more stack than those in its domain have for calls of it"
        }
        SuccessorError::Idle => {
            "it runs when nobody else does: a successor has a thread, and neither serves nor calls"
        }
        SuccessorError::NotServed => "it does not serve all that the other serves",
        SuccessorError::Region => "its region has no room for both",
        SuccessorError::Exports => {
            "there is no room in the record for what the package serves beside"
        }
        SuccessorError::Portal(Error::Busy) => "it is being replaced",
        SuccessorError::Portal(error) => lacking(error),
    }
}
