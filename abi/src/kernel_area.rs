//! The kernel domain's areas, a line each. Each says whether its pages would be shared by several harts or each hart's own,
//! so that a view for each hart is a choice of frames. Today there is one hart, and one frame for each page.

use crate::address::*;
use crate::domain::{activation, stack_queue};
use crate::grant::limits;
use crate::parameter_data::data_word;

/// Whether several harts have the same frames for the pages of an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// All harts have the same.
    Shared,
    /// Each hart has frames of its own at these addresses.
    OfHart,
    /// Pages that cannot be written are shared; of writable ones each hart has its own.
    ByRights,
}

/// An area of the kernel domain.
#[derive(Clone, Copy, Debug)]
pub struct KernelArea {
    /// What lies there.
    pub name: &'static str,
    /// First address. It ends where the next one begins.
    pub start: u64,
    /// Whether its pages are shared.
    pub sharing: Sharing,
}

macro_rules! areas {
    ($($start:expr, $sharing:ident, $name:literal;)*) => {
        /// All areas, by address.
        pub const KERNEL_AREAS: &[KernelArea] =
            &[$(KernelArea { name: $name, start: $start, sharing: Sharing::$sharing }),*];
    };
}

areas! {
    NUCLEUS, ByRights, "nucleus";
    PORTAL_CODE, Shared, "portal code";
    THREADS, OfHart, "threads";
    DOMAINS, Shared, "domain blocks";
    PAGE_TABLES, Shared, "page tables";
    STACK_ALIASES, Shared, "stack aliases";
    SEMAPHORES, OfHart, "semaphores";
    // Each hart has queues of its own, from which it takes activations; the descriptors are the same for all.
    stack_queue(0), OfHart, "stack queues";
    limits(0), Shared, "limits of grants";
    data_word(0), Shared, "data of parameter types";
    activation(0), Shared, "activations";
    COUNTERS, OfHart, "call counters";
    FINISHER, Shared, "finisher";
    KERNEL_STACKS, OfHart, "kernel stacks";
    DEVICES, Shared, "devices";
    DEVICE_RINGS, Shared, "rings of devices";
    PROCESSES, Shared, "servers of processes";
    KERNEL_VIEWS, Shared, "views of roles";
    KERNEL_REGIONS, Shared, "instances in the kernel";
}

const _: () = {
    let mut index = 0;
    while index < KERNEL_AREAS.len() {
        assert!(KERNEL_AREAS[index].start.is_multiple_of(PAGE_SIZE), "no page is in two areas");
        assert!(index == 0 || KERNEL_AREAS[index - 1].start < KERNEL_AREAS[index].start);
        index += 1;
    }
};

impl KernelArea {
    /// The area that has an address; none below the first.
    pub fn of(address: u64) -> Option<&'static KernelArea> {
        KERNEL_AREAS.iter().rfind(|area| address >= area.start)
    }

    /// Whether each hart has a frame of its own for a page with these rights.
    pub const fn is_of_hart(&self, writable: bool) -> bool {
        match self.sharing {
            Sharing::Shared => false,
            Sharing::OfHart => true,
            Sharing::ByRights => writable,
        }
    }
}
