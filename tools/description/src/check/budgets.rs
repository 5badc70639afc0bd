//! Processor budgets: who can have one, and how many there are.

use crate::model::System;
use crate::report::{Error, Report};
use cairn_abi::record::{BUDGET_THREADS_MAXIMUM, BUDGETS_MAXIMUM};

/// Most interrupts of the timer in a second that budgets may need, if all are used up and begin anew in each period.
const INTERRUPTS_MAXIMUM: u64 = 20_000;
const SECOND: u64 = 1_000_000_000;

pub(super) fn check(system: &System, report: &mut Report) {
    let (mut count, mut interrupts) = (0, 0);
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
        // The scheduler counts in whole ticks: of less than one nothing is left.
        if cpu.budget / 1000 * system.board.time_base < 1_000_000 {
            report.push(Error::new(
                &cpu.place,
                format!("`{name}` would never run"),
                format!(
                    "expected a budget of at least {}us, a tick of the board",
                    1_000_000u64.div_ceil(system.board.time_base)
                ),
                "give it a longer budget, and period, or remove `cpu`",
            ));
        }
        // A look when it is used up and one when it begins anew, and each thread that follows both.
        let before = interrupts;
        interrupts += (2 + 2 * u64::from(*instance.threads)) * (SECOND / cpu.period.max(1));
        if before <= INTERRUPTS_MAXIMUM && interrupts > INTERRUPTS_MAXIMUM {
            report.push(Error::new(
                &cpu.place,
                "the processor budgets take too many interrupts of the timer",
                format!(
                    "expected at most {INTERRUPTS_MAXIMUM} in a second, found {interrupts} with this one"
                ),
                "give it a longer period, or fewer threads: in each period it can be 2, and 2 for each thread",
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
