//! Places a system: memory, page tables, portal tables, threads.

use crate::check;
use crate::component::{Component, Interface, Rights};
use crate::memory::*;
use crate::nucleus::Nucleus;
use crate::portals::PortalCode;
use crate::record::{self, RecordParts};
use crate::report::{InstanceReport, Report};
use cairn_abi::address::*;
use cairn_abi::domain::*;
use cairn_abi::parameters::Parameters;
use cairn_abi::{descriptor, privileged, semaphore, startup, thread};
use cairn_description::model::{Role, StackMode, StateMode};
use cairn_description::{Connected, System};
use cairn_portal::{Crossing, End, Generated, SemaphoreOperation, ShortCircuit, Specification, generate};
use std::collections::HashMap;
use zerocopy::{FromZeros, IntoBytes};

/// Pages of portal code: what the first system needs and what comes at run time.
const PORTAL_CODE_PAGES: u64 = 256;
/// Distance between two stacks of a stack group; the pages between are not mapped.
const GROUP_STACK_STRIDE: u64 = 64 * 1024;
/// Pages of page tables that are left for run time.
const SPARE_PAGE_TABLES: u64 = 64;

/// A bootable system.
pub struct Image {
    /// Content from the load address on.
    pub bytes: Vec<u8>,
    /// What lies where.
    pub report: Report,
}

/// What the layout knows of an instance.
pub(crate) struct Placed {
    pub number: u64,
    pub region: u64,
    pub root: Root,
    pub satp: u64,
    /// Kernel address of the page-table entry of the region's first page.
    pub entries: u64,
    pub entries_span: u64,
    /// Top of the stack of the first thread, or of the run-to-completion stack.
    pub stack: u64,
    pub table: u64,
    pub table_physical: u64,
    pub next_portal: usize,
    /// Descriptors of activations that no client owns yet.
    pub activations: Vec<u64>,
    pub page_tables: u64,
    pub memory_used: u64,
    pub report: InstanceReport,
}

/// Everything while it is being laid out.
pub(crate) struct Layout<'a> {
    pub system: &'a System,
    pub connected: &'a Connected,
    pub components: Vec<&'a Component>,
    pub nucleus: &'a Nucleus,
    pub memory: Memory,
    pub tables: PageTables,
    pub kernel_root: Root,
    pub code: PortalCode,
    pub placed: Vec<Placed>,
    pub threads_physical: u64,
    pub domains_physical: u64,
    pub activations_physical: u64,
    pub semaphores_physical: u64,
    pub counters_physical: u64,
    pub counters: u64,
    pub next_activation: u64,
    pub next_queue: u64,
    pub next_semaphore: u64,
    pub next_alias: u64,
    queues: HashMap<(usize, usize), u64>,
    pub no_portal: u64,
    pub record: RecordParts,
}

fn pages(bytes: u64) -> u64 {
    bytes.div_ceil(PAGE_SIZE)
}

/// Lays a system out. `components` are the files of its instances' components, in order.
pub fn layout(
    system: &System,
    connected: &Connected,
    components: Vec<&Component>,
    nucleus: &Nucleus,
) -> Result<Image, String> {
    let load = *system.board.load_address;
    let limit = system.board.memory.base + *system.board.memory.size;
    let mut memory = Memory::new(load, limit);
    let nucleus_physical = memory.pages(pages(nucleus.bytes.len() as u64))?;
    memory.at(nucleus_physical, nucleus.bytes.len()).copy_from_slice(&nucleus.bytes);

    let instances = system.instances.len() as u64;
    let threads = u64::from(*system.threads);
    let domains = instances + 1;
    let threads_physical = memory.pages(threads)?;
    let domains_physical = memory.pages(domains * DOMAIN_BLOCK_SIZE / PAGE_SIZE)?;
    let activation_count: u64 =
        system.instances.iter().map(|instance| u64::from(instance.stacks.count) + 1).sum::<u64>() + 64;
    let activations_physical =
        memory.pages(pages(activation(activation_count as usize) - ACTIVATIONS))?;
    let semaphores_physical = memory.pages(pages(semaphore::SEMAPHORE_WINDOW_SIZE))?;
    let code = PortalCode::new(&mut memory, PORTAL_CODE_PAGES)?;
    let counters_physical = if system.counting { memory.pages(4)? } else { 0 };
    let mut tables = PageTables::new(&mut memory, 24 + instances * 8 + SPARE_PAGE_TABLES)?;
    let kernel_root = Root(tables.take(1)?);

    let mut layout = Layout {
        system,
        connected,
        components,
        nucleus,
        memory,
        tables,
        kernel_root,
        code,
        placed: Vec::new(),
        threads_physical,
        domains_physical,
        activations_physical,
        semaphores_physical,
        counters_physical,
        counters: 0,
        next_activation: 0,
        next_queue: 0,
        next_semaphore: 0,
        next_alias: 0,
        queues: HashMap::new(),
        no_portal: 0,
        record: RecordParts::default(),
    };
    layout.map_kernel(nucleus_physical, threads, domains, activation_count)?;
    for index in 0..system.instances.len() {
        layout.place(index)?;
    }
    layout.place_stack_groups()?;
    layout.fill_tables()?;
    for index in 0..system.instances.len() {
        layout.connect_imports(index)?;
        layout.connect_devices(index)?;
        layout.grant(index)?;
    }
    let (boot, exit) = layout.connect_events()?;
    // Thread 0 is the idle thread, which a scheduler runs when nothing else is ready.
    let idle = system.roles.idle.ok_or("the system has no idle component: name one with `idle` in [system]")?;
    layout.set_up_thread(idle, exit)?;
    for index in (0..system.instances.len()).filter(|index| *index != idle) {
        layout.set_up_thread(index, exit)?;
    }
    let startup_pages = layout.memory.pages(instances)?;
    let mut sections = Vec::new();
    for index in 0..system.instances.len() {
        sections.push(layout.map_sections(index)?);
        let (root, address) = (layout.placed[index].root, layout.placed[index].region + STARTUP_OFFSET);
        let physical = startup_pages + index as u64 * PAGE_SIZE;
        layout.tables.map(&mut layout.memory, root, address, physical, USER | READ)?;
    }
    record::write(&mut layout, &mut sections)?;
    for (index, sections) in sections.iter().enumerate() {
        layout.write_startup(index, startup_pages + index as u64 * PAGE_SIZE, sections)?;
    }
    layout.refresh_kernel_half()?;
    layout.write_parameters(nucleus_physical, boot, exit, threads, domains)?;
    let shared = layout.check()?;
    let report = layout.report(nucleus_physical, shared);
    Ok(Image { bytes: layout.memory.into_bytes(), report })
}

