//! The kernel's half of the address space: the nucleus, what it trusts, and its parameters.

use super::events::Events;
use super::{Layout, pages};
use crate::memory::*;
use crate::nucleus::Nucleus;
use crate::portals::PortalCode;
use cairn_abi::address::*;
use cairn_abi::domain::{DOMAIN_BLOCK_SIZE, activation};
use cairn_abi::page_table::{TABLES_AT_RUN_TIME, space};
use cairn_abi::parameters::Parameters;
use cairn_abi::semaphore::SEMAPHORE_WINDOW_SIZE;
use cairn_abi::thread::{self, thread_block};
use cairn_description::System;
use cairn_description::model::Instance;
use cairn_portal::fences;
use zerocopy::IntoBytes;

/// Pages of portal code: what the connections need and what comes at run time, at least.
pub(super) const PORTAL_CODE_LEAST: u64 = 256;
/// As many as the portal manager can count.
pub(super) const PORTAL_CODE_MOST: u64 = 2046;
/// Activation descriptors that are left for run time.
pub(super) const SPARE_ACTIVATIONS: u64 = 64;
/// Pages of call counters of a counting build.
const COUNTER_PAGES: u64 = 4;

/// Where the second half of a root page table begins: the kernel's.
const KERNEL_ENTRIES: u64 = 2048;

/// A range of kernel addresses, and where in memory it lies.
#[derive(Clone, Copy)]
pub(super) struct Area {
    pub address: u64,
    pub physical: u64,
    pub size: u64,
}

impl Area {
    fn new(memory: &mut Memory, address: u64, size: u64) -> Area {
        let count = pages(size);
        Area { address, physical: memory.pages(count), size: count * PAGE_SIZE }
    }

    /// Where in memory a kernel address of the area lies.
    pub fn at(&self, address: u64) -> u64 {
        self.physical + (address - self.address)
    }
}

/// What only privileged code reaches, but for the roles that a component holds.
pub(super) struct Areas {
    pub nucleus: Area,
    pub threads: Area,
    pub domains: Area,
    pub activations: Area,
    pub semaphores: Area,
    /// Empty if the system does not count.
    pub counters: Area,
}

impl Areas {
    /// Takes memory for them and for portal code, and fills in the nucleus.
    pub fn new(
        memory: &mut Memory,
        system: &System,
        nucleus: &Nucleus,
        code_pages: u64,
    ) -> (Areas, PortalCode) {
        let nucleus_area = Area::new(memory, NUCLEUS, nucleus.bytes.len() as u64);
        memory.write(nucleus_area.physical, &nucleus.bytes);
        let threads = Area::new(memory, THREADS, u64::from(*system.threads) * PAGE_SIZE);
        let domains = Area::new(memory, DOMAINS, domains(system) * DOMAIN_BLOCK_SIZE);
        let stacks = |instance: &Instance| u64::from(instance.stacks.count) + 1;
        let activations = system.instances.iter().map(stacks).sum::<u64>() + SPARE_ACTIVATIONS;
        let activations =
            Area::new(memory, ACTIVATIONS, activation(activations as usize) - ACTIVATIONS);
        let semaphores = Area::new(memory, SEMAPHORES, SEMAPHORE_WINDOW_SIZE);
        let code = PortalCode::new(memory, code_pages);
        let counters = if system.counting { COUNTER_PAGES * PAGE_SIZE } else { 0 };
        let counters = Area::new(memory, COUNTERS, counters);
        (Areas { nucleus: nucleus_area, threads, domains, activations, semaphores, counters }, code)
    }
}

/// Pages of page tables that are left for run time.
pub(super) fn spare_page_tables(system: &System) -> u64 {
    system.instances.len() as u64 * u64::from(TABLES_AT_RUN_TIME)
}

/// Pages of portal code that are left for run time: for each instance as much as five semaphores take.
pub(super) fn spare_portal_code(system: &System) -> u64 {
    4 * system.instances.len() as u64
}

/// Domains with the kernel's, which has number 0.
fn domains(system: &System) -> u64 {
    system.instances.len() as u64 + 1
}

impl Layout<'_> {
    pub(super) fn map_kernel(&mut self) -> Result<(), String> {
        let rights = [READ | EXECUTE, READ, READ | WRITE];
        for ((address, size), rights) in self.nucleus.parts.into_iter().zip(rights) {
            self.map_kernel_range(address, self.areas.nucleus.at(address), size, rights)?;
        }
        let (code, code_size) = self.code.extent();
        self.map_kernel_range(PORTAL_CODE, code, code_size, READ | EXECUTE)?;
        let Areas { threads, domains, activations, semaphores, counters, .. } = self.areas;
        for area in [threads, domains, activations, semaphores, counters] {
            self.map_kernel_range(area.address, area.physical, area.size, READ | WRITE)?;
        }
        if let Some(finisher) = self.finisher() {
            self.map_kernel_range(FINISHER, finisher, PAGE_SIZE, READ | WRITE)?;
        }
        let (physical, size) = (self.tables.physical, self.tables.count * PAGE_SIZE);
        self.map_kernel_range(PAGE_TABLES, physical, size, READ | WRITE)
    }

    pub(super) fn map_kernel_range(
        &mut self,
        address: u64,
        physical: u64,
        size: u64,
        rights: u64,
    ) -> Result<(), String> {
        let root = self.kernel_root;
        self.tables.map_range(&mut self.memory, root, address, physical, size, rights | GLOBAL)
    }

    /// Physical address of the emulator's test finisher.
    fn finisher(&self) -> Option<u64> {
        self.system.board.devices.iter().find(|device| device.finisher).map(|device| device.base)
    }

    /// Every root shares the kernel's half: it is complete only when nothing more is mapped there.
    pub(super) fn refresh_kernel_half(&mut self) {
        let size = (PAGE_SIZE - KERNEL_ENTRIES) as usize;
        let kernel = self.memory.at(self.kernel_root.0 + KERNEL_ENTRIES, size).to_vec();
        for placed in &self.placed {
            self.memory.write(placed.root.0 + KERNEL_ENTRIES, &kernel);
        }
    }

    /// Tells the nucleus of the system around it.
    pub(super) fn write_parameters(&mut self, events: &Events) -> Result<(), String> {
        let nucleus = self.areas.nucleus;
        let parameters = Parameters {
            boot_satp: space(self.kernel_root.0, self.last_asid()),
            nucleus_offset: nucleus.address.wrapping_sub(nucleus.physical),
            boot_frame: thread_block(0) + (thread::base_frame(0) + thread::TRAP_FRAME) as u64,
            boot_portal: events.boot,
            exit_portal: events.exit,
            threads: u64::from(*self.system.threads),
            domains: domains(self.system),
            portal_code_end: self.code.end(),
            finisher: self.finisher().map_or(0, |_| FINISHER),
        };
        let at = nucleus.at(self.nucleus.symbol("NUCLEUS_PARAMETERS")?);
        self.memory.write(at, parameters.as_bytes());
        if let Some(symbols) = self.fences().changes() {
            for (address, instruction) in fences::changes(self.nucleus.between(symbols)?) {
                self.memory.write(nucleus.at(address), &instruction.to_le_bytes());
            }
        }
        Ok(())
    }
}
