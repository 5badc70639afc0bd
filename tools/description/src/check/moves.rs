//! Instances that move: whether each can be in both places, and go from one to the other.

mod guests;

use crate::model::{Destination, Instance, System};
use crate::names::NAME_MAXIMUM;
use crate::place::Place;
use crate::report::{Error, Report};
use crate::units::show_size;
use cairn_abi::address::KERNEL_STACK_SIZE;
use cairn_abi::identifier::INSTANCES_MAXIMUM;

/// Why an instance cannot move.
struct Obstacle<'a> {
    expected: String,
    help: String,
    /// Where the description says so, and what it says.
    note: Option<(&'a Place, String)>,
}

pub(super) fn check(system: &System, report: &mut Report) {
    let moving = system.instances.iter().enumerate();
    let moving = moving.filter_map(|(index, one)| Some((index, one, &one.moves.as_ref()?.place)));
    let mut left = (INSTANCES_MAXIMUM - 1).saturating_sub(system.numbers() as usize);
    for (index, instance, place) in moving {
        let found = obstacle(system, index).or_else(|| no_number(&mut left));
        let Some(Obstacle { expected, help, note }) = found else { continue };
        let error = Error::new(place, format!("`{}` cannot move", instance.name), expected, help);
        report.push(match note {
            Some((place, note)) => error.note(place, note),
            None => error,
        });
    }
}

/// Other places have numbers as instances have.
fn no_number(left: &mut usize) -> Option<Obstacle<'static>> {
    let is_left = *left > 0;
    *left = left.saturating_sub(1);
    (!is_left).then(|| Obstacle {
        expected: format!(
            "expected at most {} instances, components that can be loaded and other places in all",
            INSTANCES_MAXIMUM - 1
        ),
        help: "remove `moves` here, or lower `children`".to_owned(),
        note: None,
    })
}

/// The first that there is.
fn obstacle(system: &System, index: usize) -> Option<Obstacle<'_>> {
    let instance = &system.instances[index];
    let of_instance = of_its_own(system, index);
    let found = of_instance.or_else(|| of_others(system, index));
    let found = found.or_else(|| match instance.moves.as_deref()? {
        Destination::Kernel => of_kernel(system, instance),
        Destination::With(host) => guests::obstacle(system, index, *host),
    });
    found.or_else(|| no_loader(system))
}

fn because<'a>(
    expected: &str,
    help: impl Into<String>,
    place: &'a Place,
    note: impl Into<String>,
) -> Option<Obstacle<'a>> {
    Some(Obstacle {
        expected: format!("expected {expected}"),
        help: help.into(),
        note: Some((place, note.into())),
    })
}

/// What it is.
fn of_its_own(system: &System, index: usize) -> Option<Obstacle<'_>> {
    const REMOVE: &str = "remove `moves`";
    let instance = &system.instances[index];
    if instance.is_in_kernel() {
        return because(
            "an instance that begins in a protection domain",
            "write `placement = \"domain\"`, and let it move to the kernel domain, or remove `moves`",
            &instance.placement.place,
            "it is in the kernel domain from the start",
        );
    }
    if let Some(role) = instance.role {
        let note = format!("it holds the role `{}`", role.key());
        let expected = "an instance without a role: what roles have is laid out for one place";
        return because(expected, REMOVE, &instance.name.place, note);
    }
    if *instance.essential {
        return because(
            "an instance without which the system goes on, since its life ends when it moves",
            "write `essential = false` if the system does without it, or remove `moves`",
            &instance.essential.place,
            "it is essential: the system ends with it",
        );
    }
    if *instance.on_demand {
        return because(
            "an instance that starts at boot",
            "write `start = \"at-boot\"`, or remove `moves`",
            &instance.on_demand.place,
            "it sleeps until the first call",
        );
    }
    if let Some(export) = instance.exports.iter().find(|export| *export.name == "in_place") {
        return because(
            "an instance that has its state in one place only while it lives",
            REMOVE,
            &export.name.place,
            "it is replaced in place, and keeps its state at an address",
        );
    }
    let devices = instance.devices.iter().map(|device| (device, &system.board.devices[**device]));
    let mut reaching = devices.filter(|(_, device)| device.dma);
    if let Some((place, device)) = reaching.next() {
        return because(
            "devices that reach no memory by themselves: what they reach lies in one place",
            REMOVE,
            &place.place,
            format!("`{}` reaches memory", device.shown()),
        );
    }
    let other = system.name_of_other_place(index).unwrap_or_default();
    let more = other.len().saturating_sub(NAME_MAXIMUM);
    if more > 0 {
        return because(
            "a name with room for what tells its other place from it",
            match instance.name.len().checked_sub(more) {
                None | Some(0) => "shorten both".to_owned(),
                Some(length) => format!("shorten it to {length} bytes"),
            },
            &instance.name.place,
            format!("the other place would be called `{other}`"),
        );
    }
    None
}

