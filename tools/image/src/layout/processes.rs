//! What servers of processes have (`abi/src/process.rs`): a status page, cells, a domain block and page tables for their processes, memory
//! at the end of the board's, and portals.

use super::Layout;
use crate::check;
use crate::memory::*;
use cairn_abi::Space;
use cairn_abi::address::*;
use cairn_abi::arch::trap::{ILLEGAL, slots};
use cairn_abi::domain::*;
use cairn_abi::page_table::{ROOT_LEVEL, page_entry, table_entry};
use cairn_abi::privileged::*;
use cairn_abi::process::*;
use cairn_abi::upcall::Upcall;
use cairn_description::System;
use cairn_portal::{ProcessPortal, ProcessServer, generate};

/// A server, as it is laid out.
pub(super) struct Server {
    /// The instance.
    instance: usize,
    /// Physical addresses: of the first root, of the status page and what leads there, of memory.
    roots: u64,
    status: u64,
    status_directory: u64,
    memory: u64,
    memory_size: u64,
    pool: Pool,
}

impl Server {
    fn all_roots(&self) -> impl Iterator<Item = u64> + use<> {
        let first = self.roots;
        (0..self.pool.spaces).map(move |space| first + space * PAGE_SIZE)
    }
}

/// Bytes of all that servers have in the kernel domain.
pub(super) fn area(system: &System, tables: Tables) -> u64 {
    system.processes().map(|given| given.area(tables)).sum()
}

