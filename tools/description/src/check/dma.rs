//! Devices that reach memory by themselves: whoever drives one has all memory, unless it is confined.

use crate::model::{Instance, Role, System};
use crate::place::Located;
use crate::report::{Error, Report};

pub(super) fn check(system: &System, report: &mut Report) {
    for (index, instance) in system.instances.iter().enumerate() {
        for device in &instance.devices {
            match system.is_confined(index, **device) {
                true => check_alone(system, instance, device, report),
                false => check_reach(system, instance, device, report),
            }
        }
        check_memory(system, instance, report);
        check_fellows(system, index, report);
    }
    check_owner(system, report);
}

fn say_trusted(instance: &Instance) -> String {
    format!("write `trusted = true` in `[instance.{}]` if it may have everything", instance.table())
}

/// The registers of a confined driver's device are mapped for reading only, and its owner writes them.
fn check_alone(system: &System, instance: &Instance, device: &Located<usize>, report: &mut Report) {
    let this = &system.board.devices[**device];
    let mut others =
        system.board.devices_in(this.pages()).filter(|other| other.name.value != this.name.value);
    let Some(other) = others.next() else { return };
    report.push(
        Error::new(
            &device.place,
            format!("`{}` and `{}` lie in the same page", this.shown(), other.shown()),
            "expected a device alone in its pages, since its driver is confined and only reads them",
            format!("{}; or choose another device", say_trusted(instance)),
        )
        .note(&other.name.place, "the other device"),
    );
}

/// Whoever has a device that reaches memory by itself has all memory, the nucleus' too: no page table is asked.
fn check_reach(system: &System, instance: &Instance, device: &Located<usize>, report: &mut Report) {
    let this = &system.board.devices[**device];
    let name = this.shown();
    // Memory is given by pages: with a device come all others that lie in its pages.
    let Some(reaching) = system.board.devices_in(this.pages()).find(|other| other.dma) else {
        return;
    };
    if *instance.trusted {
        return;
    }
    let beside = match reaching.name.value == this.name.value {
        true => String::new(),
        false => format!(", in whose pages lies `{}`,", reaching.shown()),
    };
    let is_slot = this.virtio.is_some();
    let trusted = say_trusted(instance);
    report.push(
        Error::new(
            &device.place,
            format!("with `{name}`{beside} the instance `{}` could read and write all memory", instance.name),
            "expected a device that cannot reach memory by itself, or a trusted instance",
            match is_slot {
                true => format!("name it by its kind, as \"virtio-blk\": then its driver is confined; or {trusted}"),
                false => format!(
                    "{trusted}; or, if this device has no DMA, `dma = false` in the board description"
                ),
            },
        )
        .note(
            &reaching.name.place,
            match is_slot {
                true => "the device: whatever is plugged in there",
                false => "the device; without `dma = false` it is taken to have DMA",
            },
        ),
    );
}

/// A device of a known kind gets what it reads and writes from `dma`, which is there for nothing else.
fn check_memory(system: &System, instance: &Instance, report: &mut Report) {
    let devices = || instance.devices.iter().map(|at| (at, &system.board.devices[**at]));
    if *instance.dma == 0 {
        let Some((device, this)) = devices().find(|(_, device)| device.kind().is_some()) else {
            return;
        };
        report.push(Error::new(
            &device.place,
            format!("`{}` has no memory that `{}` could reach", instance.name, this.shown()),
            "expected `dma` beside this device",
            format!(
                "write for example `dma = \"64K\"` in `[instance.{}]`: of its `memory`, what the device reads and writes",
                instance.table()
            ),
        ));
    } else if !devices().any(|(_, device)| device.dma) {
        report.push(Error::new(
            &instance.dma.place,
            format!("no device of `{}` reaches memory", instance.name),
            "expected `dma` only where `devices` has a device with DMA",
            "remove it, or name the device",
        ));
    }
}

/// What one of a protection domain has, all have: its page table and its portals are theirs. In the kernel domain a component has
/// only what its source says.
fn check_fellows(system: &System, index: usize, report: &mut Report) {
    let instance = &system.instances[index];
    let holds_role = |one: &Instance| one.role.is_some_and(|role| role != Role::Idle);
    if *instance.trusted || holds_role(instance) || instance.is_in_kernel() {
        return;
    }
    let mut fellows = system.fellows(index).map(|fellow| &system.instances[fellow]);
    // Beside the holder of a role it has been reported.
    if system.fellows(index).any(|fellow| holds_role(&system.instances[fellow])) {
        return;
    }
    let Some(fellow) = fellows.find(|fellow| *fellow.trusted) else { return };
    report.push(
        Error::new(
            &instance.name.place,
            format!("`{}` is in one domain with `{}`", instance.name, fellow.name),
            "expected `trusted = true` of all in a domain or of none, since each has what all have",
            "write it here too if that is meant, or give one of them another domain",
        )
        .note(&fellow.trusted.place, format!("`{}` is trusted", fellow.name)),
    );
}

/// Somebody has to set the devices up whose drivers cannot, and to reset them when these end.
fn check_owner(system: &System, report: &mut Report) {
    let known = |device: &&Located<usize>| system.board.devices[***device].kind().is_some();
    let mut instances = system.instances.iter();
    let driver = instances.find_map(|one| Some((one, one.devices.iter().find(known)?)));
    let Some((driver, device)) = driver else { return };
    let shown = system.board.devices[**device].shown();
    let Some(owner) = system.roles.devices else {
        report.push(Error::new(
            &device.place,
            format!("nobody sets `{shown}` up"),
            "expected a system with a device owner",
            "write `devices = \"...\"` in `[system]`, naming the device owner's instance",
        ));
        return;
    };
    // Without that a device would reach memory of which the supervisor disposes.
    let Some(supervisor) = system.roles.supervisor.map(|index| &system.instances[index]) else {
        return;
    };
    if !supervisor.imports.iter().any(|connection| *connection.target == owner) {
        report.push(Error::new(
            &device.place,
            format!("nobody resets `{shown}` when `{}` ends", driver.name),
            "expected a supervisor that is connected to the device owner",
            format!(
                "{}: devices = \"{}.control\"",
                supervisor.write_into("imports", supervisor.import_place()),
                system.instances[owner].name
            ),
        ));
    }
}
