//! What an instance in the kernel domain can have and do.

use crate::model::{Destination, Instance, Role, System};
use crate::report::{Error, Report};
use crate::units::show_size;
use cairn_abi::address::KERNEL_STACK_SIZE;

/// Whom the description places there.
pub(super) fn check(system: &System, report: &mut Report) {
    for instance in system.instances.iter().filter(|instance| !instance.is_in_kernel()) {
        let moves_there = instance.moves.as_deref() == Some(&Destination::Kernel);
        if *instance.accepts_unsafe_code && !moves_there {
            report.push(Error::new(
                &instance.accepts_unsafe_code.place,
                format!("`{}` does not run in the kernel domain", instance.name),
                "expected no `trust` here",
                "remove it: in a protection domain of its own unsafe code reaches nothing of others",
            ));
        }
    }
    for instance in system.instances.iter().filter(|instance| instance.is_in_kernel()) {
        if instance.stacks.declared {
            report.push(Error::new(
                &instance.stacks.place,
                format!(
                    "`{}` runs in the kernel domain and has no stacks for callers",
                    instance.name
                ),
                "expected no `stacks` here",
                "remove it: each thread has a stack of its own there",
            ));
        }
        // One that runs to completion has a stack of its own there, too.
        let on_threads_stack = !instance.role.is_some_and(Role::runs_to_completion);
        if on_threads_stack && *instance.stack > KERNEL_STACK_SIZE {
            report.push(
                Error::new(
                    &instance.stack.place,
                    format!("`{}` has no stack of this size in the kernel domain", instance.name),
                    format!(
                        "expected at most {}, which each thread has there",
                        show_size(KERNEL_STACK_SIZE)
                    ),
                    "write placement = \"domain\", or a `stack` that fits if it needs no more",
                )
                .note(&instance.placement.place, "its placement"),
            );
        }
        if let Some(group) = instance.stack_group {
            report.push(Error::new(
                &system.stack_groups[group].name.place,
                format!("`{}` runs in the kernel domain and shares no stack", instance.name),
                "expected no `stack_group` here",
                "remove it: each thread has a stack of its own there",
            ));
        }
        check_threads(system, instance, report);
    }
}

/// A scheduler in a domain of its own begins one thread of each instance in the kernel domain, where the layout says.
fn check_threads(system: &System, instance: &Instance, report: &mut Report) {
    if *instance.threads <= 1 || system.schedules_in_kernel() {
        return;
    }
    let scheduler = &system.instances[system.roles.scheduler];
    report.push(
        Error::new(
            &instance.threads.place,
            format!("`{}` runs in the kernel domain and has one thread there", instance.name),
            format!(
                "expected at most 1 thread, since `{}` is in a domain of its own, and begins no others in the kernel domain",
                scheduler.name
            ),
            format!(
                "write `placement = \"kernel\"` for `{}` too, place `{}` in a domain, or lower `threads` if it needs one only",
                scheduler.name, instance.name
            ),
        )
        .note(&instance.placement.place, "it is placed there"),
    );
}
