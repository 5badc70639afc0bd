//! An instance's region: its image, heap, stacks and devices, each in its page table.

use super::devices::DmaParts;
use super::initial::{self, Part};
use super::{Error, Layout, pages, take};
use crate::Component;
use crate::memory::*;
use crate::report::InstanceReport;
use cairn_abi::address::*;
use cairn_abi::domain::*;
use cairn_abi::loadable::stack_alias;
use cairn_abi::memory::SECTIONS_AT_RUN_TIME;
use cairn_abi::record::*;
use cairn_abi::{DomainId, Space};
use cairn_description::board::Device;
use cairn_description::model::{Instance, Role};
use cairn_description::show_size;
use cairn_loader::Rights;

/// An instance's addresses and sizes, as far as it is laid out.
pub(super) struct Placed {
    pub domain: DomainId,
    pub region: u64,
    /// Address of what the component's file has at 0.
    pub image: u64,
    pub parts: Parts,
    pub root: Root,
    pub space: Space,
    /// Who reaches its pages, as a right: [`USER`], or [`GLOBAL`] in the kernel domain.
    pub reach: u64,
    /// Where its functions return to.
    pub stub: u64,
    /// Kernel address of the page-table entry of the region's first page.
    pub entries: u64,
    /// Bytes of the region that those entries map.
    pub entries_span: u64,
    /// Top of the stack of the first thread, or of the run-to-completion stack.
    pub stack: u64,
    /// The portal table: its kernel address, and where in memory it lies.
    pub table: u64,
    pub table_physical: u64,
    /// The first index of the table that nothing is installed at.
    pub next_portal: usize,
    /// Where calls inside the domain find their methods, if it has several instances: where in memory.
    pub inside: Option<u64>,
    /// Descriptors of activations that no client owns yet.
    pub activations: Vec<u64>,
    /// Where in memory the queues of its devices begin, and behind them its memory for DMA.
    pub dma_physical: u64,
    /// Pages of page tables.
    pub page_tables: u64,
    /// Bytes of memory beside page tables.
    pub memory_used: u64,
    /// Of that, what is the same memory as another instance's.
    pub memory_shared: u64,
    /// Bytes before its large pages that nothing uses.
    pub memory_left_out: u64,
    pub report: InstanceReport,
}

impl Placed {
    /// The portal table as calls in the kernel domain reach it.
    pub fn links(&self) -> u64 {
        self.region + LINKS_OFFSET + (self.table - BEFORE_TABLE) % PAGE_SIZE + BEFORE_TABLE
    }
}

/// Where the parts of a region begin, from its first address, and their sizes.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub heap: u64,
    pub heap_size: u64,
    /// Bytes of addresses that the heap has, with those into which it grows.
    pub heap_limit: u64,
    /// The activations, whose first is the first thread's stack.
    activations: Activations,
    /// Behind them, so that a successor has room for its content before all that stays.
    pub dma: DmaParts,
    /// Where it has nothing from the layout any more.
    pub end: u64,
    /// Bytes that it may get at run time, at most.
    quota: u64,
}

/// Where activations follow each other.
#[derive(Clone, Copy)]
struct Activations {
    first: u64,
    count: u64,
    /// The addresses that the first one takes, and each of the others.
    strides: [u64; 2],
}

impl Activations {
    /// Where the first so many end.
    fn end_of(&self, count: u64) -> u64 {
        let [first, other] = self.strides;
        self.first + first * count.min(1) + other * count.saturating_sub(1)
    }
}

impl Parts {
    fn new(
        instance: &Instance,
        component: &Component,
        devices: &[Device],
    ) -> Result<Parts, cairn_description::Error> {
        let heap_size = pages(*instance.heap) * PAGE_SIZE;
        // One that fills large pages begins with one.
        let align = if heap_size >= LEAF_SPAN { LEAF_SPAN } else { PAGE_SIZE };
        let heap = (image_spread(instance.region) + component.image_end()).next_multiple_of(align);
        let heap_limit = heap_size.max(pages(*instance.heap_limit) * PAGE_SIZE);
        // In the kernel domain each thread has its own, and who runs to completion has one there too.
        let count = match instance.is_in_kernel() {
            true => instance.role.is_some_and(Role::runs_to_completion).into(),
            false => 1 + u64::from(instance.stacks.count),
        };
        let first = (*instance.stack).max(*instance.stack_limit);
        let others = instance.stacks.size.max(*instance.stacks.limit);
        let activations = Activations {
            first: activation_from(heap + heap_limit, instance.region),
            count,
            strides: [first, others].map(activation_stride),
        };
        let dma = DmaParts::new(instance, devices, activations.end_of(count));
        let end = activation_from(dma.end(), instance.region);
        let quota = *instance.memory;
        let parts = Parts { heap, heap_size, heap_limit, activations, dma, end, quota };
        if parts.end > DEVICES_OFFSET {
            return Err(cairn_description::Error::new(
                &instance.name.place,
                format!("`{}` does not fit into its region of addresses", instance.name),
                format!(
                    "expected at most {}, found {}",
                    show_size(DEVICES_OFFSET),
                    show_size(parts.end)
                ),
                format!(
                    "ask for fewer or smaller stacks, each of which takes {} of addresses, or for less heap: the program takes {}",
                    show_size(parts.activations.strides[1]),
                    show_size(component.image_end())
                ),
            ));
        }
        Ok(parts)
    }

