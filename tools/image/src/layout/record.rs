//! The record (`abi/src/record.rs`) for the components that take over from the layout. [`RecordParts`] collects its entries
//! during the other steps; [`Layout::write_record`] writes it.

use super::Layout;
use super::loadable::Places;
use super::symbols::symbols;
use cairn_abi::address::*;
use cairn_abi::descriptor::{LETTERS_SIZE, name};
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::loadable::{EXPORTS_EACH, Entries, METHODS_EACH};
use cairn_abi::record::*;
use cairn_abi::{InstanceId, domain, semaphore, startup};
use cairn_description::model::{self, Open, Restart};

use cairn_loader::interface_text::MethodText;
use std::collections::HashMap;
use zerocopy::{FromZeros, Immutable, IntoBytes};

/// Entries of the record, collected during the layout.
#[derive(Default)]
pub(super) struct RecordParts {
    segments: Vec<Segment>,
    pub ranges: Vec<PagedRange>,
    activations: Vec<Activation>,
    threads: Vec<Thread>,
    interrupts: Vec<Interrupt>,
    /// With the places of client, server and export.
    portals: Vec<(Portal, usize, (usize, usize))>,
    sections: HashMap<usize, u64>,
    /// Of a device the first portal of its interrupts, and how many they are.
    interrupt_portals: HashMap<(usize, usize), (u64, u64)>,
    device_portals: HashMap<(usize, usize), u64>,
    first_threads: HashMap<usize, u64>,
}

impl RecordParts {
    pub fn segment(
        &mut self,
        (instance, content): (InstanceId, u16),
        flags: u64,
        address: u64,
        size: u64,
        physical: u64,
        initial: u64,
    ) {
        self.segments.push(Segment {
            instance,
            content,
            flags: flags as u32,
            address,
            size,
            physical,
            initial,
        });
    }

    pub fn activation(&mut self, index: u64, instance: InstanceId, windows: u64) {
        let nobody = RecordParts::no_activation(index as u32);
        self.activations.push(Activation { instance, windows, ..nobody });
    }

    /// An activation that nobody has.
    pub fn no_activation(index: u32) -> Activation {
        Activation {
            index,
            queue: u32::MAX,
            instance: InstanceId(0),
            client: InstanceId(0),
            reserved: 0,
            windows: 0,
        }
    }

    pub fn assign_activation(&mut self, descriptor: u64, queue: u64, client: InstanceId) {
        let index = (descriptor - domain::activation(0)) / domain::ACTIVATION_SIZE;
        let activation = &mut self.activations[index as usize];
        activation.queue = queue as u32;
        activation.client = client;
    }

    pub fn thread(&mut self, index: u64, place: usize, instance: &model::Instance, idle: bool) {
        self.first_threads.insert(place, index);
        let thread = Thread {
            index: index as u32,
            instance: instance.number,
            domain: instance.domain,
            priority: (*instance.priority).into(),
            idle: idle.into(),
        };
        self.threads.push(thread);
    }

    pub fn interrupt(
        &mut self,
        source: u32,
        semaphore: u64,
        instance: InstanceId,
        device: (usize, usize),
        portal: usize,
    ) {
        self.interrupt_portals.entry(device).or_insert((portal as u64, 0)).1 += 1;
        if self.semaphore(source).is_some() {
            // It is said of one that moves; its portals are at the same indexes.
            return;
        }
        let semaphore = semaphore as u32;
        let portal = portal as u16;
        self.interrupts.push(Interrupt { source, semaphore, instance, portal, reserved: [0; 2] });
    }

    /// The semaphore of a source.
    pub fn semaphore(&self, source: u32) -> Option<u64> {
        let interrupt = self.interrupts.iter().find(|one| one.source == source)?;
        Some(interrupt.semaphore.into())
    }

    pub fn interrupt_portals(&self, instance: usize, position: usize) -> (u64, u64) {
        self.interrupt_portals.get(&(instance, position)).copied().unwrap_or((0, 0))
    }

