//! What an instance in the kernel domain can have and do.

use crate::model::{Instance, System};
use crate::place::Place;
use crate::report::{Error, Report};
use cairn_loader::Descriptor;

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
        let here = &instance.placement.place;
        let device = instance.devices.first().map(|device| &device.place);
        let section = instance.sections.first().map(|section| &section.access.place);
        let import = instance.imports.first().map(|import| &import.import.place);
        for (place, what) in [
            (instance.role.map(|_| here), "holds a role"),
            (device, "has devices"),
            (section, "has sections"),
            (import, "calls others"),
        ] {
            if let Some(place) = place {
                report.push(not_yet(instance, place, what));
            }
        }
    }
}

/// What their components are.
pub(crate) fn check_components(
    system: &System,
    components: &[Option<&Descriptor>],
    report: &mut Report,
) {
    let placed = system.instances.iter().zip(components);
    for (instance, component) in placed.filter(|(instance, _)| instance.is_in_kernel()) {
        let Some(component) = component else { continue };
        if component.main.is_some() {
            report.push(not_yet(instance, &instance.placement.place, "has a main function"));
        }
        let methods = component.exports.iter().flat_map(|export| &export.interface.methods);
        if let Some(method) = methods.into_iter().find(|method| method.letters.contains(['r', 'w']))
        {
            let what = format!("takes memory in `{}`", method.name);
            report.push(not_yet(instance, &instance.placement.place, &what));
        }
    }
}

fn not_yet(instance: &Instance, place: &Place, what: &str) -> Error {
    Error::new(
        place,
        format!("`{}` {what}, which is not possible in the kernel domain yet", instance.name),
        "expected a component that serves words and calls nobody",
        "place it in a protection domain of its own: placement = \"domain\"",
    )
}
