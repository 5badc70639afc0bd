//! What the system has: the same before an attack and after what died has started again.

use cairn::{Error, InstanceId};
use cairn_interfaces::{
    MemoryStatisticsProxy, NamesProxy, PortalListingProxy, SchedulerStatisticsProxy,
};

/// Whom to ask.
#[derive(Clone, Copy)]
pub struct Tellers {
    /// Threads, semaphores, locks.
    pub scheduling: SchedulerStatisticsProxy,
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

/// Counts what `describe` tells of, from number 0 on: behind the text's length it says the number that it told of, or
/// the next one.
fn count(step: u64, describe: impl Fn(u64, &mut [u8]) -> Result<(usize, u64), Error>) -> u64 {
    let (mut number, mut count) = (0, 0);
    while let Ok((_, described)) = describe(number, &mut [0; 64]) {
        number = described + step;
        count += 1;
    }
    count
}

impl Tellers {
    /// Asks everyone.
    pub fn measure(&self) -> Measure {
        let mut measure = Measure {
            free_pages: self.memory.usage().expect("usage").0,
            code_bytes: self.portals.usage().expect("usage").0,
            threads: 0,
            semaphores: 0,
            locks: 0,
            portals: 0,
            names: count(0, |number, text| self.names.list(number, text)),
        };
        // No instance has the number behind the last.
        for number in
            (1..256).take_while(|number| self.memory.usage_of(InstanceId(*number)).is_ok())
        {
            let held = self.scheduling.held(InstanceId(number)).expect("held");
            measure.threads += u64::from(held.threads);
            measure.semaphores += u64::from(held.semaphores);
            measure.locks += u64::from(held.locks);
            measure.portals +=
                count(1, |index, text| self.portals.describe(InstanceId(number), index, text));
        }
        measure
    }
}
