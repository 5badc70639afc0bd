//! Views: the mappings beside their region of the components that hold a role.

use super::Layout;
use super::instance::Placed;
use super::kernel::{Area, SPARE_ACTIVATIONS};
use crate::memory::{READ, USER, WRITE};
use cairn_abi::address::*;
use cairn_abi::descriptor::name;
use cairn_abi::domain::{QUEUE_SIZE, QUEUES_MAXIMUM, activation};
use cairn_abi::startup::Mapping;
use cairn_description::model::Role;
use std::collections::HashSet;

/// One of those mappings.
struct Wanted {
    role: Role,
    section: &'static str,
    address: u64,
    physical: u64,
    size: u64,
    writable: bool,
    /// Where the kernel domain has it anyway, with these rights.
    area: Option<u64>,
}

impl Layout<'_> {
    /// Maps to every role what it needs; the record and the clients lie at a physical address and have a size.
    pub(super) fn map_roles(
        &mut self,
        sections: &mut [Vec<Mapping>],
        record: (u64, u64),
        clients: (u64, u64),
    ) -> Result<(), String> {
        let mut mapped = HashSet::new();
        for wanted in self.wanted(record, clients) {
            let Some(index) = self.system.roles.get(wanted.role) else { continue };
            let Wanted { address, physical, writable, .. } = wanted;
            let Placed { root, reach, .. } = self.placed[index];
            let rights = reach | READ | if writable { WRITE } else { 0 };
            let size = wanted.size.next_multiple_of(PAGE_SIZE);
            let (address, is_new) = match (reach, wanted.area) {
                (USER, _) => (address, true),
                (_, Some(area)) => (area, false),
                // The same for all that are there.
                (_, None) => (kernel_view(address), mapped.insert(address)),
            };
            if is_new {
                self.tables.map_large(&mut self.memory, root, address, physical, size, rights)?;
            }
            let name = name(wanted.section);
            sections[index].push(Mapping::memory(name, address, wanted.size, writable));
        }
        if let Some((owner, devices)) = self.map_owned_devices()? {
            sections[owner].push(devices);
        }
        Ok(())
    }

    fn wanted(&self, record: (u64, u64), clients: (u64, u64)) -> Vec<Wanted> {
        let areas = &self.areas;
        let mut all = Vec::new();
        let mut want = |role, section, address, (physical, size), writable: bool| {
            let area = match address {
                ROLE_SEMAPHORES => Some(SEMAPHORES),
                ROLE_ACTIVATIONS => Some(ACTIVATIONS),
                ROLE_THREADS => Some(THREADS),
                ROLE_DOMAINS => Some(DOMAINS),
                ROLE_PAGE_TABLES => Some(PAGE_TABLES),
                ROLE_COUNTERS => Some(COUNTERS),
                ROLE_PORTAL_CODE if !writable => Some(PORTAL_CODE),
                _ => None,
            };
            all.push(Wanted { role, section, address, physical, size, writable, area });
        };
        let whole = |area: &Area| (area.physical, area.size);

        let beside = [Role::Idle, Role::ShelfKeeper];
        for role in Role::ALL.into_iter().filter(|role| !beside.contains(role)) {
            want(role, "record", ROLE_RECORD, record, false);
        }
        want(Role::Scheduler, "semaphores", ROLE_SEMAPHORES, whole(&areas.semaphores), true);
        let queues = (areas.activations.physical, QUEUES_MAXIMUM as u64 * QUEUE_SIZE);
        want(Role::Scheduler, "queues", ROLE_ACTIVATIONS, queues, false);
        want(Role::Supervisor, "threads", ROLE_THREADS, whole(&areas.threads), false);
        want(Role::Supervisor, "portal-code", ROLE_PORTAL_CODE, self.code.extent(), false);
        want(Role::Portals, "portal-code", ROLE_PORTAL_CODE, self.code.extent(), true);
        want(Role::Portals, "domains", ROLE_DOMAINS, whole(&areas.domains), true);
        let activations =
            activation((self.next.activation + SPARE_ACTIVATIONS) as usize) - ACTIVATIONS;
        let activations = (areas.activations.physical, activations);
        want(Role::Portals, "activations", ROLE_ACTIVATIONS, activations, true);
        want(Role::Portals, "clients", ROLE_CLIENTS, clients, true);
        if self.system.counting {
            // The whole area: portals that are made at run time have counters in it as well.
            want(Role::Portals, "counters", ROLE_COUNTERS, whole(&areas.counters), false);
        }
        want(Role::Logs, "logs", ROLE_LOGS, (self.logs.physical, self.logs.size), true);
        let pool = (self.tables.physical, self.tables.count * PAGE_SIZE);
        want(Role::Memory, "page-tables", ROLE_PAGE_TABLES, pool, true);
        // The memory manager reaches all memory behind the page tables: free memory, and the initial content of instances.
        // All memory that the nucleus trusts lies before it.
        let start = pool.0 + pool.1;
        let board = &self.system.board;
        let end = self.managed_end();
        want(Role::Memory, "memory", ROLE_MEMORY + start, (start, end - start), true);
        for role in [Role::ShelfKeeper, Role::Loader].into_iter().filter(|_| self.shelf.1 > 0) {
            want(role, "shelf", ROLE_SHELF, self.shelf, false);
        }
        if board.memory.kept != 0 {
            want(
                Role::Supervisor,
                "kept",
                ROLE_KEPT,
                (board.memory_end(), board.memory.kept),
                true,
            );
        }
        all
    }
}
