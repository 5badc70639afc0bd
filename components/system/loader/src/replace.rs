//! The steps of a replacement, up to the exchange: all that can be done while the old content serves.

use super::asked::{self, How, Job};
use super::component::{DOMAIN_MEMORY, HeadBytes, INSTANCES};
use super::failure::failed;
use super::in_place;
use super::load::{Place, Source, connect_imports, fill, give_back, lacking};
use cairn::{Error, InstanceId, environment};
use cairn_abi::RegionId;
use cairn_abi::address::region;
use cairn_interfaces::Exchange;
use cairn_loader::placement::Placement;

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
        let why = match error {
            Error::VersionMismatch => "it does not serve all that the other serves",
            Error::TooLarge => {
                "there is no room for it, for what it serves beside, or on the stacks of those that call it in its domain"
            }
            Error::BadArgument => {
                "its calls are not by the portals that the other has in its domain: write `replaces` in its description"
            }
            Error::NotSupported if in_place => "who keeps its state in place has no heap and no threads, and is alone in a protection domain",
            Error::NotSupported => {
                "it is in the kernel domain (`move` it first), is a pager without `successor`, or lacks floating point"
            }
            Error::Busy => "it is being replaced",
            error => lacking(error),
        };
        failed(error, format_args!("cannot replace `{name}` by `{package}`: {why}"))
    })?;
    let linked = RegionId(instance.0);
    let placement = Placement::at(&source.head.wanted(0), at, linked);
    let place = Place { number, region: region(linked), placement };
    let filled = fill(&source, &place, name);
    filled.and_then(|()| connect_imports(&source.head, instance)).inspect_err(|_| {
        give_back(number, name);
    })?;
    let milliseconds = milliseconds.min(MILLISECONDS_MAXIMUM);
    let job = Job::new((instance, number), name, milliseconds, How::Content(how));
    asked::run(if is_own { job.asked_by(parent, package) } else { job })
}
