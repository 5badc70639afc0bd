//! Packages: what can be said of them before they are loaded.

use super::roles;
use crate::model::{Package, System};
use crate::report::{Error, Report};
use crate::units::show_size;

/// Stacks on which a package without `stacks` serves calls: nobody knows who will come.
const STACKS_DEFAULT: u32 = 4;

/// Gives packages without `stacks` some.
pub(super) fn default_stacks(system: &mut System) {
    let packages = system.packages.iter_mut().map(|package| &mut package.instance.stacks);
    for stacks in packages.filter(|stacks| !stacks.declared) {
        stacks.count = STACKS_DEFAULT;
    }
}

pub(super) fn check(system: &System, report: &mut Report) {
    for package in &system.packages {
        roles::check_priority(system, &package.instance, report);
        roles::check_supervisor(system, &package.instance, report);
        roles::check_recovery(system, &package.instance, report);
        check_idle_stop(package, report);
        check_quota(package, report);
    }
    check_keeper(system, report);
}

fn check_idle_stop(package: &Package, report: &mut Report) {
    let instance = &package.instance;
    let Some(idle_stop) = instance.idle_stop.as_ref().filter(|_| !*instance.on_demand) else {
        return;
    };
    report.push(Error::new(
        &idle_stop.place,
        format!("`{}` would not start again after it was stopped", instance.name),
        "expected `start = \"on-demand\"` beside it",
        "write it, or remove `idle_stop`",
    ));
}

fn check_quota(package: &Package, report: &mut Report) {
    let instance = &package.instance;
    // Whether it takes those that nobody asked for, its component says. A successor has those of whom it replaces.
    let has_own = instance.stacks.declared && package.replaces.is_none();
    let count = if has_own { instance.stacks.count } else { 0 };
    let stacks = u64::from(count) * instance.stacks.size;
    let needed = *instance.heap + *instance.stack + stacks + instance.sections_memory();
    if needed <= *instance.memory {
        return;
    }
    report.push(Error::new(
        &instance.memory.place,
        format!("the memory of the package `{}` does not hold its heap and stacks", instance.name),
        format!("expected at least {}, found {}", show_size(needed), show_size(*instance.memory)),
        format!(
            "raise `memory`, or lower what it holds: the heap of {}, the first thread's stack of {}, the stacks for callers ({}) of \
             {} in all, and the program itself on top",
            show_size(*instance.heap),
            show_size(*instance.stack),
            count,
            show_size(stacks)
        ),
    ));
}

/// Somebody has to see what is on the shelf.
fn check_keeper(system: &System, report: &mut Report) {
    let Some((_, first)) = system.shelf().next() else { return };
    if system.roles.shelf_keeper.is_some() || system.roles.loader.is_some() {
        return;
    }
    report.push(Error::new(
        &first.instance.name.place,
        "nobody reads the shelf of this system",
        "expected an instance with the role `shelf_keeper`, which serves the packages",
        "write `shelf_keeper = \"shelf\"` in `[system]`, and an instance `shelf` of the component \"shelf\"; or remove `shelf`",
    ));
}