impl Layout<'_> {
    fn map_kernel(
        &mut self,
        nucleus_physical: u64,
        threads: u64,
        domains: u64,
        activations: u64,
    ) -> Result<(), String> {
        let rights = [READ | EXECUTE, READ, READ | WRITE];
        for ((address, size), rights) in self.nucleus.parts.into_iter().zip(rights) {
            self.map_kernel_range(address, nucleus_physical + (address - NUCLEUS), size, rights)?;
        }
        let (code, code_size) = self.code.extent();
        self.map_kernel_range(PORTAL_CODE, code, code_size, READ | EXECUTE)?;
        self.map_kernel_range(THREADS, self.threads_physical, threads * PAGE_SIZE, READ | WRITE)?;
        self.map_kernel_range(DOMAINS, self.domains_physical, domains * DOMAIN_BLOCK_SIZE, READ | WRITE)?;
        let size = pages(activation(activations as usize) - ACTIVATIONS) * PAGE_SIZE;
        self.map_kernel_range(ACTIVATIONS, self.activations_physical, size, READ | WRITE)?;
        let size = pages(semaphore::SEMAPHORE_WINDOW_SIZE) * PAGE_SIZE;
        self.map_kernel_range(SEMAPHORES, self.semaphores_physical, size, READ | WRITE)?;
        if self.system.counting {
            self.map_kernel_range(COUNTERS, self.counters_physical, 4 * PAGE_SIZE, READ | WRITE)?;
        }
        if let Some(finisher) = self.finisher() {
            self.map_kernel_range(FINISHER, finisher, PAGE_SIZE, READ | WRITE)?;
        }
        let size = self.tables.count * PAGE_SIZE;
        let physical = self.tables.physical;
        self.map_kernel_range(PAGE_TABLES, physical, size, READ | WRITE)
    }

    fn map_kernel_range(&mut self, address: u64, physical: u64, size: u64, rights: u64) -> Result<(), String> {
        let root = self.kernel_root;
        self.tables.map_range(&mut self.memory, root, address, physical, size, rights | GLOBAL)
    }

    /// Gives an instance its region: page tables, image, heap, stacks, devices.
    fn place(&mut self, index: usize) -> Result<(), String> {
        let instance = &self.system.instances[index];
        let component = self.components[index];
        let tables_before = self.tables.used;
        let memory_before = self.memory.end();
        let number = u64::from(instance.number);
        let region = region(instance.number);
        let root = Root(self.tables.take(1)?);

        let image_end = component
            .segments
            .iter()
            .map(|segment| segment.offset + segment.bytes.len() as u64)
            .max()
            .unwrap_or(IMAGE_OFFSET);
        let heap = image_end;
        let heap_size = pages(*instance.heap) * PAGE_SIZE;
        let activations = (heap + heap_size).next_multiple_of(ACTIVATION_STRIDE);
        let stacks = 1 + u64::from(instance.stacks.count);
        let end = activations + stacks * ACTIVATION_STRIDE;
        if end > DEVICES_OFFSET {
            return Err(format!("instance `{}` needs more than 48 MiB of address space", *instance.name));
        }
        let leaves = end.div_ceil(LEAF_SPAN);
        let entries = self.tables.leaves(&mut self.memory, root, region, leaves)?;

        let mut report = InstanceReport::new(&instance.name, &component.name, instance.number, region);
        for segment in component.relocated(region)? {
            let physical = self.memory.pages(pages(segment.bytes.len() as u64))?;
            let size = segment.bytes.len() as u64;
            self.memory.at(physical, segment.bytes.len()).copy_from_slice(&segment.bytes);
            let rights = match segment.rights {
                Rights::Code => READ | EXECUTE,
                Rights::Constants => READ,
                Rights::Data => READ | WRITE,
            } | USER;
            let address = region + segment.offset;
            self.tables.map_range(&mut self.memory, root, address, physical, size, rights)?;
            report.segment(segment.rights, size);
            // What can change is kept a second time, so that a restart begins with it.
            let initial = match segment.rights {
                Rights::Data => {
                    let copy = self.memory.pages(pages(size))?;
                    self.memory.at(copy, segment.bytes.len()).copy_from_slice(&segment.bytes);
                    copy
                }
                _ => physical,
            };
            self.record.segment(instance.number, rights, address, size, physical, initial);
        }
        if heap_size > 0 {
            let physical = self.memory.pages(pages(heap_size))?;
            let rights = USER | READ | WRITE;
            self.tables.map_range(&mut self.memory, root, region + heap, physical, heap_size, rights)?;
            self.record.segment(instance.number, rights, region + heap, heap_size, physical, 0);
            report.heap = heap_size;
        }

        let mut free = Vec::new();
        let mut first_stack = 0;
        for position in 0..stacks {
            let size = if position == 0 { *instance.stack } else { instance.stacks.size };
            let (activation, top) =
                self.activation(instance.number, root, region + activations + position * ACTIVATION_STRIDE, size, entries)?;
            report.stacks += pages(size) * PAGE_SIZE;
            match position {
                0 => first_stack = top,
                _ => free.push(activation),
            }
        }
        for (position, device) in instance.devices.iter().enumerate() {
            let device = &self.system.board.devices[**device];
            let range = device.pages();
            let address = region + DEVICES_OFFSET + self.device_offset(index, position);
            let rights = USER | READ | WRITE;
            self.tables.map_large(&mut self.memory, root, address, range.start, range.end - range.start, rights)?;
        }
        let table = portal_table(instance.number as usize);
        let asid = if self.asids() { number } else { 0 };
        self.placed.push(Placed {
            number,
            region,
            root,
            satp: 8 << 60 | asid << 44 | root.0 >> 12,
            entries: self.tables.kernel_address(entries),
            entries_span: leaves * LEAF_SPAN,
            stack: first_stack,
            table,
            table_physical: self.domains_physical + (table - DOMAINS),
            next_portal: PORTAL_FIRST_IMPORT,
            activations: free,
            page_tables: self.tables.used - tables_before,
            memory_used: self.memory.end() - memory_before,
            report,
        });
        Ok(())
    }

    /// Physical address of the emulator's test finisher.
    fn finisher(&self) -> Option<u64> {
        self.system.board.devices.iter().find(|device| device.finisher).map(|device| device.base)
    }

    /// Whether the machine has an ASID for every domain.
    pub(crate) fn asids(&self) -> bool {
        1u64 << self.system.board.asid_bits > self.system.instances.len() as u64
    }

    /// Devices follow each other, a page apart.
    pub(crate) fn device_offset(&self, index: usize, position: usize) -> u64 {
        let devices = &self.system.instances[index].devices[..position];
        devices
            .iter()
            .map(|device| {
                let range = self.system.board.devices[**device].pages();
                range.end - range.start + PAGE_SIZE
            })
            .sum()
    }

    /// One activation: stack, kernel alias of its top page, descriptor. Returns the descriptor's
    /// address and the stack's top.
    fn activation(
        &mut self,
        instance: u32,
        root: Root,
        address: u64,
        size: u64,
        entries: u64,
    ) -> Result<(u64, u64), String> {
        let top = address + ACTIVATION_STACK_TOP;
        let size = pages(size) * PAGE_SIZE;
        let physical = self.memory.pages(pages(size))?;
        self.tables.map_range(&mut self.memory, root, top - size, physical, size, USER | READ | WRITE)?;
        self.record.segment(instance, USER | READ | WRITE, top - size, size, physical, 0);
        let alias = STACK_ALIASES + self.next_alias * PAGE_SIZE;
        self.next_alias += 1;
        self.map_kernel_range(alias, physical + size - PAGE_SIZE, PAGE_SIZE, READ | WRITE)?;

        let index = self.next_activation;
        self.next_activation += 1;
        let descriptor = activation(index as usize);
        let at = self.activations_physical + (descriptor - ACTIVATIONS);
        let window = address + ACTIVATION_WINDOWS;
        let window_entry = entries + ((window & (REGION_SIZE - 1)) >> 12) * 8;
        self.memory.store(at + ACTIVATION_STACK as u64, top);
        self.memory.store(at + ACTIVATION_ALIAS as u64, alias.wrapping_sub(top - PAGE_SIZE));
        let window_entry = self.tables.kernel_address(window_entry);
        self.memory.store(at + ACTIVATION_WINDOW_ENTRY as u64, window_entry);
        self.record.activation(index, instance);
        Ok((descriptor, top))
    }

    /// The first threads' stacks of the members of stack groups, mapped in all members.
    fn place_stack_groups(&mut self) -> Result<(), String> {
        let system = self.system;
        for (number, group) in system.stack_groups.iter().enumerate() {
            for (position, member) in group.members.iter().enumerate() {
                let instance = &system.instances[*member];
                let top = STACK_GROUPS + number as u64 * STACK_GROUP_SIZE + (position as u64 + 1) * GROUP_STACK_STRIDE;
                let size = pages(*instance.stack) * PAGE_SIZE;
                let physical = self.memory.pages(pages(size))?;
                for user in &group.members {
                    let root = self.placed[*user].root;
                    self.tables.map_range(&mut self.memory, root, top - size, physical, size, USER | READ | WRITE)?;
                }
                self.record.segment(instance.number, USER | READ | WRITE, top - size, size, physical, 0);
                self.placed[*member].stack = top;
                self.placed[*member].report.stacks += size;
            }
        }
        Ok(())
    }

    fn end(&self, index: usize) -> End {
        let placed = &self.placed[index];
        End { domain: placed.number, satp: placed.satp, table: placed.table }
    }

    /// Every entry of every table leads somewhere: an unused one to the error.
    fn fill_tables(&mut self) -> Result<(), String> {
        let nothing = Crossing::default();
        let made = self.code.add(&mut self.memory, |words, address| {
            generate::short_circuit(ShortCircuit::NoPortal, &nothing, words, address)
        })?;
        self.no_portal = made.call;
        let fatal = self.nucleus.symbol("nucleus_fatal")?;
        for index in 0..self.placed.len() {
            let table = self.placed[index].table_physical;
            for portal in 0..PORTALS_MAXIMUM as u64 {
                self.memory.store(table + portal * 8, made.call);
            }
            for cause in 0..16 {
                self.memory.store(table.wrapping_add_signed(exception_entry(cause)), fatal);
                self.memory.store(table.wrapping_add_signed(interrupt_entry(cause)), fatal);
            }
            let field = |offset: i64| table.wrapping_add_signed(offset);
            self.memory.store(field(FIELD_SATP), self.placed[index].satp);
            self.memory.store(field(FIELD_NUMBER), self.placed[index].number);
            self.memory.store(field(FIELD_ALIVE), 1);
            let name = descriptor::name(&self.system.instances[index].name);
            self.memory.at(field(FIELD_NAME), name.len()).copy_from_slice(&name);

            let crossing = Crossing { caller: self.end(index), ..Crossing::default() };
            for (portal, kind) in [
                (PORTAL_OWN_DOMAIN, ShortCircuit::OwnDomain),
                (PORTAL_OWN_THREAD, ShortCircuit::OwnThread),
                (PORTAL_TIME, ShortCircuit::Time),
            ] {
                let made = self.code.add(&mut self.memory, |words, address| {
                    generate::short_circuit(kind, &crossing, words, address)
                })?;
                self.install(index, portal, made.call);
            }
        }
        Ok(())
    }

    fn install(&mut self, index: usize, portal: usize, code: u64) {
        let table = self.placed[index].table_physical;
        self.memory.store(table + portal as u64 * 8, code);
        let next = &mut self.placed[index].next_portal;
        *next = (*next).max(portal + 1);
    }

    /// The crossing from one instance to a method of another.
    fn crossing(
        &mut self,
        client: usize,
        server: usize,
        entry: u64,
        specification: &Specification,
        index: usize,
    ) -> Result<Crossing, String> {
        let queue = match specification.takes_activation() {
            true => Some(self.queue(client, server)?),
            false => None,
        };
        let shared = self.system.instances[client].stack_group;
        let placed = &self.placed[server];
        let stack = match specification.stack {
            cairn_portal::Stack::RunToCompletion => placed.stack,
            _ => shared.map_or(0, |group| STACK_GROUPS + group as u64 * STACK_GROUP_SIZE),
        };
        let counter = match self.system.counting {
            true => {
                self.counters += 1;
                COUNTERS + (self.counters - 1) * 8
            }
            false => 0,
        };
        let source = &self.placed[client];
        Ok(Crossing {
            caller: self.end(client),
            callee: self.end(server),
            entry: placed.region + entry,
            stub: placed.region + self.components[server].stub,
            constant: 0,
            index: index as u64,
            stack,
            queue: queue.map_or(0, |queue| stack_queue(queue as usize)),
            waiters: queue.map_or(0, |queue| semaphore::waiters_word(queue as usize)),
            source: source.region,
            source_size: source.entries_span,
            source_entry: source.entries,
            services: self.nucleus.symbol("service_table")?,
            counter,
            longest_execution: 0,
            asids: self.asids(),
        })
    }

    /// The stack queue of a server for a client: its quota of activations.
    fn queue(&mut self, client: usize, server: usize) -> Result<u64, String> {
        if let Some(queue) = self.queues.get(&(client, server)) {
            return Ok(*queue);
        }
        let queue = self.next_queue;
        self.next_queue += 1;
        self.queues.insert((client, server), queue);
        let instance = &self.system.instances[server];
        for _ in 0..instance.stacks.per_client {
            let descriptor = self.placed[server].activations.pop().ok_or_else(|| {
                format!(
                    "instance `{}` has {} stacks, which is not enough for its clients ({} each): raise `stacks.count`",
                    *instance.name, instance.stacks.count, instance.stacks.per_client
                )
            })?;
            let head = self.activations_physical + queue * QUEUE_SIZE;
            let first = self.memory.load(head);
            let at = self.activations_physical + (descriptor - ACTIVATIONS);
            self.memory.store(at + ACTIVATION_NEXT as u64, first);
            self.memory.store(head, descriptor);
            self.record.assign_activation(descriptor, queue, self.system.instances[client].number);
        }
        Ok(queue)
    }

    /// The longest execution that an export of a component declares, in ticks; zero: none.
    fn longest_execution(&self, server: usize, export: usize) -> u64 {
        let described = self.connected.exports[server].iter().position(|at| *at == export);
        let longest = described.and_then(|at| self.system.instances[server].exports[at].longest_execution.as_ref());
        let nanoseconds = longest.map_or(0, |longest| u128::from(**longest));
        (nanoseconds * u128::from(self.system.board.time_base)).div_ceil(1_000_000_000) as u64
    }

    fn connect_imports(&mut self, client: usize) -> Result<(), String> {
        for connected in self.connected.imports[client].clone() {
            let connection = &self.system.instances[client].imports[connected.connection];
            let component = self.components[connected.target];
            let export = &component.exports[connected.export];
            let dispatcher = self.system.roles.interrupts == Some(client);
            for (method_index, method) in export.interface.methods.iter().enumerate() {
                let stack = connection.stack.letter();
                let state = match (*connection.stack, *connection.state) {
                    (StackMode::RunToCompletion, _) if dispatcher => 'd',
                    (StackMode::RunToCompletion, StateMode::Minimal) => 'p',
                    (_, state) => state.letter(),
                };
                let text = format!("{stack}{state}{}", method.letters);
                let specification = Specification::parse(&text)
                    .map_err(|error| format!("method `{}`: {error}", method.name))?;
                let index = connected.first_portal + method_index;
                let mut crossing =
                    self.crossing(client, connected.target, method.entry, &specification, index)?;
                crossing.longest_execution = self.longest_execution(connected.target, connected.export);
                let made = self.code.add(&mut self.memory, |words, address| {
                    generate::pair(&specification, &crossing, words, address)
                })?;
                self.install(client, index, made.call);
                self.record.portal(
                    (client, index),
                    (connected.target, connected.export, method_index),
                    &made,
                    &text,
                    crossing.queue,
                );
                self.placed[client].report.portals.push(format!(
                    "{index:4} {text:10} {} -> {}.{} {}",
                    *connection.import, *self.system.instances[connected.target].name, export.name, method.name
                ));
            }
        }
        Ok(())
    }

    /// The interface of that name which an instance serves.
    fn served(&self, index: usize, name: &str) -> Result<Interface, String> {
        self.components[index]
            .exports
            .iter()
            .find(|export| export.interface.name == name)
            .map(|export| export.interface.clone())
            .ok_or_else(|| {
                format!(
                    "component `{}` of instance `{}` does not serve the interface `{name}`, which its role demands",
                    self.components[index].name, *self.system.instances[index].name
                )
            })
    }

    /// A driver's portals for each of its devices that interrupts: the semaphore's, then the
    /// dispatcher's acknowledgement.
    fn connect_devices(&mut self, client: usize) -> Result<(), String> {
        for (position, device) in self.system.instances[client].devices.clone().iter().enumerate() {
            let Some(source) = &self.system.board.devices[**device].interrupt else { continue };
            let source = **source;
            let Some(dispatcher) = self.system.roles.interrupts else { continue };
            if dispatcher == client {
                continue;
            }
            let semaphore_index = self.next_semaphore;
            self.next_semaphore += 1;
            let first = self.placed[client].next_portal;
            self.semaphore(client, semaphore_index, first)?;
            let interface = self.served(dispatcher, "Interrupt")?;
            let index = self.placed[client].next_portal;
            let method = &interface.methods[0];
            let specification = Specification::parse(&format!("rp{}", method.letters)).expect("known letters");
            let mut crossing = self.crossing(client, dispatcher, method.entry, &specification, index)?;
            crossing.constant = u64::from(source);
            let made = self.code.add(&mut self.memory, |words, address| {
                generate::pair(&specification, &crossing, words, address)
            })?;
            self.install(client, index, made.call);
            self.record.interrupt(source, semaphore_index, self.placed[client].number, (client, position), first);
        }
        Ok(())
    }

    /// The block of portals of one semaphore, at `first` of a client's table.
    fn semaphore(&mut self, client: usize, semaphore_index: u64, first: usize) -> Result<(), String> {
        let scheduler = self.system.roles.scheduler;
        let interface = self.served(scheduler, "Semaphore")?;
        for (position, method) in interface.methods.iter().enumerate() {
            let specification = Specification::parse(&format!("rp{}", method.letters))
                .map_err(|error| format!("method `{}`: {error}", method.name))?;
            let index = first + position;
            let mut crossing = self.crossing(client, scheduler, method.entry, &specification, index)?;
            crossing.constant = semaphore_index;
            crossing.source = semaphore::semaphore_word(semaphore_index as usize);
            let operation = match method.name.as_str() {
                "p" => Some(SemaphoreOperation::P),
                "v" => Some(SemaphoreOperation::V),
                _ => None,
            };
            let made = self.code.add(&mut self.memory, |words, address| match operation {
                Some(operation) => generate::semaphore(operation, &specification, &crossing, words, address),
                None => generate::pair(&specification, &crossing, words, address),
            })?;
            self.install(client, index, made.call);
        }
        Ok(())
    }

    /// The privileged short-circuit portals of an instance's role.
    fn grant(&mut self, index: usize) -> Result<(), String> {
        use privileged::*;
        let set_timer = match self.system.board.sstc {
            true => "privileged_set_timer",
            false => "privileged_set_timer_by_firmware",
        };
        let granted: &[(usize, &str)] = match self.system.instances[index].role {
            Some(Role::Scheduler) => &[
                (PORTAL_SWITCH, "privileged_switch"),
                (PORTAL_SET_UP_THREAD, "privileged_set_up_thread"),
                (PORTAL_SET_TIMER, set_timer),
            ],
            Some(Role::Supervisor) => &[
                (PORTAL_UNWIND, "privileged_unwind"),
                (PORTAL_SET_ALIVE, "privileged_set_alive"),
                (PORTAL_RESET, "privileged_reset"),
            ],
            Some(Role::Memory) => &[(PORTAL_FENCE_TRANSLATION, "privileged_fence_translation")],
            Some(Role::Portals) => &[(PORTAL_FENCE_INSTRUCTION, "privileged_fence_instruction")],
            Some(Role::Idle) => &[(PORTAL_WAIT, "privileged_wait")],
            _ => &[],
        };
        for (portal, symbol) in granted {
            let code = self.nucleus.symbol(symbol)?;
            let table = self.placed[index].table_physical;
            self.memory.store(table + *portal as u64 * 8, code);
        }
        Ok(())
    }

    /// Exceptions and interrupts: each domain has portals of its own, which say where the thread was.
    /// Returns the portals of boot and of a thread's end, which come from no domain.
    fn connect_events(&mut self) -> Result<(u64, u64), String> {
        let roles = self.system.roles;
        let scheduler = (roles.scheduler, self.served(roles.scheduler, "SchedulerEvents")?);
        let dispatcher = match roles.interrupts {
            Some(dispatcher) => Some((dispatcher, self.served(dispatcher, "InterruptEvents")?)),
            None => None,
        };
        let boot = self.event_crossing(&scheduler, "boot")?;
        let exit = self.event_crossing(&scheduler, "exit")?;
        let (boot, exit) = (self.event(&boot, None, false)?, self.event(&exit, None, false)?);
        let timer = self.event_crossing(&scheduler, "timer")?;
        let software = self.event_crossing(&scheduler, "software")?;
        let fault = self.event_crossing(&scheduler, "fault")?;
        let stack_wait = self.event_crossing(&scheduler, "stack_wait")?;
        let external = match &dispatcher {
            Some(dispatcher) => Some(self.event_crossing(dispatcher, "external")?),
            None => None,
        };
        for index in 0..self.placed.len() {
            let mut entries = Vec::new();
            if index != roles.scheduler && Some(index) != roles.interrupts {
                let essential = *self.system.instances[index].essential;
                if !essential && roles.supervisor.is_some() {
                    let fault = self.event(&fault, Some(index), false)?;
                    entries.extend((0..16).map(|cause| (exception_entry(cause), fault)));
                }
                entries.push((exception_entry(8), self.event(&stack_wait, Some(index), false)?));
            }
            entries.push((interrupt_entry(1), self.event(&software, Some(index), true)?));
            entries.push((interrupt_entry(5), self.event(&timer, Some(index), false)?));
            if let Some(external) = &external {
                entries.push((interrupt_entry(9), self.event(external, Some(index), false)?));
            }
            let table = self.placed[index].table_physical;
            for (offset, code) in entries {
                self.memory.store(table.wrapping_add_signed(offset), code);
            }
        }
        Ok((boot, exit))
    }

    /// The crossing into a server's method for an event, but for where it comes from.
    fn event_crossing(&mut self, (server, interface): &(usize, Interface), name: &str) -> Result<Crossing, String> {
        let method = interface
            .methods
            .iter()
            .find(|method| method.name == name)
            .ok_or_else(|| format!("interface `{}` has no method `{name}`", interface.name))?;
        let specification = Specification::parse("rd").expect("a specification");
        self.crossing(*server, *server, method.entry, &specification, 0)
    }

    /// The portal of an event in a domain.
    fn event(&mut self, crossing: &Crossing, domain: Option<usize>, acknowledge: bool) -> Result<u64, String> {
        let caller = domain.map_or(End::default(), |index| self.end(index));
        let crossing = Crossing { caller, ..*crossing };
        self.code
            .add(&mut self.memory, |words, address| generate::event(&crossing, acknowledge, words, address))
            .map(|made: Generated| made.call)
    }

    /// The first thread of an instance that has one. Thread numbers follow the instances.
    fn set_up_thread(&mut self, index: usize, exit: u64) -> Result<(), String> {
        let instance = &self.system.instances[index];
        let Some(main) = self.components[index].main else { return Ok(()) };
        let thread_index = self.record.next_thread;
        if thread_index >= u64::from(*self.system.threads) {
            return Err(format!(
                "more first threads than `threads = {}` of the system allows",
                *self.system.threads
            ));
        }
        self.record.next_thread += 1;
        let placed = &self.placed[index];
        let base = self.threads_physical + thread_index * PAGE_SIZE + thread::BASE_FRAME as u64;
        let top = base + thread::TRAP_FRAME as u64;
        let trap_return = self.nucleus.symbol("trap_return")?;
        let at = |header: u64, offset: i64| header.wrapping_add_signed(offset);
        let words = [
            (at(base, thread::FRAME_RETURN), exit),
            (at(base, thread::FRAME_TABLE), placed.table),
            (at(top, thread::FRAME_RETURN), trap_return),
            (at(top, thread::FRAME_TABLE), placed.table),
            (at(top, thread::TRAP_SEPC), placed.region + main),
            (at(top, thread::TRAP_SATP), placed.satp),
            (at(top, thread::trap_register(1)), placed.region + self.components[index].stub),
            (at(top, thread::trap_register(2)), placed.stack),
        ];
        for (address, word) in words {
            self.memory.store(address, word);
        }
        let block = self.threads_physical + thread_index * PAGE_SIZE;
        let header = thread::thread_block(thread_index as usize) + (top - block);
        self.memory.store(at(block, thread::FIELD_FRAME), header);
        self.memory.store(at(block, thread::FIELD_DOMAIN), placed.number);
        self.record.thread(thread_index, index, instance.number, *instance.priority, self.system.roles.idle == Some(index));
        Ok(())
    }

    fn write_startup(&mut self, index: usize, physical: u64, sections: &[startup::Mapping]) -> Result<(), String> {
        let instance = &self.system.instances[index];
        let mut page = startup::Startup::new_zeroed();
        page.magic = startup::MAGIC;
        page.instance = instance.number;
        page.domain = instance.number;
        page.name = descriptor::name(&instance.name);
        page.time_base = self.system.board.time_base;
        let placed = &self.placed[index];
        let heap = self.components[index]
            .segments
            .iter()
            .map(|segment| segment.offset + segment.bytes.len() as u64)
            .max()
            .unwrap_or(IMAGE_OFFSET);
        page.heap = placed.region + heap;
        page.heap_size = pages(*instance.heap) * PAGE_SIZE;
        if instance.devices.len() > startup::DEVICES_MAXIMUM {
            return Err(format!("instance `{}` has more than {} devices", *instance.name, startup::DEVICES_MAXIMUM));
        }
        for (position, device) in instance.devices.iter().enumerate() {
            let device = &self.system.board.devices[**device];
            let range = device.pages();
            page.devices[position] = startup::Mapping {
                name: descriptor::name(&device.name),
                address: placed.region
                    + DEVICES_OFFSET
                    + self.device_offset(index, position)
                    + (device.base - range.start),
                size: device.size,
                interrupt_portal: self.record.interrupt_portal(index, position),
                writable: 1,
            };
        }
        page.device_count = instance.devices.len() as u32;
        if sections.len() > startup::SECTIONS_MAXIMUM {
            return Err(format!("instance `{}` maps more than {} sections", *instance.name, startup::SECTIONS_MAXIMUM));
        }
        page.section_count = sections.len() as u32;
        page.run_to_completion = u64::from(instance.role.is_some_and(|role| role.runs_to_completion()));
        page.sections[..sections.len()].copy_from_slice(sections);
        let argument = instance.argument.as_bytes();
        page.argument_length = argument.len().min(startup::ARGUMENT_SIZE) as u64;
        page.argument[..argument.len().min(startup::ARGUMENT_SIZE)]
            .copy_from_slice(&argument[..argument.len().min(startup::ARGUMENT_SIZE)]);
        self.memory.at(physical, page.as_bytes().len()).copy_from_slice(page.as_bytes());
        Ok(())
    }

    /// Maps the sections that the description gives an instance.
    fn map_sections(&mut self, index: usize) -> Result<Vec<startup::Mapping>, String> {
        let mut mappings = Vec::new();
        for used in &self.system.instances[index].sections {
            let section = &self.system.sections[used.section];
            let size = pages(*section.size) * PAGE_SIZE;
            let physical = match self.record.section(used.section) {
                Some(physical) => physical,
                None => {
                    let physical = self.memory.pages(pages(size))?;
                    self.record.set_section(used.section, physical);
                    physical
                }
            };
            let writable = matches!(*used.access, cairn_description::model::Access::ReadWrite);
            let rights = USER | READ | if writable { WRITE } else { 0 };
            let address = SECTIONS + used.section as u64 * SECTION_STRIDE;
            let root = self.placed[index].root;
            self.tables.map_range(&mut self.memory, root, address, physical, size, rights)?;
            mappings.push(startup::Mapping {
                name: descriptor::name(&section.name),
                address,
                size: *section.size,
                interrupt_portal: 0,
                writable: u64::from(writable),
            });
        }
        Ok(mappings)
    }

    /// Every root shares the kernel domain's half: it is complete only now.
    fn refresh_kernel_half(&mut self) -> Result<(), String> {
        let kernel = self.memory.at(self.kernel_root.0 + 2048, 2048).to_vec();
        for index in 0..self.placed.len() {
            let root = self.placed[index].root.0;
            self.memory.at(root + 2048, 2048).copy_from_slice(&kernel);
        }
        Ok(())
    }

    fn write_parameters(
        &mut self,
        nucleus_physical: u64,
        boot: u64,
        exit: u64,
        threads: u64,
        domains: u64,
    ) -> Result<(), String> {
        let frame = thread::thread_block(0) + (thread::BASE_FRAME + thread::TRAP_FRAME) as u64;
        let parameters = Parameters {
            boot_satp: 8 << 60 | self.kernel_root.0 >> 12,
            nucleus_offset: NUCLEUS.wrapping_sub(nucleus_physical),
            boot_frame: frame,
            boot_portal: boot,
            exit_portal: exit,
            threads,
            domains,
            portal_code_end: self.code.end(),
            supervisor_timer: u64::from(self.system.board.sstc),
            finisher: self.finisher().map_or(0, |_| FINISHER),
        };
        let at = nucleus_physical + (self.nucleus.symbol("NUCLEUS_PARAMETERS")? - NUCLEUS);
        let words = [
            parameters.boot_satp,
            parameters.nucleus_offset,
            parameters.boot_frame,
            parameters.boot_portal,
            parameters.exit_portal,
            parameters.threads,
            parameters.domains,
            parameters.portal_code_end,
            parameters.supervisor_timer,
            parameters.finisher,
        ];
        for (index, word) in words.into_iter().enumerate() {
            self.memory.store(at + index as u64 * 8, word);
        }
        if !self.asids() {
            // sfence.vma zero, zero, in the place that the trap return keeps for it.
            let fence = nucleus_physical + (self.nucleus.symbol("trap_return_fence")? - NUCLEUS);
            self.memory.at(fence, 4).copy_from_slice(&0x1200_0073u32.to_le_bytes());
        }
        Ok(())
    }

    /// Reads the finished page tables and refuses what must not be.
    fn check(&mut self) -> Result<Vec<check::Sharing>, String> {
        let domains: Vec<check::Domain> = (0..self.placed.len())
            .map(|index| check::Domain {
                name: self.system.instances[index].name.to_string(),
                root: self.placed[index].root.0,
                has_role: self.system.instances[index].role.is_some(),
            })
            .collect();
        check::check(&mut self.memory, &domains)
    }

    fn report(&mut self, nucleus_physical: u64, shared: Vec<check::Sharing>) -> Report {
        let instances = self
            .placed
            .iter()
            .map(|placed| InstanceReport {
                page_tables: placed.page_tables * PAGE_SIZE,
                memory: placed.memory_used,
                ..placed.report.clone()
            })
            .collect();
        Report {
            load_address: nucleus_physical,
            image_size: self.memory.end() - nucleus_physical,
            nucleus_code: self.nucleus.code_size,
            portal_code: self.code.next() - PORTAL_CODE,
            page_tables: self.tables.used * PAGE_SIZE,
            instances,
            shared,
        }
    }
}
