//! Instances that have one domain: in user mode by `placement = { with = "NAME" }`, in the kernel domain by `fate = "NAME"`.

use crate::draft::Shares;
use crate::model::{Instance, Restart, Role, System};
use crate::place::Located;
use crate::report::{Error, Report};
use crate::resolve::find_instance;
use crate::units::show_size;
use cairn_abi::address::ACTIVATION_STACK_MAXIMUM;
use cairn_abi::domain::FELLOWS_MAXIMUM;

/// Gives instances the domain that they share, and what a domain has but once: whether it ends the system, and its new start.
/// `shares` is what each says, and its `restart` if it says one.
pub(crate) fn join(
    instances: &mut [Instance],
    shares: &[(Option<Shares>, Option<Located<Restart>>)],
    names: &[Located<String>],
    report: &mut Report,
) {
    for index in 0..instances.len() {
        let leader = match &shares[index].0 {
            None => continue,
            Some(Shares::With(name)) => leader(index, name, instances, shares, names, report),
            Some(Shares::Fate(name)) => shares.iter().position(
                |(other, _)| matches!(other, Some(Shares::Fate(other)) if **other == **name),
            ),
        };
        let Some(leader) = leader else { continue };
        instances[index].domain = instances[leader].number_as_domain();
        if let (Some(restart), true) = (&shares[index].1, index != leader)
            && **restart != *instances[leader].restart
        {
            report.push(
                Error::new(
                    &restart.place,
                    format!(
                        "`{}` and `{}` end and start again together",
                        instances[index].name, instances[leader].name
                    ),
                    "expected the same `restart` of both",
                    format!("remove it: what `{}` says holds for both", instances[leader].name),
                )
                .note(&instances[leader].name.place, "the other"),
            );
        }
    }
    for leader in 0..instances.len() {
        let domain = instances[leader].number_as_domain();
        let fellows = (0..instances.len()).filter(|index| instances[*index].domain == domain);
        let fellows: Vec<usize> = fellows.collect();
        if let (1, Some(Shares::Fate(name))) = (fellows.len(), &shares[leader].0) {
            report.push(Error::new(
                &name.place,
                format!("nobody shares the fate `{name}` with `{}`", instances[leader].name),
                "expected at least two instances with it",
                format!("write `fate = \"{name}\"` in another instance too, or remove it"),
            ));
        }
        if fellows.len() > 1 {
            check(&fellows, instances, report);
            unite(&fellows, leader, instances);
        }
    }
}

/// The instance in whose domain `index` is, behind all that are in another's themselves.
fn leader(
    index: usize,
    name: &Located<String>,
    instances: &[Instance],
    shares: &[(Option<Shares>, Option<Located<Restart>>)],
    names: &[Located<String>],
    report: &mut Report,
) -> Option<usize> {
    let mut leader = find_instance(name, names, report)?;
    for _ in 0..instances.len() {
        match &shares[leader].0 {
            Some(Shares::With(next)) => {
                leader = names.iter().position(|other| **other == **next)?;
            }
            _ if instances[leader].is_in_kernel() => {
                report.push(
                    Error::new(
                        &name.place,
                        format!(
                            "`{}` is in the kernel domain, not in a protection domain of its own",
                            instances[leader].name
                        ),
                        "expected an instance in user mode",
                        format!(
                            "write placement = \"kernel\" for `{}` too; to end together and call each other without a \
                             frame, give both the same `fate`",
                            instances[index].name
                        ),
                    )
                    .note(&instances[leader].placement.place, "its placement"),
                );
                return None;
            }
            _ => return Some(leader),
        }
    }
    report.push(Error::new(
        &name.place,
        format!("`{}` is in nobody's domain", instances[index].name),
        "expected that one of those that name each other has a domain of its own",
        "write placement = \"domain\" for one of them",
    ));
    None
}

