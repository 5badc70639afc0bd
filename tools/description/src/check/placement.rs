//! What an instance in the kernel domain can have and do.

use crate::model::System;
use crate::report::{Error, Report};

/// Whom the description places there.
pub(super) fn check(system: &System, report: &mut Report) {
    for instance in system.instances.iter().filter(|instance| !instance.is_in_kernel()) {
        if *instance.accepts_unsafe_code {
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
        if let Some(group) = instance.stack_group {
            report.push(Error::new(
                &system.stack_groups[group].name.place,
                format!("`{}` runs in the kernel domain and shares no stack", instance.name),
                "expected no `stack_group` here",
                "remove it: each thread has a stack of its own there",
            ));
        }
    }
}
