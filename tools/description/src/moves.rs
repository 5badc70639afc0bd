//! Other places: where an instance that moves goes on in the kernel domain.
//!
//! Each is laid out as an instance that is placed there is, asleep, under a number behind those of the description. It never is an
//! instance: what is promised an instance, and who it is to others, stays with the one that moves.

use crate::model::{Instance, Placement, System};
use crate::place::Located;
use cairn_abi::{DomainId, InstanceId, RegionId};

/// Behind the name of an instance: that of its other place. No instance can be called so.
pub(crate) const OTHER_PLACE: &str = "@kernel";

/// Adds the other places behind the instances, which have been checked.
pub(crate) fn add_other_places(system: &mut System) {
    for index in 0..system.instances.len() {
        let number = system.instances.len() as u16 + 1;
        let Some(other) = other_place(&system.instances[index], index, number) else { continue };
        system.instances[index].other_place = Some(system.instances.len());
        system.instances.push(other);
    }
}

fn other_place(instance: &Instance, index: usize, number: u16) -> Option<Instance> {
    let place = instance.moves.clone()?;
    let mut other = Instance {
        name: instance.name.clone().map(|name| name + OTHER_PLACE),
        number: InstanceId(number),
        domain: DomainId(number),
        region: RegionId(number),
        placement: Located::new(Placement::Kernel, place),
        says_placement: true,
        other_place: Some(index),
        ..instance.clone()
    };
    // Each thread has a stack of its own there.
    (other.stacks.count, other.stacks.declared) = (0, false);
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
}

impl Instance {
    /// Whether it is none, but where one goes on in the kernel domain.
    pub fn is_other_place(&self) -> bool {
        self.other_place.is_some() && self.is_in_kernel()
    }

    /// What the description calls it, or whose other place it is.
    pub fn own_name(&self) -> &str {
        self.name.strip_suffix(OTHER_PLACE).unwrap_or(&self.name)
    }

    /// What to write so that it, or its other place, is not in the kernel domain.
    pub fn out_of_kernel(&self) -> &'static str {
        if self.is_other_place() { "remove `moves`" } else { "write placement = \"domain\"" }
    }
}
