//! Instances that are started by the first call into them.

use crate::model::System;
use crate::report::{Error, Report};

/// Whom the description starts so.
pub(super) fn check(system: &System, report: &mut Report) {
    for instance in &system.instances {
        let name = &instance.name;
        if let (Some(idle_stop), false) = (&instance.idle_stop, *instance.on_demand) {
            report.push(Error::new(
                &idle_stop.place,
                format!("`{name}` would not start again after it was stopped"),
                "expected `start = \"on-demand\"` beside it",
                "write it, or remove `idle_stop`",
            ));
        }
        if !*instance.on_demand {
            continue;
        }
        if system.roles.supervisor.is_none() {
            report.push(Error::new(
                &instance.on_demand.place,
                format!("nobody starts `{name}`"),
                "expected a system with a supervisor",
                "remove `start`, or give the role away: supervisor = \"supervisor\" in `[system]`",
            ));
        }
        if *instance.essential {
            report.push(Error::new(
                &instance.on_demand.place,
                format!("`{name}` is essential, and has to be there from the start"),
                "expected an instance without a role that is not `essential`",
                "remove `start`",
            ));
        }
    }
}
