//! What the system has: the same before an attack and after what died has started again.

use cairn::Error;
use cairn::{DomainId, InstanceId};
use cairn_interfaces::{
    MemoryStatisticsProxy, NamesProxy, PortalListingProxy, SchedulerControlProxy,
};

/// Whom to ask.
#[derive(Clone, Copy)]
pub struct Tellers {
    /// Threads, semaphores, locks.
    pub control: SchedulerControlProxy,
    /// Pages.
    pub memory: MemoryStatisticsProxy,
    /// Portals.
    pub portals: PortalListingProxy,
    /// Names.
    pub names: NamesProxy,
}

/// What there is of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    free_pages: u64,
    code_bytes: u64,
    threads: u64,
    semaphores: u64,
    locks: u64,
    /// Entries of portal tables that lead anywhere.
    portals: u64,
    /// Those of the description and those added at run time.
    names: u64,
}

/// Counts what `describe` tells of, from number 0 on: its value has the number that it told of, or the next
/// one, in the upper 32 bits.
fn count(step: u64, describe: impl Fn(u64, &mut [u8]) -> Result<u64, Error>) -> u64 {
    let (mut number, mut count) = (0, 0);
    while let Ok(answer) = describe(number, &mut [0; 64]) {
        number = (answer >> 32) + step;
        count += 1;
    }
    count
}

impl Tellers {
    /// Asks everyone.
    pub fn measure(&self) -> Measure {
        let part = |words: Result<u64, Error>| words.expect("usage") & 0xffff_ffff;
        let mut measure = Measure {
            free_pages: part(self.memory.usage()),
            code_bytes: part(self.portals.usage()),
            threads: 0,
            semaphores: 0,
            locks: 0,
            portals: 0,
            names: count(0, |number, text| self.names.list(number, text)),
        };
        // No domain has the number behind the last.
        for domain in
            (1..256).take_while(|domain| self.memory.usage_of(InstanceId(*domain)).is_ok())
        {
            let held = self.control.held(InstanceId(domain)).expect("held");
            measure.threads += held & 0xffff;
            measure.semaphores += held >> 16 & 0xffff;
            measure.locks += held >> 32;
            measure.portals +=
                count(1, |index, text| self.portals.describe(DomainId(domain), index, text));
        }
        measure
    }
}
