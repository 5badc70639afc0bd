//! Packages: what can be said of them before they are loaded.

use super::roles;
use crate::model::{Package, Role, System};
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
        if has_threads(system, package) {
            // A successor has the priority of whom it replaces, which may be the supervisor or who idles.
            if package.replaces.is_none() {
                roles::check_priority(system, &package.instance, report);
                roles::check_supervisor(system, &package.instance, report);
            }
            roles::check_recovery(system, &package.instance, report);
        }
        check_idle_stop(package, report);
        check_quota(package, report);
        check_paged(system, package, report);
    }
    check_keeper(system, report);
}

/// Whether it runs on threads: a successor of the scheduler does not.
fn has_threads(system: &System, package: &Package) -> bool {
    let replaced = package.replaces.as_ref().and_then(|index| system.instances[**index].role);
    !replaced.is_some_and(Role::runs_to_completion)
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

/// A pager is there before whom it provides with pages, and what it provides stays where it is.
fn check_paged(system: &System, package: &Package, report: &mut Report) {
    let Some(paged) = &package.paged else { return };
    let (name, pager) = (&package.instance.name, &paged.instance);
    if let Some(replaced) = &package.replaces {
        report.push(
            Error::new(
                &paged.name.place,
                format!("the package `{name}` replaces an instance, and has a range with a pager"),
                "expected no `paged`: a range lies where the content says that is replaced",
                "map a section with `pager` in the instance, or remove `paged`",
            )
            .note(&replaced.place, "what it replaces"),
        );
    }
    let role = system.instance(pager).and_then(|index| system.instances[index].role);
    if role.is_some_and(Role::runs_to_completion) {
        report.push(Error::new(
            &pager.place,
            format!("`{pager}` cannot be a pager"),
            "expected an instance that does not run to completion",
            "name an instance whose component exports the interface `Pager`",
        ));
    }
    // Under their own names each would have to be there before the other.
    let by_name = |name: &str| {
        let mut packages = system.packages.iter().filter(|_| system.instance(name).is_none());
        packages.find(|one| *one.instance.name == name)
    };
    let next = |package: &&Package| by_name(&package.paged.as_ref()?.instance);
    let mut chain = core::iter::successors(by_name(pager), next).take(system.packages.len());
    if chain.any(|one| *one.instance.name == **name) {
        report.push(Error::new(
            &pager.place,
            format!("the pages of `{name}` come from itself, by way of its pager"),
            "expected a pager that is there before whom it provides with pages",
            "name an instance of the system, or a package whose pages come from elsewhere",
        ));
    }
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
