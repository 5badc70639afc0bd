//! An instance that moves between its two places (`docs/replacement.md`, "Moves"): what is not as with any successor.

use crate::look::Undisturbed;
use crate::system::{System, state};
use cairn::{Error, InstanceId};
use cairn_abi::record::Instance;
use cairn_interfaces::Location;

/// Threads that one look is at. If another thread has run meanwhile they are looked at again.
const THREADS_OF_LOOK: u64 = 16;

/// Whether an instance can move there.
pub fn check(record: &Instance, to: Location) -> Result<(), Error> {
    let is_there = (record.in_kernel != 0) == (to == Location::Kernel);
    match record.other_place {
        InstanceId(0) => Err(Error::NotSupported),
        _ if record.package != 0 => Err(Error::VersionMismatch),
        _ if is_there => Err(Error::Busy),
        _ if !state(record.number).is_alive() => Err(Error::Dead),
        _ => Ok(()),
    }
}

impl System {
    /// Whether a thread of others is inside of an instance, or may be. Nobody comes in, so those that were seen outside stay there.
    pub fn is_inside(&self, record: &'static Instance) -> bool {
        let is_in = |index| self.holds(index, record.domain) && !self.is_its_own(index, record);
        let count = self.thread_count();
        (0..count).step_by(THREADS_OF_LOOK as usize).any(|first| {
            let undisturbed = Undisturbed::begin();
            let mut threads = first..(first + THREADS_OF_LOOK).min(count);
            threads.any(|index| self.exists(index) && is_in(index)) || !undisturbed.holds()
        })
    }
}