    /// Page tables in a row: what it gets at run time can be passed in windows as well.
    fn leaves(&self) -> u64 {
        (self.end + self.quota).min(DEVICES_OFFSET).div_ceil(LEAF_SPAN)
    }
}

impl Layout<'_> {
    /// Gives an instance its region.
    pub(super) fn place(&mut self, index: usize) -> Result<(), Error> {
        if let Some(of) = self.guest(index) {
            return Ok(self.place_guest(index, of)?);
        }
        let instance = &self.system.instances[index];
        let component = self.components[index];
        let tables_before = self.tables.used;
        let memory_before = self.memory.end();
        let parts = Parts::new(instance, component, &self.system.board.devices)?;
        let in_kernel = instance.is_in_kernel();
        let region = instance.start_address();
        let fellow = self.system.fellows(index).find(|fellow| *fellow < index);
        let root = match fellow {
            _ if in_kernel => self.kernel_root,
            Some(fellow) => self.placed[fellow].root,
            None => Root(self.tables.take(1)?),
        };
        let leaves = parts.leaves();
        let entries = self.tables.leaves(&mut self.memory, root, region, leaves)?;
        if !in_kernel {
            self.tables.directory(&mut self.memory, root, SECTIONS_AT_RUN_TIME)?;
        }
        let image = region + image_spread(instance.region);
        let domain = instance.domain;
        let table = self.connected.tables().portal_table(domain);
        self.placed.push(Placed {
            domain,
            region,
            image,
            parts,
            root,
            space: match in_kernel {
                true => self.boot_space(),
                false => Space::new(root.0, if self.asids() { domain.into() } else { 0 }),
            },
            reach: if in_kernel { GLOBAL } else { USER },
            stub: match in_kernel {
                true => self.nucleus.symbol("kernel_return")?,
                false => image + component.stub,
            },
            entries: self.tables.kernel_address(entries),
            entries_span: (leaves * LEAF_SPAN).min(DEVICES_OFFSET),
            stack: 0,
            table,
            table_physical: self.areas.domains.at(table),
            next_portal: self
                .system
                .fellows(index)
                .map(|at| self.connected.portals[at].end)
                .max()
                .unwrap_or(PORTAL_FIRST_IMPORT),
            inside: None,
            activations: Vec::new(),
            dma_physical: 0,
            page_tables: 0,
            memory_used: 0,
            memory_shared: 0,
            memory_left_out: 0,
            report: InstanceReport::new(instance, component),
        });
        self.map_inside(index)?;
        self.load_component(index)?;
        if in_kernel {
            self.map_links(index)?;
        }
        self.map_heap(index)?;
        self.map_stacks(index)?;
        self.map_devices(index)?;
        let placed = &mut self.placed[index];
        placed.page_tables = self.tables.used - tables_before;
        placed.memory_used += self.memory.end() - memory_before - placed.memory_left_out;
        placed.report.reachable = DEVICES_OFFSET - parts.end;
        Ok(())
    }

    fn load_component(&mut self, index: usize) -> Result<(), String> {
        let component = self.components[index];
        let image = self.placed[index].image;
        let in_kernel = self.system.instances[index].is_in_kernel();
        for segment in &component.segments {
            let mut content = vec![0; segment.size as usize];
            component.fill(segment, image, &mut content);
            component.relink(segment, image, &mut content, |call| self.form(index, call))?;
            match self.copying(index) {
                Some((owner, _)) if in_kernel && owner == index => {
                    component.copy_in_place(segment, &mut content)?;
                }
                Some(_) if in_kernel => {
                    let word = self.placed[index].region + INSIDE_OFFSET;
                    component.copy_elsewhere(segment, image, &mut content, word)?;
                }
                _ => {}
            }
            if self.system.board.cycle_base.is_some() {
                component.count_by_cycles(segment, &mut content);
            }
            for part in component.memory(segment) {
                let content = &content[part.start as usize..part.end as usize];
                self.load_part(
                    index,
                    segment.rights,
                    image + segment.offset + part.start,
                    content,
                )?;
            }
        }
        Ok(())
    }

    /// Maps whole pages of a component with this content, and notes from what a restart makes them.
    fn load_part(
        &mut self,
        index: usize,
        of: Rights,
        address: u64,
        content: &[u8],
    ) -> Result<(), String> {
        let size = content.len() as u64;
        let text = (of == Rights::Code).then(|| (content.to_vec(), self.placed[index].reach));
        let physical = match text.as_ref().and_then(|text| self.texts.get(text)) {
            // Pages that are shared with other instances count in the quota of each.
            Some(physical) => {
                self.placed[index].memory_used += pages(size) * PAGE_SIZE;
                self.placed[index].memory_shared += pages(size) * PAGE_SIZE;
                *physical
            }
            None => {
                let physical = self.pages_for(index, address, size);
                self.memory.write(physical, content);
                physical
            }
        };
        if let Some(text) = text {
            self.texts.entry(text).or_insert(physical);
        }
        let placed = &mut self.placed[index];
        let rights = match of {
            Rights::Code => READ | EXECUTE,
            Rights::Constants => READ,
            Rights::Data => READ | WRITE,
        } | placed.reach
            | OWN;
        self.tables.map_range(&mut self.memory, placed.root, address, physical, size, rights)?;
        placed.report.segment(of, size);
        let content_kind = match of {
            Rights::Code => CONTENT_TEXT,
            Rights::Constants => CONTENT_CONSTANTS,
            Rights::Data => CONTENT_DATA,
        };
        // Writable content is stored a second time, from which a restart begins; pages that begin as zero are not.
        let mut note = |from: u64, to: u64, initial| {
            let instance = self.system.instances[index].number;
            self.record.segment(
                (instance, content_kind),
                rights,
                address + from,
                to - from,
                physical + from,
                initial,
            );
        };
        match of {
            Rights::Data => {
                for Part { bytes, is_zero } in initial::parts(content) {
                    let size = bytes.len() as u64;
                    let copy = if is_zero { 0 } else { self.memory.pages(pages(size)) };
                    if !is_zero {
                        self.memory.write(copy, &content[bytes.clone()]);
                    }
                    note(bytes.start as u64, bytes.end as u64, copy);
                }
            }
            _ => note(0, size, physical),
        }
        Ok(())
    }

    /// The portal table of an instance in the kernel domain, where its calls reach it.
    fn map_links(&mut self, index: usize) -> Result<(), String> {
        let placed = &self.placed[index];
        let block = placed.table_physical - BEFORE_TABLE;
        let first = block / PAGE_SIZE * PAGE_SIZE;
        let size = block - first + self.connected.tables().block_size();
        let size = size.next_multiple_of(PAGE_SIZE).min(LINKS_SIZE);
        let address = placed.region + LINKS_OFFSET;
        self.map_kernel_range(address, first, size, READ)
    }

    fn map_heap(&mut self, index: usize) -> Result<(), String> {
        let placed = &self.placed[index];
        let Parts { heap, heap_size: size, heap_limit: limit, .. } = placed.parts;
        let address = placed.region + heap;
        if size > 0 {
            self.map_fresh((index, CONTENT_HEAP), address, size)?;
            self.placed[index].report.heap = size;
        }
        self.note_growth((index, CONTENT_GROWTH), address + size, limit - size);
        Ok(())
    }

    /// Notes addresses into which a heap or stack grows.
    fn note_growth(&mut self, (index, content): (usize, u16), address: u64, size: u64) {
        if size > 0 {
            let whose = (self.system.instances[index].number, content);
            self.record.segment(whose, 0, address, size, 0, 0);
        }
    }

    /// Maps fresh pages at an address, writable, and notes what they are for. Returns their physical address.
    fn map_fresh(
        &mut self,
        (index, content): (usize, u16),
        address: u64,
        size: u64,
    ) -> Result<u64, String> {
        let physical = self.pages_for(index, address, size);
        let placed = &self.placed[index];
        let rights = OWN | placed.reach | READ | WRITE;
        self.tables.map_range(&mut self.memory, placed.root, address, physical, size, rights)?;
        self.record.segment(
            (self.system.instances[index].number, content),
            rights,
            address,
            size,
            physical,
            0,
        );
        Ok(physical)
    }

    /// Fresh memory for `address`, by large pages where it can be; what is left out for it is not the instance's.
    fn pages_for(&mut self, index: usize, address: u64, size: u64) -> u64 {
        let end = self.memory.end();
        self.memory.align_for(address, size);
        self.placed[index].memory_left_out += self.memory.end() - end;
        self.memory.pages(pages(size))
    }

    /// Maps large pages where small ones make some up.
    pub(super) fn merge_pages(&mut self) {
        let indexes: Vec<usize> = self.with_pages().collect();
        for placed in indexes.into_iter().map(|index| &self.placed[index]) {
            for offset in (0..placed.entries_span).step_by(LEAF_SPAN as usize) {
                self.tables.merge(&mut self.memory, placed.root, placed.region + offset);
            }
        }
    }

    /// The first thread's stack, then the stacks of activations, on which clients' threads run.
    fn map_stacks(&mut self, index: usize) -> Result<(), String> {
        let instance = &self.system.instances[index];
        let Placed { region, parts, .. } = self.placed[index];
        for position in 0..parts.activations.count {
            // What is more than a small stack lies before.
            let address = region + parts.activations.end_of(position + 1) - ACTIVATION_STRIDE;
            let (size, limit) = match position {
                0 => (*instance.stack, *instance.stack_limit),
                _ => (instance.stacks.size, *instance.stacks.limit),
            };
            let [size, limit] = [size, limit].map(|size| pages(size) * PAGE_SIZE);
            let (content, growth) = match position {
                0 => (CONTENT_STACK, CONTENT_GROWTH),
                _ => (CONTENT_CLIENT_STACK, CONTENT_CLIENT_GROWTH),
            };
            let (descriptor, top) = self.activation((index, content), address, size)?;
            let placed = &mut self.placed[index];
            placed.report.stacks += size;
            match position {
                0 => placed.stack = top,
                _ => placed.activations.push(descriptor),
            }
            let more = limit.saturating_sub(size);
            self.note_growth((index, growth), top - size - more, more);
        }
        Ok(())
    }

    /// One activation: stack, kernel alias of its top page, descriptor. Returns the descriptor's
    /// address and the stack's top.
    fn activation(
        &mut self,
        (index, content): (usize, u16),
        address: u64,
        size: u64,
    ) -> Result<(u64, u64), String> {
        let top = address + ACTIVATION_STACK_TOP;
        let physical = self.map_fresh((index, content), top - size, size)?;
        let number = take(&mut self.next.activation);
        let alias = stack_alias(number as u32);
        self.map_kernel_range(alias, physical + size - PAGE_SIZE, PAGE_SIZE, READ | WRITE)?;

        let descriptor = activation(number as usize);
        let at = self.areas.activations.at(descriptor);
        let placed = &self.placed[index];
        let window = address + ACTIVATION_WINDOWS;
        self.memory.store(at + ACTIVATION_STACK as u64, top);
        self.memory.store(at + ACTIVATION_ALIAS as u64, alias.wrapping_sub(top - PAGE_SIZE));
        self.memory.store(at + ACTIVATION_WINDOW as u64, window);
        let windows = placed.entries + (window - placed.region) / PAGE_SIZE * 8;
        self.memory.store(at + ACTIVATION_WINDOW_ENTRY as u64, windows);
        self.record.activation(number, self.system.instances[index].number, windows);
        Ok((descriptor, top))
    }

    /// The first threads' stacks of the members of stack groups, mapped in all members. They see the same, and an
    /// instance is in one group, so all have the same page tables for it: what one domain's walks brought into the
    /// cache serves the next.
    pub(super) fn place_stack_groups(&mut self) -> Result<(), String> {
        let rights = USER | READ | WRITE;
        for (number, group) in self.system.stack_groups.iter().enumerate() {
            let group_base = STACK_GROUPS + number as u64 * STACK_GROUP_SIZE;
            let mut top = group_base;
            for member in &group.members {
                top += GROUP_STACK_STRIDE;
                let instance = &self.system.instances[*member];
                let size = pages(*instance.stack) * PAGE_SIZE;
                let physical = self.memory.pages(pages(size));
                let root = self.placed[group.members[0]].root;
                self.tables.map_range(
                    &mut self.memory,
                    root,
                    top - size,
                    physical,
                    size,
                    rights,
                )?;
                let whose = (instance.number, CONTENT_STACK);
                self.record.segment(whose, rights, top - size, size, physical, 0);
                let placed = &mut self.placed[*member];
                placed.stack = top;
                placed.report.stacks += size;
                placed.memory_used += size;
            }
            let [first, others @ ..] = &group.members[..] else { continue };
            for other in others {
                let (from, to) = (self.placed[*first].root, self.placed[*other].root);
                self.tables.share(&mut self.memory, from, to, group_base);
            }
        }
        Ok(())
    }
}
