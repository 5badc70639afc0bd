//! The start of an instance: its first thread, its sections and its startup page.

use super::{Error, Layout, pages, take};
use crate::memory::*;
use cairn_abi::address::*;
use cairn_abi::arch::interrupt::INTERRUPTS_ON;
use cairn_abi::arch::trap::{
    FRAME_REGISTER, KERNEL_STATUS, RETURN_REGISTER, STACK_REGISTER, USER_STATUS,
};
use cairn_abi::descriptor;
use cairn_abi::memory::SECTIONS_AT_RUN_TIME;
use cairn_abi::page_table::{ENTRIES, ROOT_LEVEL, target};
use cairn_abi::startup::*;
use cairn_abi::thread::*;
use cairn_description::arguments::Value;
use cairn_description::model::{Access, Role};
use zerocopy::{FromZeros, IntoBytes};

impl Layout<'_> {
    /// First threads. Thread 0 is the idle thread, which a scheduler runs when nothing else is
    /// ready; the others' numbers follow the instances.
    pub(super) fn set_up_threads(&mut self, exit: u64) -> Result<(), Error> {
        let idle = self.system.roles.idle;
        let idle = idle.ok_or_else(|| {
            cairn_description::Error::new(
                &self.system.name.place,
                format!("the system `{}` has no idle component", self.system.name),
                "expected the role `idle` in `[system]`",
                "add an instance of the component \"idle\", and write `idle = \"idle\"` here",
            )
        })?;
        self.set_up_thread(idle, exit)?;
        for index in self.instances().filter(|index| *index != idle) {
            self.set_up_thread(index, exit)?;
        }
        Ok(())
    }

    /// The first thread of an instance that has one: a frame that ends it, and above it one from
    /// which the trap return enters `main`.
    fn set_up_thread(&mut self, index: usize, exit: u64) -> Result<(), String> {
        let instance = &self.system.instances[index];
        let Some(main) = self.components[index].descriptor.main else { return Ok(()) };
        if *instance.on_demand {
            return Ok(());
        }
        let limit = *self.system.threads;
        if self.next.thread >= u64::from(limit) {
            return Err(format!(
                "more first threads than `threads = {limit}` of the system allows"
            ));
        }
        let thread = take(&mut self.next.thread);
        let placed = &self.placed[index];
        let block = self.areas.threads.at(thread_block(thread as usize));
        let in_kernel = instance.is_in_kernel();
        let base = block + base_frame(thread as usize) as u64;
        let top = base + TRAP_FRAME as u64;
        let trap_return = self.nucleus.symbol("trap_return")?;
        let at = |header: u64, offset: i64| header.wrapping_add_signed(offset);
        let (stack, frame) = match in_kernel {
            false => (placed.stack, 0),
            true => (kernel_stack(thread as usize), thread_block(thread as usize) + (base - block)),
        };
        let words = [
            (at(base, FRAME_RETURN), exit),
            (at(base, FRAME_TABLE), placed.table),
            (at(top, FRAME_RETURN), trap_return),
            (at(top, FRAME_TABLE), placed.table),
            (at(top, TRAP_STATUS), if in_kernel { KERNEL_STATUS } else { USER_STATUS }),
            (at(top, TRAP_INTERRUPTS), INTERRUPTS_ON),
            (at(top, TRAP_SEPC), placed.image + main),
            (at(top, TRAP_SPACE), placed.space.word()),
            (at(top, trap_register(RETURN_REGISTER)), placed.stub),
            (at(top, trap_register(STACK_REGISTER)), stack),
            (at(top, trap_register(FRAME_REGISTER)), frame),
            (at(block, FIELD_FRAME), thread_block(thread as usize) + (top - block)),
            (at(block, FIELD_DOMAIN), placed.domain.into()),
        ];
        for (address, word) in words {
            self.memory.store(address, word);
        }
        let idle = self.system.roles.idle == Some(index);
        self.record.thread(thread, index, instance, idle);
        Ok(())
    }

    /// Takes the memory of those that are started by a call out of their page tables, as the memory manager does at a death.
    pub(super) fn put_to_sleep(&mut self) {
        let asleep = |index: &usize| *self.system.instances[*index].on_demand;
        let asleep: Vec<usize> = self.with_pages().filter(asleep).collect();
        for index in asleep {
            let placed = &self.placed[index];
            let is_apart = !self.system.instances[index].is_in_kernel();
            let entries: Vec<u64> = match is_apart && !self.system.has_guests(index) {
                // All that the root has of user mode.
                true => (placed.root.0..).step_by(8).take(ENTRIES / 2).collect(),
                // Others are in the same page table.
                false => {
                    let root = slot(placed.root.0, placed.region, ROOT_LEVEL);
                    let directory = target(self.memory.load(root));
                    let tables = (0..REGION_SIZE).step_by(LEAF_SPAN as usize);
                    tables.map(|offset| slot(directory, placed.region + offset, 1)).collect()
                }
            };
            for entry in entries {
                let word = self.memory.load(entry);
                self.memory.store(entry, word & !VALID);
            }
        }
    }

    /// Maps the sections that the description gives an instance.
    pub(super) fn map_sections(&mut self, index: usize) -> Result<Vec<Mapping>, String> {
        let mut mappings = Vec::new();
        if self.guest(index).is_some() {
            return Ok(mappings);
        }
        for used in &self.system.instances[index].sections {
            let section = &self.system.sections[used.section];
            let size = pages(*section.size) * PAGE_SIZE;
            let address = self.section_address(used.section)?;
            if section.pager.is_some() {
                let writable = *used.access == Access::ReadWrite;
                let name = descriptor::name(&section.name);
                mappings.push(Mapping::memory(name, address, *section.size, writable));
                continue;
            }
            let physical = match self.record.section(used.section) {
                Some(physical) => physical,
                None => {
                    if size >= LEAF_SPAN {
                        self.memory.align(LEAF_SPAN);
                    }
                    let physical = self.memory.pages(pages(size));
                    if let Some(content) = self.contents.get(used.section) {
                        self.memory.write(physical, content);
                    }
                    self.record.set_section(used.section, physical);
                    physical
                }
            };
            // What one may do, all can that have the same page table.
            let root = self.placed[index].root;
            let uses = |at: usize| {
                let mut uses = self.system.instances[at].sections.iter();
                let used = uses.find(|one| one.section == used.section)?;
                (self.placed[at].root == root).then_some((at, *used.access))
            };
            let users: Vec<(usize, Access)> = self.with_pages().filter_map(uses).collect();
            let writable = users.iter().any(|(_, access)| *access == Access::ReadWrite);
            let rights = self.placed[index].reach | READ | if writable { WRITE } else { 0 };
            let address = match self.system.instances[index].is_in_kernel() {
                false => address,
                true => kernel_view(address),
            };
            if users[0].0 == index {
                let (memory, tables) = (&mut self.memory, &mut self.tables);
                match self.passed.contains_key(&(root.0, used.section)) {
                    // Windows show small pages, with the mark that they may be passed on.
                    true => {
                        tables.map_range(memory, root, address, physical, size, rights | OWN)?
                    }
                    false => tables.map_large(memory, root, address, physical, size, rights)?,
                }
            }
            mappings.push(Mapping::memory(
                descriptor::name(&section.name),
                address,
                *section.size,
                writable,
            ));
        }
        Ok(mappings)
    }

    /// Where a section lies in every domain of user mode that maps it.
    pub(super) fn section_address(&self, section: usize) -> Result<u64, String> {
        let (before, rest) = self.system.sections.split_at(section);
        let size = pages(*rest[0].size) * PAGE_SIZE;
        let begin = SECTIONS + sections_span(before.iter().map(|section| *section.size));
        let address = begin + section_spread(size);
        match address + size > SECTIONS_AT_RUN_TIME {
            true => Err(format!("no addresses are left for the section `{}`", rest[0].name)),
            false => Ok(address),
        }
    }

    /// Whether an instance does not serve yet when it starts, and its callers wait until it does.
    pub(super) fn callers_wait(&self, index: usize) -> bool {
        self.components[index].descriptor.says_ready && self.system.callers_wait(index)
    }

    /// Maps a startup page into each instance; the physical address of the first. It is mapped a second time where an instance
    /// says that it serves, but not yet if callers wait for that.
    pub(super) fn map_startup_pages(&mut self) -> Result<u64, String> {
        let first = self.memory.pages(self.placed.len() as u64);
        let indexes: Vec<usize> = self.with_pages().collect();
        for index in indexes {
            let physical = first + index as u64 * PAGE_SIZE;
            let places: &[u64] = match self.components[index].descriptor.says_ready {
                true if !self.callers_wait(index) => &[STARTUP_OFFSET, READY_OFFSET],
                _ => &[STARTUP_OFFSET],
            };
            let placed = &self.placed[index];
            for offset in places {
                let (address, rights) = (placed.region + offset, placed.reach | READ);
                self.tables.map(&mut self.memory, placed.root, address, physical, rights)?;
            }
        }
        Ok(first)
    }

    pub(super) fn write_startup_pages(
        &mut self,
        first: u64,
        sections: &[Vec<Mapping>],
    ) -> Result<(), String> {
        for (index, sections) in sections.iter().enumerate() {
            let page = self.startup_page(index, sections)?;
            self.memory.write(first + index as u64 * PAGE_SIZE, page.as_bytes());
        }
        Ok(())
    }

    fn startup_page(&self, index: usize, sections: &[Mapping]) -> Result<Startup, String> {
        let instance = &self.system.instances[index];
        let placed = &self.placed[index];
        let mut page = Startup::new_zeroed();
        page.magic = MAGIC;
        let own = &self.system.instances[self.system.identity(index)];
        page.instance = own.number;
        page.domain = instance.domain;
        page.imports_left_out = self.imports_left_out(index);
        page.portals_before = self.portals_before(index);
        page.portal_manager = self.import_of(index, Role::Portals, "Portals");
        page.threads = self.import_of(index, Role::Scheduler, "Threads");
        page.thread_limit = (*own.threads).into();
        page.processes = self.processes_given(index);
        page.log_words = self.logs.each[index].size / 8;
        page.name = descriptor::name(&own.name);
        page.time_base = self.system.board.time_base;
        page.run_rate = self.system.board.run_rate();
        page.run_to_completion =
            u64::from(instance.role.is_some_and(|role| role.runs_to_completion()));
        page.heap = placed.region + placed.parts.heap;
        page.heap_size = placed.parts.heap_size;
        page.heap_limit = placed.parts.heap_limit;
        page.memory_manager = self.import_of(index, Role::Memory, "Memory");
        page.run_time_memory = placed.region + placed.parts.end;
        let devices = self.device_mappings(index);
        if devices.len() > DEVICES_MAXIMUM {
            return Err(format!(
                "instance `{}` has more than {DEVICES_MAXIMUM} devices",
                *instance.name
            ));
        }
        page.dma = placed.region + placed.parts.dma.memory();
        page.dma_size = placed.parts.dma.size;
        page.device_count = devices.len() as u32;
        page.devices[..devices.len()].copy_from_slice(&devices);
        if sections.len() > SECTIONS_MAXIMUM {
            return Err(format!(
                "instance `{}` maps more than {SECTIONS_MAXIMUM} sections",
                *instance.name
            ));
        }
        page.section_count = sections.len() as u32;
        page.sections[..sections.len()].copy_from_slice(sections);
        let argument = instance.argument.as_bytes();
        let length = argument.len().min(ARGUMENT_SIZE);
        page.argument_length = length as u64;
        page.argument[..length].copy_from_slice(&argument[..length]);
        let mut end = length;
        for (place, value) in self.connected.arguments[index].iter().enumerate() {
            page.values[place] = match value {
                Value::Word(word) => *word,
                Value::Text(text) => {
                    let at = end;
                    end += text.len();
                    page.argument[at..end].copy_from_slice(text.as_bytes());
                    text_value(at, text.len())
                }
            };
        }
        Ok(page)
    }
}
