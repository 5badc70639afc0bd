//! The interfaces by which a role commands others: whoever has one has the system. So they are open to the roles that
//! need them, and beyond that to instances of which the description says that they are trusted.

use crate::model::{Export, Open, Role, System};
use crate::place::Place;
use crate::report::{Error, Report};
use cairn_loader::Descriptor;

/// An interface that commands.
struct Control {
    /// Its name.
    interface: &'static str,
    /// The role whose instance it commands through.
    role: Role,
    /// Roles that cannot do without it.
    needed_by: &'static [Role],
    /// What a client of it can do.
    power: &'static str,
    /// Every instance that the description names may have it: it is made for people's commands.
    for_commands: bool,
}

const fn control(
    interface: &'static str,
    role: Role,
    needed_by: &'static [Role],
    power: &'static str,
) -> Control {
    Control { interface, role, needed_by, power, for_commands: false }
}

/// All of them. Beside these, an instance that holds a role serves its clients within their quotas.
const CONTROLS: [Control; 18] = [
    control(
        "Supervision",
        Role::Scheduler,
        &[Role::Supervisor],
        "start, stop and end threads of every component",
    ),
    control(
        "SchedulerObjects",
        Role::Scheduler,
        &[Role::Portals],
        "take the semaphores and locks of every component",
    ),
    // The nucleus enters here: what is passed is taken for the truth.
    control("SchedulerUpcalls", Role::Scheduler, &[], "make faults and timers up"),
    control("InterruptUpcalls", Role::Interrupts, &[], "make interrupts up"),
    control(
        "InterruptControl",
        Role::Interrupts,
        &[Role::Supervisor],
        "silence the device of every driver",
    ),
    control(
        "InterruptSignals",
        Role::Scheduler,
        &[Role::Interrupts],
        "wake the driver of every device",
    ),
    control(
        "MemoryControl",
        Role::Memory,
        &[Role::Supervisor],
        "take the memory of every component",
    ),
    control(
        "PortalControl",
        Role::Portals,
        &[Role::Supervisor],
        "take the portals of every component",
    ),
    control(
        "DomainMemory",
        Role::Memory,
        &[Role::Loader, Role::Supervisor],
        "make components, and put into them what it wants",
    ),
    control(
        "DomainPortals",
        Role::Portals,
        &[Role::Loader, Role::Supervisor],
        "connect new components, and take the portals of every component",
    ),
    control(
        "InstanceControl",
        Role::Supervisor,
        &[Role::Loader],
        "start new components, and end every one for good",
    ),
    // A letter keeps its meaning until the machine stops, and there are 26 for all.
    control("ParameterTypes", Role::Portals, &[], "give letters of all portals their meaning"),
    control("Connections", Role::Portals, &[], "stand between any component and what it calls"),
    control("Interposition", Role::Portals, &[], "let anybody stand between any others"),
    control(
        "NameControl",
        Role::Names,
        &[Role::Portals],
        "add and take names of every component, and say who may open them",
    ),
    control(
        "DeviceControl",
        Role::Devices,
        &[Role::Supervisor],
        "reset the devices of every component",
    ),
    Control {
        for_commands: true,
        ..control(
            "Logs",
            Role::Logs,
            &[],
            "read the logs of every component, and choose their levels",
        )
    },
    Control {
        for_commands: true,
        ..control("Supervisor", Role::Supervisor, &[], "end every component, and the machine")
    },
];

/// Reports who gets an interface that commands though neither its role nor the description allows it.
pub(crate) fn check(system: &System, components: &[Option<&Descriptor>], report: &mut Report) {
    for (server, component) in components.iter().enumerate() {
        let Some(role) = system.instances[server].role else { continue };
        for export in &system.instances[server].exports {
            let served = component.and_then(|component| {
                component.exports.iter().find(|candidate| candidate.name == *export.name)
            });
            let found = served.and_then(|served| {
                CONTROLS.iter().find(|control| {
                    control.role == role && control.interface == served.interface.name
                })
            });
            if let Some(control) = found {
                check_export(system, server, export, control, report);
            }
        }
    }
}

fn check_export(
    system: &System,
    server: usize,
    export: &Export,
    control: &Control,
    report: &mut Report,
) {
    let name = format!("{}.{}", system.instances[server].name, export.name);
    let clients = match (&export.open, &export.open_place) {
        (Open::Anyone, Some(place)) => {
            report.push(Error::new(
                place,
                format!("with `{name}` every component could {}", control.power),
                "expected names of instances, not \"*\"",
                "name those that need it, or leave `open` out: then it is open to those that are connected to it",
            ));
            return;
        }
        (Open::Anyone, None) => return,
        (Open::Instances(clients), _) => clients,
    };
    let allowed = |client: &&usize| {
        let client = &system.instances[**client];
        control.for_commands
            || *client.trusted
            || client.role.is_some_and(|role| control.needed_by.contains(&role))
    };
    for client in clients.iter().filter(|client| !allowed(client)) {
        let place = place(system, server, export, *client);
        let client = &system.instances[*client].name;
        report.push(Error::new(
            &place,
            format!("with `{name}` the instance `{client}` could {}", control.power),
            match control.needed_by {
                [] => "expected a trusted instance".to_owned(),
                roles => format!("expected the {}, or a trusted instance", list(roles)),
            },
            format!(
                "write `trusted = true` in `[instance.{}]` if it may have everything, or leave this out",
                client.place.text()
            ),
        ));
    }
}

/// Where the description gives the export to a client: its connection, or the server's `open`.
fn place(system: &System, server: usize, export: &Export, client: usize) -> Place {
    let exports = &system.instances[server].exports;
    let connection = system.instances[client].imports.iter().find(|connection| {
        *connection.target == server && *exports[*connection.export].name == *export.name
    });
    match (connection, &export.open_place) {
        (Some(connection), _) => connection.target.place.clone(),
        (None, Some(place)) => place.clone(),
        (None, None) => export.name.place.clone(),
    }
}

/// The instances of roles, as messages call them.
fn list(roles: &[Role]) -> String {
    let names = roles.iter().map(|role| format!("instance with the role `{}`", role.key()));
    names.collect::<Vec<_>>().join(" or the ")
}
