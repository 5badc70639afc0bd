//! The kernel's half of the address space: the nucleus, what it trusts, and its parameters.

use super::upcalls::Upcalls;
use super::{Layout, pages, processes};
use crate::memory::*;
use crate::nucleus::Nucleus;
use crate::portals::PortalCode;
use cairn_abi::address::*;
use cairn_abi::domain::{Tables, activation};
use cairn_abi::loadable::{self, ACTIVATIONS_EACH};
use cairn_abi::memory::SECTIONS_EACH;
use cairn_abi::parameters::Parameters;
use cairn_abi::semaphore::{CLOSED, SEMAPHORE_WINDOW_SIZE, SEMAPHORES_MAXIMUM, semaphore_word};
use cairn_abi::thread::{self, thread_block};
use cairn_description::System;
use cairn_description::model::Instance;
use cairn_portal::{bounds, fences};
use zerocopy::IntoBytes;

/// Pages of portal code with which the layout begins to look for their number.
pub(super) const PORTAL_CODE_FIRST: u64 = 64;
/// More pages of portal code than any system has.
pub(super) const PORTAL_CODE_MOST: u64 = 1 << 14;
const _: () = assert!(PORTAL_CODE + PORTAL_CODE_MOST * PAGE_SIZE <= THREADS);
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

    /// Whether it can lie in one large page with the other areas: none of them begins at offsets that it covers.
    fn is_apart(&self) -> bool {
        let end = if self.address == THREADS { DOMAINS } else { self.address + LARGE_SLOT };
        self.address % LEAF_SPAN + self.size <= end % LEAF_SPAN
    }
}

/// Large pages: areas begin at different offsets of 2 MiB, so that the same large page, mapped at the address of each,
/// has them all. Without them, on a core with eight places in its TLB, the user's pages and the kernel's displace each
/// other in every call.
const LARGE_SLOT: u64 = ACTIVATIONS % LEAF_SPAN - SEMAPHORES % LEAF_SPAN;

/// Areas that only privileged code reaches, and components with a role by their views.
pub(super) struct Areas {
    pub nucleus: Area,
    pub threads: Area,
    pub domains: Area,
    pub activations: Area,
    pub semaphores: Area,
    /// Empty if the system does not count.
    pub counters: Area,
    /// Empty if nobody runs processes.
    pub processes: Area,
    /// Threads, domains, activations, semaphores, and portal code, are mapped in large pages.
    large: bool,
}

impl Areas {
    /// Takes memory for them and for portal code, and fills in the nucleus.
    pub fn new(
        memory: &mut Memory,
        system: &System,
        nucleus: &Nucleus,
        tables: Tables,
        code_pages: u64,
    ) -> (Areas, PortalCode) {
        let nucleus_area = Area::new(memory, NUCLEUS, nucleus.bytes.len() as u64);
        memory.write(nucleus_area.physical, &nucleus.bytes);
        let counters = if system.counting { COUNTER_PAGES * PAGE_SIZE } else { 0 };
        let counters = Area::new(memory, COUNTERS, counters);
        let processes = Area::new(memory, PROCESSES, processes::area(system, tables));
        let stacks = |instance: &Instance| u64::from(instance.stacks.count) + 1;
        let activations = system.described().iter().map(stacks).sum::<u64>()
            + system.children() * u64::from(ACTIVATIONS_EACH)
            + SPARE_ACTIVATIONS;
        let mut areas = [
            (THREADS, u64::from(*system.threads) * PAGE_SIZE),
            (DOMAINS, domains(system) * tables.block_size()),
            (ACTIVATIONS, activation(activations as usize) - ACTIVATIONS),
            (SEMAPHORES, SEMAPHORE_WINDOW_SIZE),
        ]
        .map(|(address, size)| Area {
            address,
            physical: 0,
            size: pages(size) * PAGE_SIZE,
        });
        let code_end = PORTAL_CODE % LEAF_SPAN + code_pages * PAGE_SIZE;
        let large = system.board.large_kernel_pages
            && areas.iter().all(Area::is_apart)
            && code_end <= LEAF_SPAN;
        let code = if large {
            memory.align(LEAF_SPAN);
            let page = memory.pages(LEAF_SPAN / PAGE_SIZE);
            areas.iter_mut().for_each(|area| area.physical = page + area.address % LEAF_SPAN);
            let code = memory.pages(LEAF_SPAN / PAGE_SIZE) + PORTAL_CODE % LEAF_SPAN;
            PortalCode::at(code, code_pages)
        } else {
            areas.iter_mut().for_each(|area| *area = Area::new(memory, area.address, area.size));
            PortalCode::at(memory.pages(code_pages), code_pages)
        };
        let [threads, domains, activations, semaphores] = areas;
        let nucleus = nucleus_area;
        (
            Areas {
                nucleus,
                threads,
                domains,
                activations,
                semaphores,
                counters,
                processes,
                large,
            },
            code,
        )
    }
}

