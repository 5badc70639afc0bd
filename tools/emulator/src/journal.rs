//! What the code under test did.

use crate::trap::{Privilege, Trap};

/// A write to physical memory. A store that crosses a page boundary makes two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Physical address.
    pub address: u64,
    /// Bytes, 1 to 8.
    pub size: usize,
    /// What was there, as a little-endian number.
    pub old: u64,
    /// What is there now.
    pub new: u64,
    /// The address that the instruction used; none for an accessed or dirty bit set by the walk.
    pub virtual_address: Option<u64>,
    /// Address of the instruction.
    pub program_counter: u64,
    /// The mode that it ran in.
    pub privilege: Privilege,
}

/// A read of a page with the U bit in supervisor mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserRead {
    /// Physical address.
    pub address: u64,
    /// Bytes, 1 to 8.
    pub size: usize,
    /// What was read.
    pub value: u64,
    /// The address that the instruction used.
    pub virtual_address: u64,
    /// Address of the instruction.
    pub program_counter: u64,
}

/// The record, in the order of execution.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    /// Every write to physical memory.
    pub writes: Vec<Write>,
    /// Every read of user memory by the supervisor.
    pub user_reads: Vec<UserRead>,
    /// Every trap.
    pub traps: Vec<Trap>,
    /// With [`crate::Options::record_path`], the mode and address of every instruction.
    pub path: Vec<(Privilege, u64)>,
}

impl Journal {
    /// Forgets everything so far.
    pub fn clear(&mut self) {
        *self = Journal::default();
    }

    /// The writes that do not lie wholly in one of `allowed`, ranges of (first physical address,
    /// bytes): what a test expects to be empty.
    pub fn writes_outside(&self, allowed: &[(u64, u64)]) -> Vec<Write> {
        let inside = |write: &&Write| {
            allowed.iter().any(|(start, size)| {
                write.address >= *start && write.address + write.size as u64 <= start + size
            })
        };
        self.writes.iter().filter(|write| !inside(write)).copied().collect()
    }

    /// The reads of user memory that do not lie wholly in one of `allowed`, ranges of (first
    /// virtual address, bytes).
    pub fn user_reads_outside(&self, allowed: &[(u64, u64)]) -> Vec<UserRead> {
        let inside = |read: &&UserRead| {
            allowed.iter().any(|(start, size)| {
                read.virtual_address >= *start
                    && read.virtual_address + read.size as u64 <= start + size
            })
        };
        self.user_reads.iter().filter(|read| !inside(read)).copied().collect()
    }
}
