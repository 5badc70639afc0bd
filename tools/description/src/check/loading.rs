//! Components that are loaded while the system runs: what is left for each of them must be there.

use super::resources::check_sum;
use crate::model::System;
use crate::report::{Error, Report};
use cairn_abi::domain::{ACTIVATIONS_MAXIMUM, GRANULE, GRANULES_MAXIMUM};
use cairn_abi::loadable::{ACTIVATIONS_EACH, PORTAL_CODE_EACH, SECTIONS_EACH};
use cairn_abi::record::NAMES_MAXIMUM;
use cairn_abi::{identifier, memory};

pub(super) fn check(system: &System, report: &mut Report) {
    let loads = || system.instances.iter().filter(|instance| *instance.children > 0);
    let Some(first) = loads().next() else { return };
    let roles = [
        ("memory", system.roles.memory),
        ("portals", system.roles.portals),
        ("names", system.roles.names),
        ("supervisor", system.roles.supervisor),
    ];
    for (role, _) in roles.iter().filter(|(_, holder)| holder.is_none()) {
        report.push(Error::new(
            &first.children.place,
            "nothing can be loaded in this system".to_owned(),
            format!("expected the role `{role}` in `[system]`"),
            "give it to an instance, or remove `children`",
        ));
    }
    // How many of each kind of thing there can be, and what it is that limits them.
    let instances = system.instances.len();
    let stacks: u64 = system.instances.iter().map(|one| u64::from(one.stacks.count) + 1).sum();
    let names: u32 = system.instances.iter().map(|one| *one.names).sum();
    let sections: u32 = system.instances.iter().map(|one| *one.sections_at_run_time).sum();
    let rest = |all: usize, taken: u64| (all as u64).saturating_sub(taken);
    let limits = [
        (
            rest(identifier::INSTANCES_MAXIMUM - 1, instances as u64),
            format!(
                "of {} instances the description has {instances}",
                identifier::INSTANCES_MAXIMUM - 1
            ),
        ),
        (
            rest(ACTIVATIONS_MAXIMUM, stacks) / u64::from(ACTIVATIONS_EACH),
            format!(
                "each has {ACTIVATIONS_EACH} stacks, and of {ACTIVATIONS_MAXIMUM} the description's instances have {stacks}"
            ),
        ),
        (
            rest(NAMES_MAXIMUM, u64::from(names) + instances as u64),
            format!(
                "each may register a name, and of {NAMES_MAXIMUM} the description's instances have {}",
                u64::from(names) + instances as u64
            ),
        ),
        (
            rest(memory::SECTIONS_MAXIMUM, u64::from(sections) + instances as u64) / SECTIONS_EACH,
            format!(
                "each may map {SECTIONS_EACH} sections made at run time, and of {} the description's instances have {}",
                memory::SECTIONS_MAXIMUM,
                u64::from(sections) + instances as u64
            ),
        ),
        (
            GRANULES_MAXIMUM as u64 * GRANULE / PORTAL_CODE_EACH,
            format!("each has {} KiB of portal code", PORTAL_CODE_EACH >> 10),
        ),
    ];
    let (limit, why) = limits.into_iter().min_by_key(|(limit, _)| *limit).expect("limits");
    let parts = loads().map(|one| (u64::from(*one.children), &one.children.place));
    check_sum(parts, limit, report, |place, total| {
        Error::new(
            place,
            "more components may be loaded than the system has room for".to_owned(),
            format!("expected `children` of at most {limit} in all, found {total}"),
            format!("lower them: {why}"),
        )
    });
}