/// What none of one domain can have.
fn check(fellows: &[usize], instances: &[Instance], report: &mut Report) {
    if let Some(surplus) = fellows.get(FELLOWS_MAXIMUM) {
        report.push(Error::new(
            &instances[*surplus].placement.place,
            format!("too many instances in the domain of `{}`", instances[fellows[0]].name),
            format!("expected at most {FELLOWS_MAXIMUM}, found {}", fellows.len()),
            "place some of them in another domain",
        ));
    }
    let mut roles = fellows.iter().map(|index| &instances[*index]);
    let role = roles.find(|one| one.role.is_some_and(|role| role != Role::Idle));
    for instance in fellows.iter().map(|index| &instances[*index]) {
        if let (Some(holder), None, false) = (role, instance.role, *instance.trusted)
            && !instance.is_in_kernel()
        {
            report.push(
                Error::new(
                    &instance.name.place,
                    format!("`{}` is in one domain with `{}`", instance.name, holder.name),
                    "expected `trusted = true`, since it has whatever gives that one its role",
                    "write it if that is meant, or give it another domain",
                )
                .note(&holder.name.place, "the holder of a role"),
            );
        }
        if instance.role.is_some_and(Role::runs_to_completion) {
            report.push(Error::new(
                &instance.name.place,
                format!("`{}` runs to completion and shares its domain with nobody", instance.name),
                "expected an instance whose calls run with interrupts on",
                "give it a domain of its own: placement = \"domain\" or \"kernel\", without `fate`",
            ));
        }
        if instance.stack_group.is_some() {
            report.push(Error::new(
                &instance.name.place,
                format!("`{}` shares its domain, and its stacks as well", instance.name),
                "expected no `stack_group` here",
                "remove it: inside a domain all calls run on the stack of their caller",
            ));
        }
    }
}

/// Gives all of a domain what it has but once: if one ends the system, all do; they start again as the leader says.
fn unite(fellows: &[usize], leader: usize, instances: &mut [Instance]) {
    let essential = fellows.iter().any(|index| *instances[*index].essential);
    let restart = instances[leader].restart.clone();
    let on_demand = *instances[leader].on_demand;
    let idle_stop = instances[leader].idle_stop.clone();
    let recoveries = fellows.iter().map(|index| *instances[*index].recovery_priority);
    let recovery = recoveries.max().unwrap_or(0);
    for index in fellows {
        let instance = &mut instances[*index];
        instance.restart = restart.clone();
        instance.essential.value = essential;
        instance.on_demand.value = on_demand;
        instance.idle_stop = idle_stop.clone();
        instance.recovery_priority.value = recovery;
    }
}

/// Makes the stacks of those in one domain as deep as the calls are that run on them: by what a call of each fellow takes that
/// can be reached.
pub(crate) fn deepen_stacks(system: &mut System, report: &mut Report) {
    let deeper: Vec<(usize, u64)> = (0..system.instances.len())
        .filter(|index| !system.instances[*index].is_in_kernel())
        .map(|index| (index, calls_inside(system, index)))
        .filter(|(_, inside)| *inside > 0)
        .collect();
    for (index, inside) in deeper {
        let instance = &mut system.instances[index];
        let sizes = [&mut instance.stack.value, &mut instance.stacks.size];
        let mut deepest = 0;
        for size in sizes {
            *size += inside;
            deepest = deepest.max(*size);
        }
        if deepest > ACTIVATION_STACK_MAXIMUM {
            report.push(Error::new(
                &instance.name.place,
                format!("the calls of `{}` inside its domain have no room on its stacks", instance.name),
                format!(
                    "expected stacks of at most {}, found {} with those of whom it calls",
                    show_size(ACTIVATION_STACK_MAXIMUM),
                    show_size(deepest)
                ),
                "make them smaller: of this instance `stack` and `stacks` (16K each if it says nothing), `stacks = { count = 1, size = \"8K\" }` of those that it calls",
            ));
        }
    }
}

/// Bytes of the stacks of all fellows that calls of an instance reach without leaving its domain.
fn calls_inside(system: &System, index: usize) -> u64 {
    let domain = system.instances[index].domain;
    let mut reached = vec![index];
    let mut next = 0;
    while let Some(at) = reached.get(next) {
        let targets = system.instances[*at].imports.iter().map(|connection| *connection.target);
        for target in targets.filter(|target| system.instances[*target].domain == domain) {
            if !reached.contains(&target) {
                reached.push(target);
            }
        }
        next += 1;
    }
    reached[1..].iter().map(|fellow| system.instances[*fellow].stacks.size).sum()
}
