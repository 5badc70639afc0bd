//! Packages that replace an instance: whether the content of that one can be exchanged while it runs.

use crate::model::{Instance, Role, Section, StackMode, System};
use crate::place::{Located, Place};
use crate::report::{Error, Report};
use crate::units::show_size;
use std::borrow::Cow;

/// Why an instance cannot be replaced.
struct Obstacle<'a> {
    expected: &'static str,
    help: Cow<'static, str>,
    /// Where the description says so, and what it says.
    place: &'a Place,
    note: String,
}

pub(super) fn check(system: &System, report: &mut Report) {
    for (package, replaced) in system.successors() {
        let shared = || shared(system, **replaced, &package.instance);
        let Some(obstacle) = obstacle(system, **replaced).or_else(shared) else { continue };
        let name = &system.instances[**replaced].name;
        report.push(
            Error::new(
                &replaced.place,
                format!("`{name}` cannot be replaced by `{}`", package.instance.name),
                obstacle.expected,
                obstacle.help,
            )
            .note(obstacle.place, obstacle.note),
        );
    }
}

/// What to write so that an instance opens an export to the loader of which its description says nothing.
fn open_to_loader(system: &System, instance: &Instance, export: &str) -> String {
    let loader = system.roles.loader.map(|loader| system.instances[loader].name.as_str());
    let table = instance.write_into(&format!("exports.{export}"), None);
    format!("{table}: open = [\"{}\"]", loader.unwrap_or("loader"))
}

/// Whether an instance gives way while it is in use.
fn gives_way(instance: &Instance) -> bool {
    matches!(instance.role, Some(Role::Scheduler | Role::Interrupts | Role::Idle))
}

/// The first that there is.
fn obstacle(system: &System, index: usize) -> Option<Obstacle<'_>> {
    let instance = &system.instances[index];
    // Whoever keeps its state in place has no end of its life.
    let in_place = instance.exports.iter().find(|export| *export.name == "in_place");
    if instance.role == Some(Role::Loader) && in_place.is_none() {
        return Some(Obstacle {
            expected: "expected an export `in_place` of the loader that is open to itself: who replaces others goes on while it is replaced",
            help: format!(
                "{}, and below it longest_call = \"20ms\"; or remove this package",
                open_to_loader(system, instance, "in_place")
            )
            .into(),
            place: &instance.name.place,
            note: "it holds the role `loader`".to_owned(),
        });
    }
    if *instance.essential && in_place.is_none() && !gives_way(instance) {
        return Some(Obstacle {
            expected: "expected an instance without which the system goes on, since its life ends when it is replaced, or one with an export `in_place`",
            help: format!(
                "write `essential = false` if the system does without it; or, if its component exports `in_place`, {}; or remove this \
                 package",
                open_to_loader(system, instance, "in_place")
            )
            .into(),
            place: &instance.essential.place,
            note: "it is essential: the system ends with it".to_owned(),
        });
    }
    if let Some(export) = in_place.filter(|one| !*instance.essential && one.longest_call.is_none())
    {
        return Some(Obstacle {
            expected: "expected an export `in_place` that says how long it may take: who replaces the others would wait for a successor that never answers",
            help: "write `longest_call = \"20ms\"` for that export, or remove this package".into(),
            place: &export.name.place,
            note: "it may take as long as it likes".to_owned(),
        });
    }
    if instance.is_in_kernel() {
        return Some(Obstacle {
            expected: "expected an instance in a protection domain of its own",
            help: "write `placement = \"domain\"` there, or remove this package".into(),
            place: &instance.placement.place,
            note: "it is placed in the kernel domain".to_owned(),
        });
    }
    let board = &system.board.devices;
    // Those of one domain end together.
    let all = system.fellows(index).flat_map(|fellow| &system.instances[fellow].devices);
    let mut reaching = all.map(|device| (device, &board[**device]));
    if let Some((place, device)) = reaching.find(|(_, one)| one.dma && one.kind().is_none()) {
        return Some(Obstacle {
            expected: "expected devices that are reset before the successor comes, or reach no memory by themselves",
            help: "name a virtio device by its kind, as \"virtio-blk\"; or remove this package"
                .into(),
            place: &place.place,
            note: format!("`{}` reaches memory, and nobody can reset it", device.shown()),
        });
    }
    let clients = system.instances.iter().flat_map(|client| &client.imports);
    let is_of = |target: usize| system.fellows(index).any(|fellow| fellow == target);
    let mut calls = clients.filter(|connection| is_of(*connection.target));
    if let Some(shared) = calls.find(|connection| *connection.stack == StackMode::Shared) {
        return Some(Obstacle {
            expected: "expected an instance all of whose clients wait for one of its own stacks",
            help: "leave the stack of that connection to the default, or remove this package"
                .into(),
            place: &shared.stack.place,
            note: "this client calls it on its own stack".to_owned(),
        });
    }
    paged(system, index)
}