    pub fn set_device_portal(&mut self, device: (usize, usize), portal: u64) {
        self.device_portals.insert(device, portal);
    }

    pub fn device_portal(&self, instance: usize, position: usize) -> u64 {
        self.device_portals.get(&(instance, position)).copied().unwrap_or(0)
    }

    pub fn portal(
        &mut self,
        (client, index): (usize, usize),
        (server, export, method): (usize, usize, usize),
        (code, code_elsewhere): (u64, u64),
        specification: &str,
        queue: u64,
    ) {
        let mut text = [0; 16];
        text[..specification.len()].copy_from_slice(specification.as_bytes());
        let queue = match queue {
            0 => u64::MAX,
            address => (address - ACTIVATIONS) / domain::QUEUE_SIZE,
        };
        let portal = Portal {
            client: InstanceId(0),
            reserved: 0,
            index: index as u32,
            export: 0,
            method: method as u32,
            code,
            code_elsewhere,
            specification: text,
            queue,
        };
        self.portals.push((portal, client, (server, export)));
    }

    pub fn section(&self, section: usize) -> Option<u64> {
        self.sections.get(&section).copied()
    }

    pub fn set_section(&mut self, section: usize, physical: u64) {
        self.sections.insert(section, physical);
    }
}

/// A record that grows.
struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    fn table<T: IntoBytes + Immutable>(&mut self, entries: &[T]) -> Table {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        let offset = self.bytes.len() as u32;
        for entry in entries {
            self.bytes.extend_from_slice(entry.as_bytes());
        }
        Table { offset, count: entries.len() as u32 }
    }
}