/// What others have to do with it.
fn of_others(system: &System, index: usize) -> Option<Obstacle<'_>> {
    let instance = &system.instances[index];
    if let Some(fellow) = system.fellows(index).find(|fellow| *fellow != index) {
        let fellow = &system.instances[fellow];
        return because(
            "an instance that is alone in its protection domain",
            "place the two in domains of their own, or remove `moves`",
            &fellow.name.place,
            format!("`{}` is in the same domain", fellow.name),
        );
    }
    if let Some(group) = instance.stack_group {
        return because(
            "an instance that shares its stacks with nobody: they are not its own, and stay where they are",
            "remove `stack_group` here, or `moves`",
            &system.stack_groups[group].name.place,
            "it is in this stack group",
        );
    }
    let mut calls = instance.imports.iter();
    if let Some(itself) = calls.find(|connection| *connection.target == index) {
        return because(
            "an instance that does not call itself by a portal",
            "remove that connection, or `moves`",
            &itself.target.place,
            "this leads to itself",
        );
    }
    let mut wrapped = system.instances.iter().filter(|one| {
        let by = one.wrapped_by.as_ref();
        by.is_some_and(|by| **by == index || one.number == instance.number)
    });
    if let Some(by) = wrapped.next().and_then(|one| one.wrapped_by.as_ref()) {
        return because(
            "an instance that nobody stands before from the start, and that stands before nobody",
            "remove `wrapped_by`, or `moves`; the shell's `wrap` and `unwrap` do it while the system runs",
            &by.place,
            "it would have to be moved as well",
        );
    }
    let mut pagers = system.sections.iter().filter_map(|section| section.pager.as_ref());
    if let Some(pager) = pagers.find(|pager| *pager.instance == index) {
        return because(
            "an instance that provides no section with pages: its faults do not wait",
            "let another one be the pager, or remove `moves`",
            &pager.instance.place,
            "it is the pager of this section",
        );
    }
    if let Some((used, _)) = system.paged(index).next() {
        return because(
            "sections whose pages are there from the start: where it moves a pager mends none of its faults",
            "remove `pager` there, or `moves` here",
            &used.access.place,
            "a pager provides this section",
        );
    }
    let windows = instance.imports.iter().find_map(|connection| connection.windows.as_ref());
    windows.and_then(|windows| {
        because(
            "connections that pass the instance's own memory: of sections it passes nothing where it moves",
            "remove `windows`, or `moves`",
            &windows.place,
            "this passes a section",
        )
    })
}

/// What there is not in the kernel domain.
fn of_kernel<'a>(system: &'a System, instance: &'a Instance) -> Option<Obstacle<'a>> {
    let stacks = [
        (*instance.stack, &instance.stack.place),
        (instance.stacks.size, &instance.stacks.place),
        (*instance.stack_limit, &instance.stack_limit.place),
        (*instance.stacks.limit, &instance.stacks.limit.place),
    ];
    if let Some((size, place)) = stacks.into_iter().find(|(size, _)| *size > KERNEL_STACK_SIZE) {
        return because(
            &format!(
                "stacks of at most {}, which each thread has in the kernel domain",
                show_size(KERNEL_STACK_SIZE)
            ),
            "write a size that fits if it needs no more, or remove `moves`",
            place,
            format!("here it has {}", show_size(size)),
        );
    }
    let scheduler = &system.instances[system.roles.scheduler];
    if *instance.threads > 1 && !scheduler.is_in_kernel() {
        return because(
            &format!(
                "at most 1 thread, since `{}` is in a domain of its own, and begins no others in the kernel domain",
                scheduler.name
            ),
            format!(
                "write `placement = \"kernel\"` for `{}`, lower `threads` if it needs one only, or remove `moves`",
                scheduler.name
            ),
            &instance.threads.place,
            "its threads",
        );
    }
    None
}

/// Who has to be there to move it.
fn no_loader(system: &System) -> Option<Obstacle<'_>> {
    system.roles.loader.is_none().then(|| Obstacle {
        expected: "expected the role `loader` in `[system]`: who holds it moves others".to_owned(),
        help: "extend \"parts/loading\", or remove `moves`".to_owned(),
        note: None,
    })
}