/// The first that there is because others are in the domain, and end with it.
fn shared<'a>(system: &'a System, index: usize, successor: &'a Instance) -> Option<Obstacle<'a>> {
    system.fellows(index).nth(1)?;
    let of = &system.instances[index];
    let in_place = of.exports.iter().find(|export| *export.name == "in_place");
    let in_place =
        in_place.map(|export| (&export.name.place, "it goes on while it is replaced".to_owned()));
    let gives_way =
        gives_way(of).then(|| (&of.name.place, "it gives way while it is in use".to_owned()));
    let mut all = system.fellows(index).map(|fellow| &system.instances[fellow]);
    let loader = all.find(|fellow| fellow.role == Some(Role::Loader)).map(|loader| {
        (
            &loader.name.place,
            format!("`{}`, which replaces the others, would end with it", loader.name),
        )
    });
    if let Some((place, note)) = in_place.or(gives_way).or(loader) {
        return Some(Obstacle {
            expected: "expected an instance that is alone in its protection domain",
            help: "place it in a domain of its own, or remove this package".into(),
            place,
            note,
        });
    }
    for fellow in system.fellows(index) {
        let provides = |section: &&Section| {
            section.pager.as_ref().is_some_and(|pager| *pager.instance == fellow)
        };
        let stands = |by: &&Located<usize>| ***by == fellow;
        let pager = system.sections.iter().find(provides).and_then(|one| one.pager.as_ref());
        let wraps = system.instances.iter().filter_map(|one| one.wrapped_by.as_ref());
        let place = pager.map(|pager| &pager.instance.place);
        let place = place.or_else(|| wraps.clone().find(stands).map(|by| &by.place));
        if let Some(place) = place {
            return Some(Obstacle {
                expected: "expected that no pager and no interposer is in its domain",
                help: "give that one a domain of its own, or remove this package".into(),
                place,
                note: format!(
                    "`{}` ends with `{}`",
                    system.instances[fellow].name, system.instances[index].name
                ),
            });
        }
    }
    let (instance, stacks) = (&system.instances[index], &successor.stacks);
    (stacks.size > instance.stacks.size).then(|| Obstacle {
        expected: "expected stacks that are no larger, since who calls it in its domain, without a portal, has counted on that",
        help: "write smaller `stacks` for this package, or larger ones for that instance".into(),
        place: &stacks.place,
        note: format!("its stacks; those of `{}` have {} with those of whom it calls there", instance.name, show_size(instance.stacks.size)),
    })
}

/// The first that there is because of the sections whose pages it provides.
fn paged(system: &System, index: usize) -> Option<Obstacle<'_>> {
    let pager = |section: usize| system.sections[section].pager.as_ref();
    let provides = |section: usize| pager(section).is_some_and(|one| *one.instance == index);
    let section = (0..system.sections.len()).find(|section| provides(*section))?;
    let hands_over =
        system.instances[index].exports.iter().any(|export| *export.name == "successor");
    if !hands_over {
        return Some(Obstacle {
            expected: "expected an export `successor`, by which it hands over what its clients have",
            help: format!(
                "if its component exports `successor`, {}; or remove this package",
                open_to_loader(system, &system.instances[index], "successor")
            )
            .into(),
            place: &pager(section)?.instance.place,
            note: "it is the pager of this section".to_owned(),
        });
    }
    let clients = system.instances.iter().filter(|client| {
        let is_loader = client.role == Some(Role::Loader);
        is_loader || *client.essential
    });
    let mut uses = clients.flat_map(|client| &client.sections);
    uses.find(|used| provides(used.section)).map(|used| Obstacle {
        expected: "expected that nobody misses its pages who replaces it, or without whom the system ends",
        help: "take the section from that instance, or remove this package".into(),
        place: &used.access.place,
        note: "this one would wait for its own work".to_owned(),
    })
}
