//! A move: an instance is its own successor, in its other place.

use super::asked::{self, How, Job};
use super::component::{DOMAIN_MEMORY, INSTANCES};
use super::failure::failed;
use super::replace::MILLISECONDS_MAXIMUM;
use cairn::Error;
use cairn_interfaces::Location;

/// Lets the instance called `name` go on there, `with` whom if another is named. The value is for how many ticks callers waited.
pub fn move_to(name: &str, to: Location, with: &str, milliseconds: u64) -> Result<u64, Error> {
    let places = INSTANCES.movable(name, to, with).map_err(|error| {
        let is_there = || INSTANCES.movable(name, Location::Domain, "") != Err(Error::NotFound);
        let why = match (error, to) {
            (Error::NotFound, Location::With) if is_there() => {
                "there is no instance to be with of that name"
            }
            _ => words(error, to),
        };
        failed(error, format_args!("cannot move `{name}`: {why}"))
    })?;
    let milliseconds = milliseconds.min(MILLISECONDS_MAXIMUM);
    asked::run(Job::new(places, name, milliseconds, How::Place(to)))
}

fn words(error: Error, to: Location) -> &'static str {
    match (error, to) {
        (Error::NotFound, _) => "there is no such instance",
        (Error::Dead, _) => "it does not live",
        (Error::NotSupported, Location::With) => {
            "its description does not let it move there: `moves = [{ with = \"NAME\" }]` in its table does"
        }
        (Error::NotSupported, _) => {
            "its description does not let it move: `moves = [\"kernel\"]` in its table does"
        }
        (Error::VersionMismatch, _) => {
            "a package is its content since it was replaced, and only the description's is in both places"
        }
        (Error::Busy, Location::Kernel) => "it is in the kernel domain",
        (Error::Busy, Location::With) => "it is with that one already",
        (Error::Busy, Location::Domain) => "it is in its domain",
        (error, _) => error.text(),
    }
}

impl Job {
    /// Before anybody waits: it is where it was, and what it has in its other place is as at the start.
    pub(super) fn prepare_place(&self, to: Location) -> Result<(), Error> {
        let places = INSTANCES.movable(self.name(), to, "");
        let is_same = places.map(|places| places == (self.instance, self.successor));
        let refused = |error| self.failed(error, words(error, to));
        match is_same {
            Ok(true) => DOMAIN_MEMORY.prepare_place(self.instance).map_err(refused),
            Ok(false) => Err(refused(Error::NotFound)),
            Err(error) => Err(refused(error)),
        }
    }
}
