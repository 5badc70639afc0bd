//! Processor budgets: who can have one, and how many there are.

use crate::model::System;
use crate::report::{Error, Report};
use cairn_abi::record::{BUDGET_THREADS_MAXIMUM, BUDGETS_MAXIMUM};

pub(super) fn check(system: &System, report: &mut Report) {
    let mut count = 0;
    for instance in &system.instances {
        let (Some(cpu), name) = (&instance.cpu, &instance.name) else { continue };
        count += 1;
        if instance.role.is_some() {
            report.push(Error::new(
                &cpu.place,
                format!("`{name}` has a role, and all wait for what it does"),
                "expected an instance without a role",
                "remove `cpu`",
            ));
        }
        if *instance.threads > BUDGET_THREADS_MAXIMUM {
            report.push(Error::new(
                &cpu.place,
                format!("`{name}` has too many threads for a budget"),
                format!(
                    "expected at most {BUDGET_THREADS_MAXIMUM} `threads`, found {}",
                    *instance.threads
                ),
                "give it fewer threads, or remove `cpu`",
            ));
        }
        if count == BUDGETS_MAXIMUM + 1 {
            report.push(Error::new(
                &cpu.place,
                "too many instances have a processor budget",
                format!("expected at most {BUDGETS_MAXIMUM}"),
                "remove `cpu` from some of them",
            ));
        }
    }
}
