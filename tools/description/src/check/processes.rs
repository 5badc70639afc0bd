//! Processes: which instances can run some, and whether there are identifiers for all of their address spaces, and addresses for their page
//! tables.

use super::resources::check_sum;
use crate::model::{Pager, System};
use crate::report::{Error, Report};
use crate::units::show_size;
use cairn_abi::address::PROCESSES_SIZE;
use cairn_abi::domain::Tables;
use cairn_abi::process::{FIRST_IDENTIFIER, before_pool};

pub(super) fn check(system: &System, report: &mut Report) {
    for index in 0..system.instances.len() {
        if let Some(error) = obstacle(system, index) {
            report.push(error);
        }
    }
    check_identifiers(system, report);
}

/// The first reason why an instance cannot run its processes.
fn obstacle(system: &System, index: usize) -> Option<Error> {
    let instance = &system.instances[index];
    let processes = instance.processes.as_ref()?;
    let because = |expected, help| instance.cannot_run(processes, expected, help);
    if instance.is_in_kernel() {
        let error = because(
            "an instance in a protection domain of its own",
            "write `placement = \"domain\"`, or remove `processes`",
        );
        return Some(error.note(&instance.placement.place, "it is in the kernel domain"));
    }
    if let Some(role) = instance.role {
        let error = because(
            "an instance without a role, since all wait for what roles do",
            "let an instance without a role run them, and remove `processes` here",
        );
        let note = format!("it holds the role `{}`", role.key());
        return Some(error.note(&instance.name.place, note));
    }
    if let Some(fellow) = system.fellows(index).find(|fellow| *fellow != index) {
        let fellow = &system.instances[fellow];
        let error = because(
            "an instance that is alone in its protection domain",
            "place the two in domains of their own, or remove `processes`",
        );
        let note = format!("`{}` is in the same domain", fellow.name);
        return Some(error.note(&fellow.name.place, note));
    }
    let serves = |pager: &Pager| *pager.instance == index;
    let pager = (0..system.instances.len()).find_map(|client| {
        let mut paged = system.paged(client).map(|(_, pager)| pager);
        paged.find(|pager| client == index || serves(pager))
    });
    if let Some(pager) = pager {
        let error = because(
            "an instance that maps no section with a pager, and is no pager: nobody would keep what its processes have in the floating-point unit",
            "map a section without `pager`, let an instance without processes be the pager, or remove `processes`",
        );
        return Some(error.note(&pager.instance.place, "the pager"));
    }
    let moves = instance.moves.as_ref()?;
    let error = because(
        "an instance that stays where it is: its processes do not move with it",
        "remove `moves`, or `processes`",
    );
    Some(error.note(&moves.place, "it has another place"))
}

/// Each address space has an identifier behind those of domains, unless the board has none.
fn check_identifiers(system: &System, report: &mut Report) {
    let bits = system.board.asid_bits;
    if bits == 0 {
        return;
    }
    let limit = (1u64 << bits).saturating_sub(FIRST_IDENTIFIER);
    let parts = system.processes().map(|processes| (processes.pool.spaces, &processes.place));
    check_sum(parts, limit, report, |place, total| {
        Error::new(
            place,
            format!(
                "the board `{}` has too few address-space identifiers for all processes",
                system.board.name
            ),
            format!(
                "expected `spaces` of at most {limit} in all, found {total}: `asid_bits = {bits}` gives {} identifiers, and the first \
                 {FIRST_IDENTIFIER} are for domains",
                1u64 << bits
            ),
            "lower `spaces`, choose a board with more, or write `asid_bits = 0` in its description: then all have one identifier, \
             and what the harts keep of translations is lost at each change of address space",
        )
    });
}

/// The page tables of all processes have addresses in one area of the kernel domain. How large portal tables are, of which each server has one
/// there, is known when components are connected.
pub(crate) fn check_addresses(system: &System, tables: Tables, report: &mut Report) {
    let parts = system.processes().map(|processes| (processes.area(tables), &processes.place));
    check_sum(parts, PROCESSES_SIZE, report, |place, total| {
        Error::new(
            place,
            "no addresses are left for page tables of processes",
            format!(
                "expected at most {} in all, found {}: 4K for each of the `spaces`, `directories` and `leaves`, and {} for each instance that \
                 runs processes",
                show_size(PROCESSES_SIZE),
                show_size(total),
                show_size(before_pool(tables))
            ),
            "lower `leaves`, `directories` or `spaces`, also of the others",
        )
    });
}