/// Page tables that are left for run time.
pub(super) fn spare_page_tables(system: &System) -> u64 {
    let kept = system.described().iter().map(|instance| u64::from(*instance.sections_at_run_time));
    let loadable = system.children() * loadable::SECTIONS_EACH;
    system.described().len() as u64 * SECTIONS_EACH as u64 + kept.sum::<u64>() + loadable
}

/// Domains with the kernel's, which has number 0.
fn domains(system: &System) -> u64 {
    system.numbers() + 1
}

impl Layout<'_> {
    pub(super) fn map_kernel(&mut self) -> Result<(), String> {
        let rights = [READ | EXECUTE, READ, READ | WRITE];
        for ((address, size), rights) in self.nucleus.parts.into_iter().zip(rights) {
            self.map_kernel_range(address, self.areas.nucleus.at(address), size, rights)?;
        }
        let (physical, size) = self.code.extent();
        let code = Area { address: PORTAL_CODE, physical, size };
        let Areas { threads, domains, activations, semaphores, counters, large, .. } = self.areas;
        let areas = [threads, domains, activations, semaphores].map(|area| (area, READ | WRITE));
        for (area, rights) in areas.into_iter().chain([(code, READ | EXECUTE)]) {
            let before = if large { area.address % LEAF_SPAN } else { 0 };
            let size = if large { LEAF_SPAN } else { area.size };
            let (address, physical) = (area.address - before, area.physical - before);
            self.map_kernel_range(address, physical, size, rights)?;
        }
        for Area { address, physical, size } in [counters, self.areas.processes] {
            self.map_kernel_range(address, physical, size, READ | WRITE)?;
        }
        if let Some(finisher) = self.finisher() {
            self.map_kernel_range(FINISHER, finisher, PAGE_SIZE, READ | WRITE)?;
        }
        let (physical, size) = (self.tables.physical, self.tables.count * PAGE_SIZE);
        self.map_kernel_range(PAGE_TABLES, physical, size, READ | WRITE)?;
        if self.system.instances.iter().any(Instance::is_in_kernel) {
            self.map_kernel_stacks()?;
        }
        Ok(())
    }

    /// A stack in the kernel domain for each thread that there can be.
    fn map_kernel_stacks(&mut self) -> Result<(), String> {
        for thread in 0..*self.system.threads as usize {
            let top = kernel_stack(thread);
            let end = top.next_multiple_of(PAGE_SIZE);
            let physical = self.memory.pages(pages(KERNEL_STACK_SIZE));
            let first = end - KERNEL_STACK_SIZE;
            self.map_kernel_range(first, physical, KERNEL_STACK_SIZE, READ | WRITE)?;
            let field = thread_block(thread).wrapping_add_signed(thread::FIELD_KERNEL_STACK);
            self.memory.store(self.areas.threads.at(field), top);
        }
        Ok(())
    }

    pub(super) fn map_kernel_range(
        &mut self,
        address: u64,
        physical: u64,
        size: u64,
        rights: u64,
    ) -> Result<(), String> {
        let root = self.kernel_root;
        self.tables.map_large(&mut self.memory, root, address, physical, size, rights | GLOBAL)
    }

    /// Physical address of the emulator's test finisher.
    fn finisher(&self) -> Option<u64> {
        self.system.board.devices.iter().find(|device| device.finisher).map(|device| device.base)
    }

    /// Every root shares the kernel's half: it is complete only when nothing more is mapped there.
    pub(super) fn refresh_kernel_half(&mut self) {
        let size = (PAGE_SIZE - KERNEL_ENTRIES) as usize;
        let kernel = self.memory.at(self.kernel_root.0 + KERNEL_ENTRIES, size).to_vec();
        let placed = self.placed.iter().map(|placed| placed.root.0);
        let roots: Vec<u64> =
            placed.chain(self.loadable_roots()).chain(self.process_roots()).collect();
        for root in roots {
            self.memory.write(root + KERNEL_ENTRIES, &kernel);
        }
        self.link_status_pages();
    }

    /// No semaphore exists before the scheduler makes it.
    pub(super) fn close_semaphores(&mut self) {
        for index in 0..SEMAPHORES_MAXIMUM {
            let words = CLOSED.map(i64::to_le_bytes);
            self.memory
                .write(self.areas.semaphores.at(semaphore_word(index)), words.as_flattened());
        }
    }

    /// Writes the nucleus' parameters.
    pub(super) fn write_parameters(&mut self, upcalls: &Upcalls) -> Result<(), String> {
        let nucleus = self.areas.nucleus;
        let parameters = Parameters {
            boot_space: self.boot_space().word(),
            nucleus_offset: nucleus.address.wrapping_sub(nucleus.physical),
            boot_frame: thread_block(0) + (thread::base_frame(0) + thread::TRAP_FRAME) as u64,
            boot_portal: upcalls.boot,
            exit_portal: upcalls.exit,
            threads: u64::from(*self.system.threads),
            domains: domains(self.system),
            portals: self.connected.tables().entries() as u64,
            portal_code_end: self.code.end(),
            finisher: self.finisher().map_or(0, |_| FINISHER),
        };
        let at = nucleus.at(self.nucleus.symbol("NUCLEUS_PARAMETERS")?);
        self.memory.write(at, parameters.as_bytes());
        let bounds = self.nucleus.between(bounds::LIST)?;
        let mut changes: Vec<_> = bounds::changes(bounds, self.connected.tables()).collect();
        if let Some(symbols) = self.fences().changes() {
            changes.extend(fences::changes(self.nucleus.between(symbols)?));
        }
        for (address, instruction) in changes {
            self.memory.write(nucleus.at(address), &instruction.to_le_bytes());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_of_a_large_page_do_not_meet() {
        let mut starts = [THREADS, DOMAINS, SEMAPHORES, ACTIVATIONS].map(|area| area % LEAF_SPAN);
        let sizes = [DOMAINS % LEAF_SPAN, LARGE_SLOT, LARGE_SLOT, LARGE_SLOT];
        for (address, size) in [THREADS, DOMAINS, SEMAPHORES, ACTIVATIONS].into_iter().zip(sizes) {
            let area = |size| Area { address, physical: 0, size };
            assert!(area(size).is_apart() && !area(size + PAGE_SIZE).is_apart());
            let (from, to) = (address % LEAF_SPAN, address % LEAF_SPAN + size);
            assert!(to <= LEAF_SPAN);
            assert!(starts.iter().all(|start| *start == from || !(from..to).contains(start)));
        }
        starts.sort_unstable();
        assert_eq!(starts[0], 0, "an index is a bit field of the address");
    }
}
