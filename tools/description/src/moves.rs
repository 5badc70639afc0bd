//! Other places: where an instance that moves goes on, in the kernel domain or in the page table of another.
//!
//! Each is laid out, asleep, under a number behind those of the description: in the kernel domain as an instance that is placed there is, in a page table
//! of another with what is not the same in both. It never is an instance: what is promised an instance, and who it is to others, stays with the one that moves.

use crate::draft::DestinationDraft;
use crate::model::{Destination, Instance, Placement, System};
use crate::place::Located;
use crate::report::Report;
use crate::resolve::find_instance;
use cairn_abi::{DomainId, InstanceId, RegionId};

/// Between the name of an instance and that of where its other place is. No instance has it in its name.
const MARK: char = '@';

/// Finds where instances go on that move.
pub(crate) fn resolve(
    instances: &mut [Instance],
    moves: Vec<Option<Located<DestinationDraft>>>,
    names: &[Located<String>],
    report: &mut Report,
) {
    for (instance, moves) in instances.iter_mut().zip(moves) {
        let Some(moves) = moves else { continue };
        let destination = match &*moves {
            DestinationDraft::Kernel => Some(Destination::Kernel),
            DestinationDraft::With(name) => {
                find_instance(name, names, report).map(Destination::With)
            }
        };
        instance.moves = destination.map(|found| Located::new(found, moves.place));
    }
}

/// Adds the other places behind the instances, which have been checked.
pub(crate) fn add_other_places(system: &mut System) {
    for index in 0..system.instances.len() {
        let number = system.instances.len() as u16 + 1;
        let Some(other) = other_place(system, index, number) else { continue };
        system.instances[index].other_place = Some(system.instances.len());
        system.instances.push(other);
    }
}

fn other_place(system: &System, index: usize, number: u16) -> Option<Instance> {
    let instance = &system.instances[index];
    let moves = instance.moves.as_ref().filter(|_| !instance.is_other_place())?;
    let name = system.name_of_other_place(index)?;
    let (placement, region) = match **moves {
        Destination::Kernel => (Placement::Kernel, RegionId(number)),
        // The same addresses.
        Destination::With(_) => (Placement::Domain, instance.region),
    };
    let mut other = Instance {
        name: instance.name.clone().map(|_| name),
        number: InstanceId(number),
        domain: DomainId(number),
        region,
        placement: Located::new(placement, moves.place.clone()),
        says_placement: true,
        other_place: Some(index),
        ..instance.clone()
    };
    if placement == Placement::Kernel {
        // Each thread has a stack of its own there.
        (other.stacks.count, other.stacks.declared) = (0, false);
    }
    for quota in [
        &mut other.threads,
        &mut other.semaphores,
        &mut other.locks,
        &mut other.children,
        &mut other.portals,
        &mut other.names,
        &mut other.sections_at_run_time,
        &mut other.share,
    ] {
        quota.value = 0;
    }
    other.cpu = None;
    // Nobody starts it but a move.
    other.on_demand.value = true;
    Some(other)
}

impl System {
    /// The instances of the description, without other places.
    pub fn described(&self) -> &[Instance] {
        let described = self.instances.iter().position(Instance::is_other_place);
        &self.instances[..described.unwrap_or(self.instances.len())]
    }

    /// Who an instance is to others: itself, or whose other place it is.
    pub fn identity(&self, index: usize) -> usize {
        let instance = &self.instances[index];
        instance.other_place.filter(|_| instance.is_other_place()).unwrap_or(index)
    }

    /// Of an instance that moves: what its other place is called.
    pub(crate) fn name_of_other_place(&self, index: usize) -> Option<String> {
        let instance = &self.instances[index];
        let place = match **instance.moves.as_ref()? {
            Destination::Kernel => "kernel",
            Destination::With(host) => &*self.instances[host].name,
        };
        Some(format!("{}{MARK}{place}", instance.name))
    }

    /// Whether others move into the page table of an instance.
    pub fn has_guests(&self, index: usize) -> bool {
        self.instances.iter().any(|instance| instance.host() == Some(index))
    }
}

impl Instance {
    /// Whether it is none, but where one goes on that moves. It stands behind that.
    pub fn is_other_place(&self) -> bool {
        self.other_place.is_some_and(|other| other + 1 < usize::from(self.number.0))
    }

    /// In whose page table one that moves goes on, or its other place is, as an index into [`System::instances`].
    pub fn host(&self) -> Option<usize> {
        match self.moves.as_deref() {
            Some(Destination::With(host)) => Some(*host),
            _ => None,
        }
    }

    /// What the description calls it, or whose other place it is.
    pub fn own_name(&self) -> &str {
        self.name.split_once(MARK).map_or(&self.name, |(own, _)| own)
    }

    /// What to write so that it, or its other place, is not in the kernel domain.
    pub fn out_of_kernel(&self) -> &'static str {
        if self.is_other_place() { "remove `moves`" } else { "write placement = \"domain\"" }
    }
}
