//! Instances that move into the page table of another: whether the two can share memory for a while.

use super::{Obstacle, because};
use crate::model::{Access, Instance, Section, SectionUse, System};

/// The first that there is.
pub(super) fn obstacle(system: &System, index: usize, host: usize) -> Option<Obstacle<'_>> {
    const ANOTHER: &str = "name another instance, or remove `moves`";
    let (instance, with) = (&system.instances[index], &system.instances[host]);
    if host == index {
        let place = &instance.name.place;
        return because("another instance", ANOTHER, place, "this is the same");
    }
    if with.is_in_kernel() {
        return because(
            "an instance in a protection domain",
            "write `moves = [\"kernel\"]`, or place the other in a domain",
            &with.placement.place,
            format!("`{}` is in the kernel domain", with.name),
        );
    }
    if let Some(role) = with.role {
        return because(
            "an instance without a role: what roles see is not for whoever is in the same page table",
            ANOTHER,
            &with.name.place,
            format!("`{}` holds the role `{}`", with.name, role.key()),
        );
    }
    if let Some(moves) = &with.moves {
        return because(
            "an instance that stays where it is",
            ANOTHER,
            &moves.place,
            format!("`{}` moves itself", with.name),
        );
    }
    if let Some(processes) = &with.processes {
        return because(
            "an instance without processes: who runs some shares its page table with nobody",
            ANOTHER,
            &processes.place,
            format!("`{}` runs processes", with.name),
        );
    }
    if let Some(fellow) = system.fellows(host).find(|fellow| *fellow != host) {
        let fellow = &system.instances[fellow];
        return because(
            "an instance that is alone in its protection domain",
            "place the two in domains of their own, or remove `moves`",
            &fellow.name.place,
            format!("`{}` is in the domain of `{}`", fellow.name, with.name),
        );
    }
    if let Some(group) = with.stack_group {
        return because(
            "an instance that shares its stacks with nobody: these are in its page table",
            "remove `stack_group` there, or `moves` here",
            &system.stack_groups[group].name.place,
            format!("`{}` is in this stack group", with.name),
        );
    }
    if *instance.trusted != *with.trusted {
        let trusted = if *instance.trusted { instance } else { with };
        return because(
            "both `trusted = true`, or none: what the one reaches the other reaches as well",
            "write it for both if that is meant, or remove `moves`",
            &trusted.trusted.place,
            format!("`{}` is trusted", trusted.name),
        );
    }
    instance.sections.iter().find_map(|used| of_section(system, (index, host), used))
}

/// A section whose one mapping would not do for all that are there.
fn of_section<'a>(
    system: &'a System,
    (index, host): (usize, usize),
    used: &'a SectionUse,
) -> Option<Obstacle<'a>> {
    let with = &system.instances[host];
    let section: &Section = &system.sections[used.section];
    let of = |instance: &'a Instance| {
        instance.sections.iter().find(|other| other.section == used.section)
    };
    if let Some(other) = of(with) {
        let is_more = (*used.access, *other.access) == (Access::ReadWrite, Access::Read);
        return is_more.then_some(()).and_then(|()| {
            because(
                &format!(
                    "no more access to the section `{}` than `{}` has, whose mapping is for both",
                    section.name, with.name
                ),
                "map it in the same way, or remove `moves`",
                &other.access.place,
                format!("`{}` reads it only", with.name),
            )
        });
    }
    let mut guests = system.instances.iter().enumerate();
    let (_, guest) = guests.find(|(other, guest)| {
        *other != index && guest.host() == Some(host) && of(guest).is_some()
    })?;
    because(
        &format!(
            "sections that `{}` maps as well, or that no other maps that moves there",
            with.name
        ),
        format!("map `{}` in `{}` too, or remove `moves`", section.name, with.name),
        &of(guest)?.access.place,
        format!("`{}`, which moves there, maps `{}`", guest.name, section.name),
    )
}
