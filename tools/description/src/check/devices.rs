//! Devices: each belongs to one instance, and only the dispatcher touches the interrupt controller.

use crate::model::{Instance, System};
use crate::place::Located;
use crate::report::{Error, Report};
use crate::units::show_size;
use cairn_abi::address::{DEVICES_OFFSET, PAGE_SIZE, REGION_SIZE};
use cairn_abi::startup::DEVICES_MAXIMUM;

pub(super) fn check(system: &System, report: &mut Report) {
    let mut given: Vec<(&Instance, &Located<usize>)> = Vec::new();
    for instance in &system.instances {
        if let Some(device) = instance.devices.get(DEVICES_MAXIMUM) {
            report.push(Error::new(
                &device.place,
                format!("`{}` has too many devices", instance.name),
                format!("expected at most {DEVICES_MAXIMUM}, found {}", instance.devices.len()),
                "divide the devices among several instances",
            ));
        }
        check_addresses(system, instance, report);
        for device in &instance.devices {
            check_owner(system, instance, device, &given, report);
            check_interrupt(system, instance, device, report);
            check_access(system, instance, device, report);
            given.push((instance, device));
        }
    }
    check_dispatcher(system, report);
}

/// Registers lie at the end of their driver's region, each device's behind a page without access.
fn check_addresses(system: &System, instance: &Instance, report: &mut Report) {
    let size = |device: &Located<usize>| {
        let pages = system.board.devices[**device].pages();
        pages.end - pages.start + PAGE_SIZE
    };
    let room = REGION_SIZE - DEVICES_OFFSET;
    let all: u64 = instance.devices.iter().map(size).sum();
    let mut sum = 0;
    let over = instance.devices.iter().find(|device| {
        sum += size(device);
        sum > room
    });
    if let Some(device) = over {
        report.push(Error::new(
            &device.place,
            format!(
                "the registers of all devices of `{}` do not fit into its region",
                instance.name
            ),
            format!("expected at most {} in all, found {}", show_size(room), show_size(all)),
            "divide the devices among several instances",
        ));
    }
}

fn check_owner(
    system: &System,
    instance: &Instance,
    device: &Located<usize>,
    given: &[(&Instance, &Located<usize>)],
    report: &mut Report,
) {
    let this = &system.board.devices[**device];
    if let Some((owner, place)) = given.iter().find(|(_, other)| ***other == **device) {
        report.push(
            Error::new(
                &device.place,
                format!("device `{}` is given twice", this.name),
                "expected a device that nobody has yet",
                if owner.number == instance.number {
                    "remove one of the two".to_owned()
                } else {
                    format!("remove it here or from `{}`", owner.name)
                },
            )
            .note(&place.place, format!("given to `{}`", owner.name)),
        );
        return;
    }
    let pages = this.pages();
    let neighbour = given.iter().find(|(owner, other)| {
        let other = system.board.devices[***other].pages();
        owner.number != instance.number && pages.start < other.end && other.start < pages.end
    });
    if let Some((owner, place)) = neighbour {
        let other = &system.board.devices[***place].name;
        report.push(
            Error::new(
                &device.place,
                format!("devices `{}` and `{other}` lie in the same page", this.name),
                "expected a device that shares no page with another instance's",
                format!("memory is protected by pages: give both to `{}`", owner.name),
            )
            .note(&place.place, format!("given to `{}`", owner.name)),
        );
    }
}

fn check_interrupt(
    system: &System,
    instance: &Instance,
    device: &Located<usize>,
    report: &mut Report,
) {
    let this = &system.board.devices[**device];
    if !this.interrupts.is_empty() && system.roles.interrupts.is_none() {
        report.push(Error::new(
            &device.place,
            format!("nobody takes the interrupt of `{}`", this.name),
            "expected a system with an interrupt dispatcher",
            "write `interrupts = \"...\"` in `[system]`, naming the dispatcher's instance",
        ));
    }
    let controller = system.board.interrupts.as_ref().map(|controller| controller.device);
    if controller == Some(**device) && system.roles.interrupts != Some(instance.number.index() - 1)
    {
        report.push(Error::new(
            &device.place,
            format!("`{}` is the interrupt controller", this.name),
            "expected it only in the devices of the interrupt dispatcher",
            match system.roles.interrupts {
                Some(dispatcher) => {
                    format!("give it to `{}`", system.instances[dispatcher].name)
                }
                None => format!("write `interrupts = \"{}\"` in `[system]`", instance.name),
            },
        ));
    }
}

/// Registers that do not answer user mode are for drivers in the kernel domain.
fn check_access(
    system: &System,
    instance: &Instance,
    device: &Located<usize>,
    report: &mut Report,
) {
    let this = &system.board.devices[**device];
    let name = this.shown();
    if !this.user_access && !instance.is_in_kernel() {
        let is_controller = system
            .board
            .interrupts
            .as_ref()
            .is_some_and(|controller| controller.device == **device);
        let holder = match is_controller {
            true => format!("the interrupt dispatcher `{}`", instance.name),
            false => format!("its driver `{}`", instance.name),
        };
        report.push(
            Error::new(
                &device.place,
                format!("`{name}` of the board `{}` refuses user mode", system.board.name),
                format!("expected {holder} in the kernel domain, where alone it could reach its registers"),
                format!(
                    "write `placement = \"kernel\"` in `[instance.{}]`, or choose another board",
                    instance.table()
                ),
            )
            .note(&this.name.place, "`user_access = false`"),
        );
    }
}

fn check_dispatcher(system: &System, report: &mut Report) {
    let Some(dispatcher) = system.roles.interrupts else {
        return;
    };
    let dispatcher = &system.instances[dispatcher];
    let Some(controller) = &system.board.interrupts else {
        report.push(Error::new(
            &dispatcher.name.place,
            format!("the board `{}` has no interrupt controller", system.board.name),
            "expected no interrupt dispatcher on such a board",
            "remove `interrupts` from `[system]`, or add `[interrupts]` to the board description",
        ));
        return;
    };
    if !dispatcher.devices.iter().any(|device| **device == controller.device) {
        let name = system.board.devices[controller.device].shown();
        report.push(Error::new(
            &dispatcher.name.place,
            format!("the interrupt dispatcher `{}` has no interrupt controller", dispatcher.name),
            format!("expected the device `{name}` among its devices"),
            format!("write `devices = [\"{name}\"]`"),
        ));
    }
}
