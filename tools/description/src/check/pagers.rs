//! Sections whose pages a pager provides: who can miss pages, and who can provide them.

use crate::model::{Role, System};
use crate::report::{Error, Report};

pub(super) fn check(system: &System, report: &mut Report) {
    for section in &system.sections {
        let Some(pager) = &section.pager else { continue };
        let target = &system.instances[*pager.instance];
        if target.role.is_some_and(Role::runs_to_completion) {
            report.push(Error::new(
                &pager.instance.place,
                format!("`{}` cannot be a pager", target.name),
                "expected an instance that does not run to completion",
                "name an instance whose component exports the interface `Pager`",
            ));
        }
    }
    for (index, instance) in system.instances.iter().enumerate() {
        for (used, pager) in system.paged(index) {
            let section = &system.sections[used.section];
            let (found, expected) = if instance.is_in_kernel() {
                ("in the kernel domain", "an instance in a protection domain")
            } else if instance.role.is_some() {
                // What mends faults would wait for itself.
                ("with a role", "an instance without a role")
            } else if system.fellows(index).any(|fellow| fellow == *pager.instance) {
                ("its pager itself, or in that one's domain", "an instance of another domain")
            } else {
                continue;
            };
            report.push(
                Error::new(
                    &used.access.place,
                    format!(
                        "`{}` cannot miss pages of the section `{}`",
                        instance.name, section.name
                    ),
                    format!("expected {expected}, found one that is {found}"),
                    "map a section without `pager`, whose pages are there from the start",
                )
                .note(&pager.instance.place, "the pager"),
            );
        }
    }
}
