//! The logs of instances: a ring in the region of each, and all of them, one behind the other, in the view of who has the role `logs`.

use super::Layout;
use crate::memory::{READ, WRITE};
use cairn_abi::address::{LOG_OFFSET, PAGE_SIZE};
use cairn_abi::loadable::LOG_EACH;
use cairn_abi::log::LEVEL;
use cairn_description::model::Role;

/// Where an instance's log is.
#[derive(Clone, Copy, Default)]
pub(super) struct Log {
    /// In the view of all, and how many bytes; none: it has no log.
    pub from: u64,
    pub size: u64,
}

/// All of them.
#[derive(Default)]
pub(super) struct Logs {
    pub physical: u64,
    pub size: u64,
    /// The page that those without one have in user mode.
    pub none: u64,
    /// By instance, and then by loadable number.
    pub each: Vec<Log>,
}

impl Layout<'_> {
    /// Maps a log into each instance, or a page of zeros, which says that no level is written.
    pub(super) fn map_logs(&mut self) -> Result<(), String> {
        let has_reader = self.system.roles.get(Role::Logs).is_some();
        // What the kernel domain maps, user mode does not: each has its own.
        let (zeros, zeros_of_kernel) = (self.memory.pages(1), self.memory.pages(1));
        let mut logs = Logs { physical: self.memory.end(), none: zeros, ..Logs::default() };
        for (index, placed) in self.placed.iter().enumerate() {
            let instance = &self.system.instances[index];
            let size = if has_reader { *instance.log_size } else { 0 };
            let is_other_place = instance.is_other_place();
            let log = match is_other_place {
                true => logs.each[self.system.identity(index)],
                false => Log { from: logs.size, size },
            };
            logs.each.push(log);
            if self.guest(index).is_some() {
                continue;
            }
            let address = placed.region + LOG_OFFSET;
            if size == 0 {
                let zeros = if instance.is_in_kernel() { zeros_of_kernel } else { zeros };
                self.tables.map(
                    &mut self.memory,
                    placed.root,
                    address,
                    zeros,
                    placed.reach | READ,
                )?;
                continue;
            }
            if !is_other_place {
                logs.size += size;
                let physical = self.memory.pages(size / PAGE_SIZE);
                self.memory.store(physical + 8 * LEVEL as u64, instance.log.into());
            }
            let physical = logs.physical + log.from;
            let rights = placed.reach | READ | WRITE;
            self.tables.map_range(
                &mut self.memory,
                placed.root,
                address,
                physical,
                size,
                rights,
            )?;
        }
        for _ in 0..self.system.children() {
            let size = if has_reader { LOG_EACH } else { 0 };
            self.memory.pages(size / PAGE_SIZE);
            logs.each.push(Log { from: logs.size, size });
            logs.size += size;
        }
        self.logs = logs;
        Ok(())
    }
}
