//! Roles, restarting, and priorities.

use crate::model::{Instance, Restart, Role, System};
use crate::report::{Error, Report};

pub(super) fn check(system: &System, report: &mut Report) {
    for instance in &system.instances {
        check_restart(instance, report);
        check_calls(system, instance, report);
        check_priority(system, instance, report);
        check_supervisor(system, instance, report);
        check_recovery(system, instance, report);
    }
    check_watch(system, report);
}

fn check_restart(instance: &Instance, report: &mut Report) {
    // Restarting is done by the supervisor, which itself calls these: a restart of one of them
    // would wait for it.
    let needed_to_restart = match instance.role {
        Some(Role::Scheduler) => Some("the scheduler"),
        Some(Role::Supervisor) => Some("the supervisor"),
        Some(Role::Memory) => Some("the memory manager"),
        Some(Role::Portals) => Some("the portal manager"),
        Some(Role::Names) => Some("the name server"),
        Some(Role::Devices) => Some("the device owner"),
        Some(Role::Interrupts | Role::Idle | Role::Logs | Role::ShelfKeeper | Role::Loader)
        | None => None,
    };
    let always_essential = needed_to_restart.is_some();
    if always_essential && !*instance.essential {
        report.push(Error::new(
            &instance.essential.place,
            format!("`{}` cannot be less than essential", instance.name),
            format!("expected `true` for {}", needed_to_restart.unwrap_or_default()),
            "remove the key: without it no component could be restarted",
        ));
    }
    if (*instance.essential || always_essential) && *instance.restart != Restart::Never {
        let error = Error::new(
            &instance.restart.place,
            format!("`{}` is essential and cannot be restarted", instance.name),
            "expected \"never\"",
            match needed_to_restart {
                Some(who) => format!("remove `restart`: a fault of {who} halts the system"),
                None => "a fault of an essential instance halts the system: remove `restart`, or \
                         write `essential = false`"
                    .to_owned(),
            },
        );
        // A default's place is the instance's own.
        let explicit = instance.essential.place.range() != instance.name.place.range();
        report.push(match (explicit, *instance.essential) {
            (true, true) => error.note(&instance.essential.place, "essential"),
            (true, false) => error,
            (false, _) => error.note(&instance.name.place, "instances with a role are essential"),
        });
    }
}

/// What runs to completion has interrupts off and can wait for nobody. The dispatcher may call the
/// scheduler, which ends in a switch; any other call could come back to a stack in use.
fn check_calls(system: &System, instance: &Instance, report: &mut Report) {
    let runs_to_completion = instance.role.is_some_and(Role::runs_to_completion);
    for connection in instance.imports.iter().filter(|_| runs_to_completion) {
        let target = &system.instances[*connection.target];
        if instance.role == Some(Role::Interrupts) && target.role == Some(Role::Scheduler) {
            continue;
        }
        report.push(Error::new(
            &connection.target.place,
            format!(
                "`{}` runs with interrupts off and cannot call `{}`",
                instance.name, target.name
            ),
            match instance.role {
                Some(Role::Interrupts) => "expected a call of the scheduler",
                _ => "expected no imports of the scheduler",
            },
            "remove the connection; whoever needs to be told can wait on a semaphore",
        ));
    }
}

/// What the supervisor sees of other threads must not change under it.
pub(super) fn check_supervisor(system: &System, instance: &Instance, report: &mut Report) {
    let Some(supervisor) = system.roles.supervisor.map(|index| &system.instances[index]) else {
        return;
    };
    let runs_to_completion = instance.role.is_some_and(Role::runs_to_completion);
    let has_threads = *instance.threads > 0 && !runs_to_completion;
    let is_below = *instance.priority < *supervisor.priority;
    if instance.number == supervisor.number || !has_threads || is_below {
        return;
    }
    report.push(
        Error::new(
            &instance.priority.place,
            format!(
                "threads of `{}` would run before or beside those of `{}`",
                instance.name, supervisor.name
            ),
            format!("expected a priority below {}", supervisor.priority),
            format!("lower this priority, or raise that of `{}`", supervisor.name),
        )
        .note(&supervisor.priority.place, "the supervisor's priority"),
    );
}

/// What cleans up after an instance is the supervisor's own thread.
pub(super) fn check_recovery(system: &System, instance: &Instance, report: &mut Report) {
    let recovery = &instance.recovery_priority;
    // The default is the instance's priority, of which the other checks speak.
    if recovery.place.range() == instance.priority.place.range() {
        return;
    }
    let Some(supervisor) = system.roles.supervisor.map(|index| &system.instances[index]) else {
        report.push(Error::new(
            &recovery.place,
            format!("nobody recovers `{}`", instance.name),
            "expected a system with a supervisor",
            "remove the key, or give the role away: supervisor = \"supervisor\" in `[system]`",
        ));
        return;
    };
    let idle = system.roles.idle.map_or(0, |idle| *system.instances[idle].priority);
    if **recovery <= idle || **recovery > *supervisor.priority {
        report.push(
            Error::new(
                &recovery.place,
                format!("`{}` cannot be recovered at this priority", instance.name),
                format!("expected {} to {}", idle + 1, supervisor.priority),
                "remove the key: without it the instance's own priority is the highest",
            )
            .note(&supervisor.priority.place, "the supervisor's priority"),
        );
    }
}

/// Threads of the supervisor: the worker, the printer, and the watch if there are limits to watch.
const SUPERVISOR_THREADS: u32 = 3;

fn check_watch(system: &System, report: &mut Report) {
    let exports = system.instances.iter().flat_map(|instance| &instance.exports);
    let mut limits = exports
        .filter_map(|export| export.longest_execution.as_ref().or(export.longest_call.as_ref()));
    let Some(limit) = limits.next() else { return };
    let Some(supervisor) = system.roles.supervisor.map(|index| &system.instances[index]) else {
        return report.push(Error::new(
            &limit.place,
            "nobody watches this limit",
            "expected a supervisor in the system, which does",
            "name one in [system] (supervisor = \"supervisor\") and write its instance, or remove the limit",
        ));
    };
    if *supervisor.threads >= SUPERVISOR_THREADS {
        return;
    }
    report.push(
        Error::new(
            &supervisor.threads.place,
            format!("`{}` cannot watch calls and print reports", supervisor.name),
            format!(
                "expected at least {SUPERVISOR_THREADS} threads, since an export declares a limit"
            ),
            format!("write threads = {SUPERVISOR_THREADS} for `{}`", supervisor.name),
        )
        .note(&limit.place, "a limit that somebody has to watch"),
    );
}

pub(super) fn check_priority(system: &System, instance: &Instance, report: &mut Report) {
    let Some(idle) = system.roles.idle.map(|idle| &system.instances[idle]) else {
        return;
    };
    // The scheduler and the dispatcher have no thread that could be held up.
    let runs_to_completion = instance.role.is_some_and(Role::runs_to_completion);
    if instance.number == idle.number || runs_to_completion || *instance.priority > *idle.priority {
        return;
    }
    report.push(
        Error::new(
            &instance.priority.place,
            format!("`{}` would never run, or share its time with `{}`", instance.name, idle.name),
            format!("expected a priority above {}", idle.priority),
            format!("raise this priority, or lower that of `{}`", idle.name),
        )
        .note(&idle.priority.place, "the idle instance's priority"),
    );
}
