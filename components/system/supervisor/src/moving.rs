//! An instance that moves between its two places (`docs/moves.md`): what is not as with any successor.

use crate::look::Undisturbed;
use crate::system::{System, state};
use cairn::{Error, InstanceId};
use cairn_abi::record::Instance;
use cairn_interfaces::Location;

/// Threads that one look is at. If another thread has run meanwhile they are looked at again.
const THREADS_OF_LOOK: u64 = 16;

/// Whether an instance can move there. `with` is the instance that was named as the one in whose page table that is, if one was.
pub fn check(record: &Instance, to: Location, with: Option<InstanceId>) -> Result<(), Error> {
    let is_there = (record.is_away != 0) == (to != Location::Domain);
    let moves_there = match (to, record.host) {
        (Location::Domain, _) => true,
        (Location::Kernel, host) => host == InstanceId(0),
        (Location::With, InstanceId(0)) => false,
        (Location::With, host) => with.is_none_or(|with| with == host),
    };
    match record.other_place {
        InstanceId(0) => Err(Error::NotSupported),
        _ if !moves_there => Err(Error::NotSupported),
        _ if record.package != 0 => Err(Error::VersionMismatch),
        _ if is_there => Err(Error::Busy),
        _ if !state(record.number).is_alive() => Err(Error::Dead),
        _ => Ok(()),
    }
}

/// Whose page table an instance is in, if that moves and is not in its own.
pub fn host(record: &Instance) -> Option<InstanceId> {
    Some(record.host).filter(|host| *host != InstanceId(0) && record.is_away != 0)
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