impl Layout<'_> {
    /// Bytes of all processes' memory.
    pub(super) fn process_memory(&self) -> u64 {
        self.system.processes().map(|processes| processes.memory).sum()
    }

    /// The same with what is left out for large pages.
    pub(super) fn process_room(&self) -> u64 {
        self.system.board.memory_end() - self.managed_end()
    }

    /// Where the memory ends that the memory manager hands out. That of processes lies behind, in large pages.
    pub(super) fn managed_end(&self) -> u64 {
        let end = self.system.board.memory_end();
        match self.process_memory() {
            0 => end,
            size => (end / LEAF_SPAN * LEAF_SPAN).saturating_sub(size),
        }
    }

    /// Lays out what each server has beside its own domain.
    pub(super) fn connect_processes(&mut self, exit: u64) -> Result<(), String> {
        let mut address = PROCESSES;
        let mut identifier = FIRST_IDENTIFIER;
        let mut memory = self.managed_end();
        for index in self.instances() {
            let Some(given) = self.system.instances[index].processes.as_deref() else { continue };
            let pool = given.pool;
            let before = before_pool(self.connected.tables());
            let physical = self.areas.processes.at(address);
            let cells = address + PAGE_SIZE;
            let first = if self.asids() { identifier } else { 0 };
            let server = ProcessServer {
                domain: self.placed[index].domain,
                cells,
                table: cells + PAGE_SIZE + BEFORE_TABLE,
                space: Space::new(physical + before, first),
                pool,
                roots: address + before,
                roots_physical: physical + before,
                memory: (memory, given.memory),
                exit,
                services: self.nucleus.symbol(self.fences().service_table())?,
                asids: self.asids(),
            };
            self.memory.store(cell(physical, CELL_SERVER), self.placed[index].space.word());
            self.memory.store(cell(physical, CELL_PROCESS), server.space.word());
            self.connect_processes_of(index, &server, physical + 2 * PAGE_SIZE)?;
            let status_directory = self.map_processes(index, &server, physical)?;
            self.process_servers.push(Server {
                instance: index,
                roots: server.roots_physical,
                status: physical,
                status_directory,
                memory,
                memory_size: given.memory,
                pool,
            });
            address += before + pool.size();
            identifier += pool.spaces;
            memory += given.memory;
        }
        Ok(())
    }

    /// The portals of a server and of its processes, whose domain block is at a physical address.
    fn connect_processes_of(
        &mut self,
        index: usize,
        server: &ProcessServer,
        block: u64,
    ) -> Result<(), String> {
        let has_float = self.system.board.float;
        let mut add = |portal| {
            self.code.add(&mut self.memory, |words, address| {
                generate::process(portal, server, words, address)
            })
        };
        let call = add(ProcessPortal::Call)?;
        let back = add(ProcessPortal::Return)?.call;
        let fault = add(ProcessPortal::Fault)?.call;
        let illegal = add(ProcessPortal::Illegal)?.call;
        let mut operations = Vec::new();
        for (portal, operation) in [
            (PORTAL_PROCESS_BEGIN, ProcessPortal::Begin { call: call.back, back }),
            (PORTAL_PROCESS_SELECT, ProcessPortal::Select),
            (PORTAL_PROCESS_MAP, ProcessPortal::Map),
            (PORTAL_PROCESS_MAP_SEVERAL, ProcessPortal::MapSeveral),
            (PORTAL_PROCESS_LINK, ProcessPortal::Link),
            (PORTAL_PROCESS_CLEAR, ProcessPortal::Clear),
            (PORTAL_PROCESS_FENCE, ProcessPortal::Fence),
            (PORTAL_PROCESS_INTERRUPT, ProcessPortal::Interrupt { call: call.back }),
            (PORTAL_PROCESS_FLOAT, ProcessPortal::Float),
        ] {
            if has_float || operation != ProcessPortal::Float {
                operations.push((portal, add(operation)?.call));
            }
        }
        let own = self.placed[index].table_physical;
        for (portal, code) in operations {
            self.memory.store(own + portal as u64 * 8, code);
        }
        // Whatever a process has in the register that is an index elsewhere leads to its server.
        let table = block + BEFORE_TABLE;
        self.memory.store(table, call.back);
        for portal in 1..self.connected.tables().entries() as u64 {
            self.memory.store(table + portal * 8, call.call);
        }
        for slot in 0..UPCALL_SLOTS {
            let entry = |table: u64| table.wrapping_add_signed(upcall_entry(slot));
            let code = match slots(Upcall::Fault).contains(&slot) {
                true if slot == ILLEGAL && has_float => illegal,
                true => fault,
                false => self.memory.load(entry(own)),
            };
            self.memory.store(entry(table), code);
        }
        for field in [FIELD_NUMBER, FIELD_SPACE] {
            let word = self.memory.load(own.wrapping_add_signed(field));
            self.memory.store(table.wrapping_add_signed(field), word);
        }
        Ok(())
    }

    /// Maps what the server reaches: its processes' memory, the pool to read it, the status page. Returns the directory that leads there,
    /// which no other domain has.
    fn map_processes(
        &mut self,
        index: usize,
        server: &ProcessServer,
        status: u64,
    ) -> Result<u64, String> {
        let root = self.placed[index].root;
        let (tables, size) = (server.roots_physical, server.pool.size());
        let (memory, memory_size) = server.memory;
        for (physical, size, rights) in [(tables, size, READ), (memory, memory_size, READ | WRITE)]
        {
            let address = PROCESS_MEMORY + physical;
            let rights = rights | USER;
            self.tables.map_large(&mut self.memory, root, address, physical, size, rights)?;
        }
        let directory = self.tables.take(1)?;
        let leaf = self.tables.take(1)?;
        self.memory.store(slot(directory, STATUS_PAGE, 1), table_entry(leaf));
        let entry = page_entry(status, READ | WRITE | USER);
        self.memory.store(slot(leaf, STATUS_PAGE, 0), entry);
        Ok(directory)
    }

    /// The roots of all processes.
    pub(super) fn process_roots(&self) -> impl Iterator<Item = u64> + '_ {
        self.process_servers.iter().flat_map(Server::all_roots)
    }

    /// The status page is in the half of the kernel domain, but of its server alone.
    pub(super) fn link_status_pages(&mut self) {
        for server in &self.process_servers {
            let root = self.placed[server.instance].root.0;
            let entry = slot(root, STATUS_PAGE, ROOT_LEVEL);
            assert_eq!(self.memory.load(entry), 0, "no instance's region reaches so far");
            self.memory.store(entry, table_entry(server.status_directory));
        }
    }

    fn process_server(&self, index: usize) -> Option<&Server> {
        self.process_servers.iter().find(|server| server.instance == index)
    }

    /// What the startup page says.
    pub(super) fn processes_given(&self, index: usize) -> Given {
        self.process_server(index).map_or(Given::default(), |server| Given {
            memory: server.memory,
            memory_size: server.memory_size,
            tables: server.roots,
            pool: server.pool,
        })
    }

    /// What the check compares with the page tables.
    pub(super) fn processes_checked(&self, index: usize) -> Option<check::Processes> {
        let server = self.process_server(index)?;
        Some(check::Processes {
            status: server.status,
            roots: server.all_roots().collect(),
            pool: server.roots..server.roots + server.pool.size(),
            memory: server.memory..server.memory + server.memory_size,
        })
    }
}

/// Where a cell is in memory, from the status page's physical address.
fn cell(status: u64, cell: i64) -> u64 {
    (status + PAGE_SIZE).wrapping_add_signed(cell)
}
