//! Who stands between an instance and its clients from the first call on (`wrapped_by`).
//!
//! An interposer stands there once its own first thread has registered where calls enter it. So that nobody calls before, this thread is more
//! urgent than those of all others that could; it begins before them, and is through before they run.

use crate::model::{Instance, Role, System};
use crate::place::Located;
use crate::report::{Error, Report};

pub(super) fn check(system: &System, report: &mut Report) {
    for (index, server) in system.instances.iter().enumerate() {
        let Some(by) = &server.wrapped_by else { continue };
        match cannot_stand(system, (index, server), by) {
            Some((expected, help)) => report.push(Error::new(
                &by.place,
                format!(
                    "`{}` cannot stand between `{}` and its clients",
                    system.instances[**by].name, server.name
                ),
                format!("expected {expected}"),
                help,
            )),
            None => check_priority(system, server, by, report),
        }
    }
}

/// What is expected instead, and what to do.
fn cannot_stand(
    system: &System,
    (index, server): (usize, &Instance),
    by: &Located<usize>,
) -> Option<(&'static str, String)> {
    let interposer = &system.instances[**by];
    let name = &interposer.name;
    if system.fellows(index).any(|fellow| fellow == **by) {
        return Some((
            "another instance, in another domain",
            format!("name another one, or give `{name}` a domain of its own"),
        ));
    }
    if interposer.is_in_kernel() || interposer.role.is_some_and(Role::runs_to_completion) {
        return Some((
            "an instance in a protection domain that does not run to completion",
            "name another one, in a protection domain".to_owned(),
        ));
    }
    let Some(portals) = system.roles.portals else {
        return Some((
            "a system with the role `portals`",
            format!("extend \"parts/names\", or remove `wrapped_by` of `{}`", server.name),
        ));
    };
    if !interposer.imports.iter().any(|import| *import.target == portals) {
        return Some((
            "an interposer: a component that is connected to the portal manager, where it registers as one",
            format!(
                "name another one, or write in `[instance.{name}.imports]`: portals = \"{}.portals\"",
                system.instances[portals].name
            ),
        ));
    }
    if *interposer.on_demand || *interposer.threads == 0 {
        return Some((
            "an instance whose first thread starts at boot",
            format!("write in `[instance.{name}]`: start = \"at-boot\", threads = 1"),
        ));
    }
    None
}

fn check_priority(system: &System, server: &Instance, by: &Located<usize>, report: &mut Report) {
    let interposer = &system.instances[**by];
    // What the system cannot do without is not wrapped.
    let could_call =
        |one: &&Instance| !*one.essential && *one.threads > 0 && one.number != interposer.number;
    let others = system.instances.iter().filter(could_call);
    let Some(first) = others.max_by_key(|one| *one.priority) else { return };
    if *interposer.priority > *first.priority {
        return;
    }
    report.push(
        Error::new(
            &by.place,
            format!(
                "calls could reach `{}` before `{}` stands before it",
                server.name, interposer.name
            ),
            format!(
                "expected a first thread above {}, the priority of `{}`, found {}",
                *first.priority, first.name, *interposer.priority
            ),
            format!(
                "write in `[instance.{}]`: priority = {}; calls that go through it keep their own",
                interposer.name,
                first.priority.saturating_add(1)
            ),
        )
        .note(&interposer.priority.place, "its priority"),
    );
}