impl Layout<'_> {
    /// Writes the record into the image, and maps it and the rest of what roles need; adds what it
    /// mapped to the instances' sections.
    pub(super) fn write_record(
        &mut self,
        sections: &mut [Vec<startup::Mapping>],
    ) -> Result<(), String> {
        let mut writer = Writer { bytes: vec![0; size_of::<Header>()] };
        let mut header = Header::default();
        self.write_tables(&mut writer, &mut header);
        let size = writer.bytes.len() as u64;
        let physical = self.memory.pages(size.div_ceil(PAGE_SIZE));
        let clients = self.write_clients();
        self.write_shelf();
        // No memory is taken after this: free memory begins here.
        let free = Range { start: self.memory.end(), end: self.managed_end() };
        self.map_roles(sections, (physical, size), clients)?;
        self.record_physical = physical;
        header.size = size;
        header.clients = clients.0;
        header.free_memory = free;
        header.shelf = Range { start: self.shelf.0, end: self.shelf.0 + self.shelf.1 };
        header.record = physical;
        self.fill_header(&mut header)?;
        writer.bytes[..size_of::<Header>()].copy_from_slice(header.as_bytes());
        self.memory.write(physical, &writer.bytes);
        Ok(())
    }

    /// Writes the shelf into the image.
    fn write_shelf(&mut self) {
        let size = self.shelf_content.len() as u64;
        let physical = self.memory.pages(size / PAGE_SIZE);
        self.memory.write(physical, self.shelf_content);
        self.shelf = (physical, size);
    }

    /// Writes down which activations the description gives to whom: physical address and size.
    fn write_clients(&mut self) -> (u64, u64) {
        let size = domain::client_row(self.system.numbers() + 1);
        let physical = self.memory.pages(size.div_ceil(PAGE_SIZE));
        let described = self.record.activations.iter().enumerate();
        for (place, activation) in
            described.filter(|(_, activation)| activation.client != InstanceId(0))
        {
            let row = domain::client_row(activation.client.into());
            let word = physical + row + place as u64 / 64 * 8;
            let others = self.memory.load(word);
            self.memory.store(word, others | 1 << (place % 64));
        }
        (physical, size)
    }

    fn write_tables(&mut self, writer: &mut Writer, header: &mut Header) {
        let mut instances = instances(self);
        let (symbols, mut names) = symbols(self);
        let (mut exports, mut methods, served) = exports(self, &mut names);
        for (instance, (exports, _)) in instances.iter_mut().zip(&served) {
            instance.first_export = exports.first;
        }
        let mut segments = std::mem::take(&mut self.record.segments);
        let mut activations = std::mem::take(&mut self.record.activations);
        let slots = self.add_places(Places {
            instances: &mut instances,
            exports: &mut exports,
            methods: &mut methods,
            served: &served,
            segments: &mut segments,
            activations: &mut activations,
            text: &mut names,
        });
        header.instances = writer.table(&instances);
        header.threads = writer.table(&self.record.threads);
        header.interrupts = writer.table(&self.record.interrupts);
        header.devices = writer.table(&self.owned_devices().0);
        header.exports = writer.table(&exports);
        header.methods = writer.table(&methods);
        let mut portals: Vec<Portal> = self
            .record
            .portals
            .iter()
            .map(|(portal, client, (server, export))| Portal {
                client: self.system.instances[*client].number,
                export: instances[*server].first_export + *export as u32,
                ..*portal
            })
            .collect();
        portals.sort_by_key(|portal| (portal.client, portal.index));
        header.portals = writer.table(&portals);
        header.activations = writer.table(&activations);
        header.segments = writer.table(&segments);
        header.symbols = writer.table(&symbols);
        header.symbol_names = writer.table(&names);
        header.slots = writer.table(&slots);
        (self.record.segments, self.record.activations) = (segments, activations);
        // Behind them a place for each loadable number.
        let mut ranges = self.record.ranges.clone();
        let loadable = self.system.children() as usize;
        ranges.resize_with(ranges.len() + loadable, PagedRange::new_zeroed);
        header.ranges = writer.table(&ranges);
    }

    /// What is free, and where privileged code's entries lie; after the last mapping.
    fn fill_header(&self, header: &mut Header) -> Result<(), String> {
        let board = &self.system.board;
        header.magic = MAGIC;
        header.time_base = board.time_base;
        header.asid_bits = if self.asids() { board.asid_bits.into() } else { 0 };
        header.interrupt_context =
            board.interrupts.as_ref().map_or(0, |controller| controller.context.into());
        header.free_portal_code = Range { start: self.code.next(), end: self.code.end() };
        let page_table = |index: u64| PAGE_TABLES + index * PAGE_SIZE;
        header.free_page_tables =
            Range { start: page_table(self.tables.used), end: page_table(self.tables.count) };
        header.page_tables_physical = self.tables.physical;
        let next = &self.next;
        header.free_threads = Range { start: next.thread, end: u64::from(*self.system.threads) };
        header.free_semaphores =
            Range { start: next.semaphore, end: semaphore::SEMAPHORES_MAXIMUM as u64 };
        header.free_queues = Range { start: next.queue, end: domain::HELD_QUEUE as u64 };
        header.free_activations = Range { start: next.activation, end: next.activation };
        header.services = self.nucleus.symbol(self.fences().service_table())?;
        header.trap_return = self.nucleus.symbol("trap_return")?;
        header.no_portal = self.no_portal;
        header.fatal = self.nucleus.symbol("nucleus_fatal")?;
        header.float_first_use = self.nucleus.symbol("float_first_use")?;
        header.table_entries = self.connected.tables().entries() as u64;
        header.counting = self.system.counting.into();
        header.cancelled_for = self.system.cancelled_for;
        let described = self.system.instances.len() as u64;
        header.loadable = Range { start: described + 1, end: self.system.numbers() + 1 };
        header.no_log = self.logs.none;
        header.logs = if self.logs.size > 0 { self.logs.physical } else { 0 };
        Ok(())
    }
}

