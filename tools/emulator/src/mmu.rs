//! Sv39 address translation (privileged manual, sections 4.3 and 4.4).

use crate::csr::{ControlRegisters, STATUS_MXR, STATUS_SUM};
use crate::memory::Memory;
use crate::tlb::{Caching, Leaf, Tlb};
use crate::trap::{Cause, Exception, Privilege};

/// Page-table entry: valid.
pub const VALID: u64 = 1 << 0;
/// Page-table entry: readable.
pub const READ: u64 = 1 << 1;
/// Page-table entry: writable.
pub const WRITE: u64 = 1 << 2;
/// Page-table entry: executable.
pub const EXECUTE: u64 = 1 << 3;
/// Page-table entry: user mode may use it, and supervisor mode only with `sstatus.SUM`.
pub const USER: u64 = 1 << 4;
/// Page-table entry: the same in every address space.
pub const GLOBAL: u64 = 1 << 5;
/// Page-table entry: accessed.
pub const ACCESSED: u64 = 1 << 6;
/// Page-table entry: written.
pub const DIRTY: u64 = 1 << 7;
/// Bits of an entry that must be zero: reserved ones, and those of Svnapot and Svpbmt.
const RESERVED: u64 = 0x3ff << 54;

/// Why memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Instruction fetch.
    Fetch,
    /// Load, load-reserved.
    Load,
    /// Store, store-conditional, atomic.
    Store,
}

impl Access {
    /// The page fault of this access.
    pub fn page_fault(self, address: u64) -> Exception {
        let cause = match self {
            Access::Fetch => Cause::InstructionPageFault,
            Access::Load => Cause::LoadPageFault,
            Access::Store => Cause::StorePageFault,
        };
        Exception { cause, value: address }
    }

    /// The access fault (no memory) of this access.
    pub fn access_fault(self, address: u64) -> Exception {
        let cause = match self {
            Access::Fetch => Cause::InstructionAccessFault,
            Access::Load => Cause::LoadAccessFault,
            Access::Store => Cause::StoreAccessFault,
        };
        Exception { cause, value: address }
    }
}

/// Where a virtual address leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Translation {
    /// The physical address.
    pub physical: u64,
    /// The page has the U bit.
    pub user: bool,
    /// A page-table entry that the walk changed: physical address, before, after.
    pub updated: Option<(u64, u64, u64)>,
}

/// The translating part of a hart, borrowed for one access.
pub struct Mmu<'hart> {
    /// Its registers.
    pub csr: &'hart ControlRegisters,
    /// Its translation buffer.
    pub tlb: &'hart mut Tlb,
    /// Physical memory.
    pub memory: &'hart mut Memory,
    /// What the buffer keeps.
    pub caching: Caching,
    /// Global entries hold in every address space.
    pub keeps_global: bool,
    /// The walk sets A and D (Svadu); otherwise their absence is a page fault (Svade).
    pub updates_accessed_dirty: bool,
}

impl Mmu<'_> {
    /// Translates `address` for `access` in mode `privilege`.
    pub fn translate(
        &mut self,
        address: u64,
        access: Access,
        privilege: Privilege,
    ) -> Result<Translation, Exception> {
        let Some(root) = self.csr.root() else {
            return Ok(Translation { physical: address, user: false, updated: None });
        };
        let fault = access.page_fault(address);
        // Bits 63 to 39 must repeat bit 38.
        if (address as i64) << 25 >> 25 != address as i64 {
            return Err(fault);
        }
        let asid = self.csr.asid();
        let needed = ACCESSED | if access == Access::Store { DIRTY } else { 0 };
        if self.caching != Caching::Off
            && let Some(leaf) = self.tlb.find(address, asid)
        {
            if !self.permits(leaf.entry, access, privilege) {
                return Err(fault);
            }
            if leaf.entry & needed == needed {
                return Ok(translation(leaf, address, None));
            }
            if !self.updates_accessed_dirty {
                return Err(fault);
            }
        }
        let (mut leaf, location) = match self.walk(root, address, access)? {
            Some(found) => found,
            None => {
                if self.caching == Caching::ValidAndInvalid {
                    self.tlb.keep(address, asid, Leaf { entry: 0, shift: 12, global: false });
                }
                return Err(fault);
            }
        };
        let permitted = self.permits(leaf.entry, access, privilege);
        let before = leaf.entry;
        if permitted && self.updates_accessed_dirty {
            leaf.entry |= needed;
        }
        if self.caching == Caching::ValidAndInvalid
            || self.caching == Caching::Valid && leaf.entry & ACCESSED != 0
        {
            self.tlb.keep(address, asid, leaf);
        }
        if !permitted || leaf.entry & needed != needed {
            return Err(fault);
        }
        let updated = (leaf.entry != before).then_some((location, before, leaf.entry));
        if updated.is_some() && self.memory.write_u64(location, leaf.entry).is_err() {
            return Err(access.access_fault(address));
        }
        Ok(translation(leaf, address, updated))
    }

    /// Finds the leaf entry of `address` and where it lies; none: there is no valid one.
    fn walk(
        &self,
        root: u64,
        address: u64,
        access: Access,
    ) -> Result<Option<(Leaf, u64)>, Exception> {
        let mut table = root;
        let mut global = false;
        for shift in [30, 21, 12] {
            let location = table + (address >> shift & 511) * 8;
            let entry = self.memory.read_u64(location).map_err(|_| access.access_fault(address))?;
            if entry & VALID == 0 || entry & (READ | WRITE) == WRITE || entry & RESERVED != 0 {
                return Ok(None);
            }
            global |= self.keeps_global && entry & GLOBAL != 0;
            let target = (entry >> 10 & ((1 << 44) - 1)) << 12;
            if entry & (READ | EXECUTE) != 0 {
                let aligned = target & ((1 << shift) - 1) == 0;
                return Ok(aligned.then_some((Leaf { entry, shift, global }, location)));
            }
            // In a pointer to the next table these are reserved.
            if entry & (USER | ACCESSED | DIRTY) != 0 {
                return Ok(None);
            }
            table = target;
        }
        Ok(None)
    }

    fn permits(&self, entry: u64, access: Access, privilege: Privilege) -> bool {
        let mode_fits = match (privilege, entry & USER != 0) {
            (Privilege::User, user) => user,
            (Privilege::Supervisor, false) => true,
            // No flag lets the supervisor execute user pages.
            (Privilege::Supervisor, true) => {
                access != Access::Fetch && self.csr.sstatus & STATUS_SUM != 0
            }
        };
        let allowed = match access {
            Access::Fetch => EXECUTE,
            Access::Load if self.csr.sstatus & STATUS_MXR != 0 => READ | EXECUTE,
            Access::Load => READ,
            Access::Store => WRITE,
        };
        entry & VALID != 0 && mode_fits && entry & allowed != 0
    }
}

fn translation(leaf: Leaf, address: u64, updated: Option<(u64, u64, u64)>) -> Translation {
    let offset = (1 << leaf.shift) - 1;
    let target = (leaf.entry >> 10 & ((1 << 44) - 1)) << 12;
    Translation {
        physical: target & !offset | address & offset,
        user: leaf.entry & USER != 0,
        updated,
    }
}
