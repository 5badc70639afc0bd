//! Instances that run processes: programs in address spaces of their own, whose page tables the instance fills.

use crate::model::{Instance, System};
use crate::place::Located;
use crate::report::Error;
use cairn_abi::domain::Tables;
use cairn_abi::process::{Pool, before_pool};

/// What an instance has for the processes that it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processes {
    /// Bytes of their memory, which is contiguous and no part of the quota.
    pub memory: u64,
    /// Their page tables.
    pub pool: Pool,
}

impl Processes {
    /// Bytes of addresses in the kernel domain, and of memory there, that it takes beside their memory.
    pub fn area(&self, tables: Tables) -> u64 {
        before_pool(tables) + self.pool.size()
    }
}

impl System {
    /// What there is for processes, of all instances that run some.
    pub fn processes(&self) -> impl Iterator<Item = &Located<Processes>> {
        self.instances.iter().filter_map(|instance| instance.processes.as_ref())
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