fn instances(layout: &Layout) -> Vec<Instance> {
    let mut names = 0;
    let parts = layout.system.names().zip(layout.system.sections_at_run_time());
    let instances = layout.instances().map(|index| instance(layout, index)).zip(parts);
    instances
        .map(|(instance, (count, sections))| {
            let start = names;
            names += count;
            Instance { names: Range { start, end: names }, sections, ..instance }
        })
        .collect()
}

/// One of them, as far as it is laid out.
pub(super) fn instance(layout: &Layout, index: usize) -> Instance {
    let (instance, placed) = (&layout.system.instances[index], &layout.placed[index]);
    let (component, roles) = (layout.components[index], &layout.system.roles);
    let first_thread = layout.record.first_threads.get(&index);
    let runs_to_completion = index == roles.scheduler || roles.interrupts == Some(index);
    let mut to_completion = [Some(roles.scheduler), roles.interrupts].into_iter().flatten();
    let in_kernel = to_completion.all(|index| layout.system.instances[index].is_in_kernel());
    let number = |index: usize| layout.system.instances[index].number;
    let (identity, is_other_place) = (layout.system.identity(index), instance.is_other_place());
    // Of what is promised nothing is another place's.
    let log = layout.logs.each.get(index).filter(|_| !is_other_place);
    let log = log.copied().unwrap_or_default();
    let next_fellow = layout.system.fellows(index).find(|fellow| *fellow > index);
    Instance {
        name: name(&instance.name),
        number: instance.number,
        leader: number(layout.system.leader(index)),
        on_demand: instance.on_demand.value.into(),
        callers_wait: layout.callers_wait(index).into(),
        idle_stop: instance.idle_stop.as_ref().map_or(0, |time| **time),
        float: layout.float(index),
        next_fellow: next_fellow.map_or(InstanceId(0), number),
        children: *instance.children,
        parent: InstanceId(0),
        successor_of: if is_other_place { number(identity) } else { InstanceId(0) },
        wrapped_by: instance.wrapped_by.as_ref().map_or(InstanceId(0), |by| number(**by)),
        other_place: instance.other_place.map_or(InstanceId(0), number),
        host: instance.host().map_or(InstanceId(0), number),
        has_guests: layout.system.has_guests(index).into(),
        is_away: is_other_place.into(),
        domain: instance.domain,
        region: instance.region,
        start_address: placed.region,
        priority: (*instance.priority).into(),
        restart: match *instance.restart {
            Restart::Never => RESTART_NEVER,
            Restart::Always => RESTART_ALWAYS,
            Restart::OnFault => RESTART_ON_FAULT,
        },
        essential: (*instance.essential).into(),
        first_thread: first_thread.map_or(u32::MAX, |thread| *thread as u32),
        threads: *instance.threads,
        semaphores: *instance.semaphores,
        locks: *instance.locks,
        per_client: instance.stacks.per_client,
        stack_group: instance.stack_group.map_or(u32::MAX, |group| group as u32),
        recovery_priority: (*instance.recovery_priority).into(),
        first_export: 0,
        export_count: component.descriptor.exports.len() as u32,
        run_to_completion: if !runs_to_completion { 0 } else { 1 + u8::from(in_kernel) },
        in_kernel: instance.is_in_kernel().into(),
        memory: if is_other_place { 0 } else { *instance.memory },
        memory_used: placed.memory_used,
        log: log.from,
        log_size: log.size,
        share: u64::from(*instance.share),
        cpu_period: instance.cpu.as_ref().map_or(0, |cpu| cpu.period),
        cpu_budget: instance.cpu.as_ref().map_or(0, |cpu| cpu.budget),
        blocks: instance.kept().blocks.into(),
        portals: instance.kept().portals.into(),
        names: Range::default(),
        sections: 0,
        space: placed.space,
        table: placed.table,
        entries: placed.entries,
        entries_span: placed.entries_span,
        page_tables: placed.page_tables,
        portal_code: placed.report.portal_code,
        main: component.descriptor.main.map_or(0, |main| placed.image + main),
        stub: placed.stub,
        package: 0,
        package_hash: 0,
        stack: placed.stack,
    }
}

