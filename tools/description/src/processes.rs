//! Instances that run processes: programs in address spaces of their own, whose page tables the instance fills.

use crate::model::Instance;
use crate::place::Located;
use crate::report::Error;
use cairn_abi::address::PAGE_SIZE;

/// Pages that such an instance takes beside its processes' memory and their page tables.
const PAGES_BESIDE: u64 = 12;

/// What an instance has for the processes that it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processes {
    /// Bytes of their memory, which is contiguous and no part of the quota.
    pub memory: u64,
    /// Address spaces, each with a root page table.
    pub spaces: u32,
    /// Page tables of the middle level.
    pub directories: u32,
    /// Page tables of the last level.
    pub leaves: u32,
}

impl Processes {
    /// Page tables of all levels.
    pub fn tables(&self) -> u64 {
        [self.spaces, self.directories, self.leaves].map(u64::from).iter().sum()
    }

    /// Bytes of the board's memory that all of this takes.
    pub fn room(&self) -> u64 {
        self.memory + (self.tables() + PAGES_BESIDE) * PAGE_SIZE
    }
}

impl Instance {
    /// What is wrong if it runs processes and has the floating-point unit, since its component is built for that (`is_hard`) or
    /// one that replaces it.
    pub fn processes_with_float(&self, is_hard: bool) -> Option<Error> {
        let processes = self.processes.as_ref().filter(|_| is_hard || self.has_float)?;
        Some(self.cannot_run(
            processes,
            "an instance without the floating-point unit, whose registers belong to its processes",
            &format!(
                "build the component in `{}`, and those that replace it, without `float = \"hard\"`; or remove `processes`",
                self.folder
            ),
        ))
    }

    /// It cannot run the processes that the description gives it.
    pub(crate) fn cannot_run(
        &self,
        processes: &Located<Processes>,
        expected: &str,
        help: &str,
    ) -> Error {
        Error::new(
            &processes.place,
            format!("`{}` cannot run processes", self.name),
            format!("expected {expected}"),
            help,
        )
    }
}
