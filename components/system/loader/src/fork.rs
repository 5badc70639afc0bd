//! The steps of making a copy of an instance that runs. The first that fails undoes those before it.

use super::component::{DOMAIN_MEMORY, DOMAIN_PORTALS};
use super::failure::failed;
use super::load::{begin, check_name, lacking, whole};
use cairn::fork::Point;
use cairn::{Error, InstanceId};

/// Makes a copy of `parent` called `name`, its child, whose portals lead to `intercept` first.
pub fn fork(
    parent: InstanceId,
    name: &str,
    intercept: u64,
    point: Point,
    quotas: u64,
) -> Result<InstanceId, Error> {
    check_name(name)?;
    let made = DOMAIN_MEMORY.fork(parent, name, point.begins, point.stack, quotas);
    let instance = made.map_err(|error| {
        let why = match error {
            Error::NotSupported => "its parent is not alone in a domain of its own",
            Error::BadArgument => "its parent is on a stack for calls, or passed a foreign address",
            error => lacking(error),
        };
        failed(error, format_args!("no memory for `{name}`: {why}"))
    })?;
    let made = copy_portals(instance, intercept, name).and_then(|()| begin(instance, name));
    whole(instance, name, made)
}

fn copy_portals(instance: InstanceId, intercept: u64, name: &str) -> Result<(), Error> {
    let no_portals = |error: Error| {
        let why = match error {
            Error::Exhausted => {
                "its own part of portals, its parent's, or stacks of a server or of its parent do not hold them"
            }
            error => error.text(),
        };
        failed(error, format_args!("no portals for `{name}`: {why}"))
    };
    DOMAIN_PORTALS.add_domain(instance).map_err(no_portals)?;
    let mut from = 0;
    loop {
        from = DOMAIN_PORTALS.fork(instance, intercept, from).map_err(no_portals)?;
        if from == 0 {
            return Ok(());
        }
    }
}