/// Exports with their methods, whose meanings are put behind the other names, and which are whose. An instance with a successor that serves more has room for that
/// behind its own, and they stand behind all others': no look for an interface finds first what is added.
fn exports(
    layout: &Layout,
    names: &mut Vec<u8>,
) -> (Vec<Export>, Vec<Method>, Vec<(Entries, Entries)>) {
    let (mut exports, mut methods) = (Vec::new(), Vec::new());
    let instances = &layout.system.instances;
    let mut served = vec![Default::default(); instances.len()];
    let mut order: Vec<usize> = (0..instances.len()).collect();
    order.sort_by_key(|index| serves_more_later(layout, *index));
    for index in order {
        let (instance, component) = (&instances[index], layout.components[index]);
        let first: (usize, usize) = (exports.len(), methods.len());
        let image = layout.placed[index].image;
        for (position, export) in component.descriptor.exports.iter().enumerate() {
            let described = layout.connected.exports[index].iter().position(|at| *at == position);
            let described = described.map(|at| &instance.exports[at]);
            let mut open = [0; INSTANCES_MAXIMUM / 64];
            // Nobody opens another place.
            let policy = described.filter(|_| !instance.is_other_place());
            match policy.map(|described| &described.open) {
                Some(Open::Anyone) => open = [u64::MAX; INSTANCES_MAXIMUM / 64],
                Some(Open::Instances(allowed)) => {
                    for allowed in allowed {
                        let number = layout.system.instances[*allowed].number.index();
                        open[number / 64] |= 1 << (number % 64);
                    }
                }
                None => {}
            }
            exports.push(Export {
                name: name(&export.name),
                interface: name(&export.interface.name),
                version: export.interface.version,
                instance: instance.number,
                is_object: export.is_object.into(),
                is_added: 0,
                first_method: methods.len() as u32,
                method_count: export.interface.methods.len() as u32,
                longest_execution: described
                    .and_then(|described| described.longest_execution.as_ref())
                    .map_or(0, |longest| **longest),
                longest_call: described
                    .and_then(|described| described.longest_call.as_ref())
                    .map_or(0, |longest| **longest),
                cancelled_for: described
                    .and_then(|described| described.cancelled_for.as_ref())
                    .map_or(0, |time| **time),
                open,
            });
            let text = component.text_of(&export.interface);
            for (place, method) in export.interface.methods.iter().enumerate() {
                let text = text.and_then(|text| text.methods.get(place));
                let meanings = text.map_or(String::new(), MethodText::meanings);
                let mut letters = [0; LETTERS_SIZE];
                letters[..method.letters.len()].copy_from_slice(method.letters.as_bytes());
                methods.push(Method {
                    name: name(&method.name),
                    letters,
                    value: method.value,
                    entry: image + method.entry,
                    meanings: names.len() as u32,
                    meanings_length: meanings.len() as u32,
                });
                names.extend_from_slice(meanings.as_bytes());
            }
        }
        if serves_more_later(layout, index) {
            exports.resize_with(first.0 + EXPORTS_EACH as usize, Export::new_zeroed);
            methods.resize_with(
                methods.len().max(first.1 + METHODS_EACH as usize),
                Method::new_zeroed,
            );
        }
        served[index] = (Entries::of(first.0..exports.len()), Entries::of(first.1..methods.len()));
    }
    (exports, methods, served)
}

/// Whether a package that replaces an instance serves what that does not.
fn serves_more_later(layout: &Layout, index: usize) -> bool {
    let own = layout.components[index].descriptor.exports.len();
    let mut packages = layout.system.packages.iter().zip(&layout.connected.packages);
    packages.any(|(package, connected)| {
        package.replaces.as_deref() == Some(&index) && connected.exports.len() > own
    })
}
