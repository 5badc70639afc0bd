//! What the descriptions must hold beyond types and names. Each check reports on its own, so that
//! one run shows all that is wrong.

mod budgets;
mod cycles;
mod demand;
mod devices;
mod dma;
mod growth;
mod loading;
mod moves;
mod packages;
mod pagers;
mod placement;
pub(crate) mod processes;
mod resources;
mod roles;
mod sections;
mod successors;
mod trust;
mod wrapped;

use crate::fellows;
use crate::model::System;
use crate::report::Report;

/// Fills in the defaults that depend on the whole system, then checks it.
pub(crate) fn check(system: &mut System, report: &mut Report) {
    resources::default_stacks(system);
    packages::default_stacks(system);
    fellows::deepen_stacks(system, report);
    placement::check(system, report);
    demand::check(system, report);
    roles::check(system, report);
    resources::check(system, report);
    growth::check(system, report);
    loading::check(system, report);
    moves::check(system, report);
    sections::check(system, report);
    pagers::check(system, report);
    budgets::check(system, report);
    processes::check(system, report);
    devices::check(system, report);
    dma::check(system, report);
    trust::check(system, report);
    cycles::check(system, report);
    wrapped::check(system, report);
    packages::check(system, report);
    successors::check(system, report);
}
