//! The kernel domain's areas, a line each, and whose their pages are where several harts run: views of harts are then a
//! choice of frames. Today there is one hart, and one frame for each page.

use crate::address::*;
use crate::domain::{activation, stack_queue};

/// On which harts a page of an area is the same frame of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// On all.
    Shared,
    /// Each hart has one of its own at this address.
    OfHart,
    /// What is only read is shared; what is written, each hart has.
    ByRights,
}

/// An area of the kernel domain.
#[derive(Clone, Copy, Debug)]
pub struct KernelArea {
    /// What lies there.
    pub name: &'static str,
    /// First address. It ends where the next one begins.
    pub start: u64,
    /// Whose its pages are.
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
    // The free activations that a hart can take are its own; what an activation is, all harts know.
    stack_queue(0), OfHart, "stack queues";
    activation(0), Shared, "activations";
    COUNTERS, OfHart, "call counters";
    FINISHER, Shared, "finisher";
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
