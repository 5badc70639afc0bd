//! Portals from one instance to another: of imports, and of devices' interrupts.

use super::{Error, Layout, take};
use crate::path;
use crate::report::PortalReport;
use cairn_abi::address::{
    COUNTERS, LEAF_SPAN, NUCLEUS, PAGE_SIZE, PORTAL_CODE, SECTION_STRIDE, sections_span,
};
use cairn_abi::arch::trap::{KERNEL_ENTER, KERNEL_ENTER_INSIDE};
use cairn_abi::descriptor;
use cairn_abi::domain::*;
use cairn_description::model::{StackMode, StateMode};
use cairn_loader::{Interface, Method};
use cairn_portal::{
    Crossing, Generated, Limits, Place, Plan, SemaphoreOperation, Source, Specification, Trust,
    generate,
};

/// Instructions of a component's call: the index and the `ecall`.
const STUB: u64 = 2;
/// The same where it is a jump through a word, behind one that turns interrupts off or loads the control word.
const STUB_IN_KERNEL: u64 = 4;

impl Layout<'_> {
    /// The portals of an instance's imports, at the indexes that the component was built with.
    pub(super) fn connect_imports(&mut self, client: usize) -> Result<(), String> {
        let connected = self.connected;
        for import in &connected.imports[client] {
            let connection = &self.system.instances[client].imports[import.connection];
            let export = &self.components[import.target].descriptor.exports[import.export];
            let limits = self.limits(import.target, import.export);
            let trust = Trust {
                shared_stack: *connection.stack == StackMode::Shared,
                minimal_state: *connection.state == StateMode::Minimal,
            };
            for (method_index, method) in export.interface.methods.iter().enumerate() {
                let index = import.first_portal + method_index;
                let Plan { specification, mut crossing } =
                    self.plan((client, import.target), trust, method, index)?;
                let text = specification.to_string();
                crossing.limits = limits;
                if let Some(section) = &connection.windows {
                    (crossing.source, crossing.source_entry) =
                        self.section_source(client, **section)?;
                }
                let made = self.code.add(&mut self.memory, |words, address| {
                    generate::pair(&specification, &crossing, words, address)
                })?;
                self.install(client, index, made.call);
                let code_elsewhere = match self.system.instances[import.target].other_place {
                    Some(other) => {
                        self.code_elsewhere((client, other), trust, method, &crossing)?
                    }
                    None => 0,
                };
                self.record.portal(
                    (client, index),
                    (import.target, import.export, method_index),
                    (made.call, code_elsewhere),
                    &text,
                    crossing.queue,
                );
                let counter = crossing.counter;
                let portal = PortalReport {
                    index,
                    specification: text,
                    import: connection.import.to_string(),
                    server: format!(
                        "{}.{}",
                        self.system.instances[import.target].name, export.name
                    ),
                    method: method.name.clone(),
                    instructions: match self.is_inside(client, index as u16) {
                        true => STUB_IN_KERNEL,
                        false => self.way(&specification, &crossing, &made)?,
                    },
                    counter: (counter != 0).then(|| self.areas.counters.at(counter)),
                };
                self.placed[client].report.portals.push(portal);
            }
        }
        Ok(())
    }

    /// The code of a connection while the server, which moves, is in its other place. It is not installed.
    fn code_elsewhere(
        &mut self,
        (client, other): (usize, usize),
        trust: Trust,
        method: &Method,
        own: &Crossing,
    ) -> Result<u64, String> {
        let index = own.index as usize;
        let Plan { specification, crossing } = self.plan((client, other), trust, method, index)?;
        let Crossing { limits, source, source_entry, counter, .. } = *own;
        let crossing = Crossing { limits, source, source_entry, counter, ..crossing };
        let made = self.code.add(&mut self.memory, |words, address| {
            generate::pair(&specification, &crossing, words, address)
        })?;
        Ok(made.call)
    }

    /// What of a section a client's windows show, and the kernel address of its page-table entries, which are an array from now on.
    fn section_source(&mut self, client: usize, section: usize) -> Result<(Source, u64), String> {
        let first = self.section_address(section)?;
        let size = super::pages(*self.system.sections[section].size) * PAGE_SIZE;
        let root = self.placed[client].root;
        let entries = match self.passed.get(&(root.0, section)) {
            Some(entries) => *entries,
            None => {
                let begin = first / SECTION_STRIDE * SECTION_STRIDE;
                let leaves = sections_span([size]) / LEAF_SPAN;
                let table = self.tables.leaves(&mut self.memory, root, begin, leaves)?;
                let entries = self.tables.kernel_address(table + (first - begin) / PAGE_SIZE * 8);
                self.passed.insert((root.0, section), entries);
                entries
            }
        };
        Ok((Source::Memory { first, size }, entries))
    }

    /// The instructions of a call by a portal and back, those of the method left out.
    fn way(
        &mut self,
        specification: &Specification,
        crossing: &Crossing,
        made: &Generated,
    ) -> Result<u64, String> {
        let (physical, size) = self.code.extent();
        let code = self.memory.at(physical, size as usize);
        let word = |address: u64| {
            let bytes = match address.checked_sub(PORTAL_CODE) {
                Some(at) if at < size => code.get(at as usize..)?,
                _ => self.nucleus.bytes.get(address.checked_sub(NUCLEUS)? as usize..)?,
            };
            Some(u32::from_le_bytes(*bytes.first_chunk()?))
        };
        let length = |address| path::length(word, address, None);
        let trap = self.nucleus.symbol("trap_entry")?;
        let entry = |distance| crossing.stub.wrapping_add_signed(distance);
        let into = match crossing.caller.place {
            Place::User => STUB + length(trap)?,
            Place::Kernel => STUB_IN_KERNEL,
            // Interrupts are off.
            Place::KernelToCompletion { .. } => STUB_IN_KERNEL - 1,
        };
        if specification.only_pops() {
            // The portal jumps behind the ordinary entry, and there is no way back but that of the nucleus.
            return Ok(into + length(made.call)? + length(entry(KERNEL_ENTER_INSIDE))?);
        }
        let (enter, back) = match crossing.callee.place {
            Place::User => {
                let turn = self.nucleus.symbol("trap_return_portal")?;
                (0, STUB + path::length(word, trap, Some(turn))?)
            }
            Place::Kernel => (length(entry(KERNEL_ENTER))?, length(crossing.stub)?),
            Place::KernelToCompletion { .. } => (0, length(crossing.stub)?),
        };
        let call = into + length(made.call)? + enter;
        // Between two that run to completion nobody comes back.
        Ok(if made.back == 0 { call } else { call + back + length(made.back)? })
    }

    /// What an export of a component declares.
    pub(super) fn limits(&self, server: usize, export: usize) -> Limits {
        let described = self.connected.exports[server].iter().position(|at| *at == export);
        let Some(at) = described else { return Limits::default() };
        let export = &self.system.instances[server].exports[at];
        let nanoseconds = [&export.longest_execution, &export.longest_call, &export.cancelled_for]
            .map(|limit| limit.as_ref().map_or(0, |limit| **limit));
        Limits::new(nanoseconds, self.system.board.time_base)
    }

    /// A driver's portals for each interrupt of its devices, those of a device in a row: the semaphore's, then the
    /// dispatcher's acknowledgement.
    pub(super) fn connect_devices(&mut self, client: usize) -> Result<(), Error> {
        let Some(dispatcher) = self.system.roles.interrupts else { return Ok(()) };
        if dispatcher == client {
            return Ok(());
        }
        let devices = self.system.instances[client].devices.iter().enumerate();
        let sources = devices.flat_map(|(position, device)| {
            let sources = &self.system.board.devices[**device].interrupts;
            sources.iter().map(move |source| (position, **source))
        });
        for (position, source) in sources {
            // One that moves has the same ones in its other place.
            let semaphore = match self.record.semaphore(source) {
                Some(semaphore) => semaphore,
                None => take(&mut self.next.semaphore),
            };
            let first = self.placed[client].next_portal;
            self.connect_semaphore(client, semaphore, first)?;
            let interface = self.served(dispatcher, "Interrupt")?;
            let index = self.placed[client].next_portal;
            let method = &interface.methods[0];
            let Plan { specification, mut crossing } =
                self.plan((client, dispatcher), Trust::default(), method, index)?;
            crossing.constant = u64::from(source);
            let made = self.code.add(&mut self.memory, |words, address| {
                generate::pair(&specification, &crossing, words, address)
            })?;
            self.install(client, index, made.call);
            let driver = self.system.instances[client].number;
            self.record.interrupt(source, semaphore, driver, (client, position), first);
        }
        Ok(())
    }

    /// The block of portals of one semaphore, at `first` of a client's table.
    fn connect_semaphore(
        &mut self,
        client: usize,
        semaphore: u64,
        first: usize,
    ) -> Result<(), Error> {
        let scheduler = self.system.roles.scheduler;
        let interface = self.served(scheduler, "Semaphore")?;
        for (position, method) in interface.methods.iter().enumerate() {
            let index = first + position;
            let Plan { specification, mut crossing } =
                self.plan((client, scheduler), Trust::default(), method, index)?;
            crossing.constant = semaphore;
            crossing.source = Source::Semaphore(semaphore as usize);
            let operation = SemaphoreOperation::of(&descriptor::name(&method.name));
            let made = self.code.add(&mut self.memory, |words, address| match operation {
                Some(operation) => {
                    generate::semaphore(operation, &specification, &crossing, words, address)
                }
                None => generate::pair(&specification, &crossing, words, address),
            })?;
            self.install(client, index, made.call);
        }
        Ok(())
    }

    /// The interface of that name which an instance serves.
    pub(super) fn served(&self, index: usize, name: &str) -> Result<Interface, Error> {
        let component = self.components[index];
        let export =
            component.descriptor.exports.iter().find(|export| export.interface.name == name);
        export.map(|export| export.interface.clone()).ok_or_else(|| {
            let instance = &self.system.instances[index];
            let error = cairn_description::Error::new(
                &instance.component.place,
                format!("`{}` cannot hold its role", instance.name),
                format!("expected a component that serves the interface `{name}`"),
                "name another component, or give the role to another instance",
            );
            error.into()
        })
    }

    /// How one instance calls a method of another, at `index` of its table.
    pub(super) fn plan(
        &mut self,
        (client, server): (usize, usize),
        trust: Trust,
        method: &Method,
        index: usize,
    ) -> Result<Plan, String> {
        let ends = (self.row(client), self.row(server));
        let mut plan = cairn_portal::plan(&ends.0, &ends.1, trust);
        plan.specification = plan
            .specification
            .with_letters(method.letters.as_bytes())
            .map_err(|error| format!("method `{}`: {error}", method.name))?;
        if plan.specification.takes_activation() {
            plan.crossing.take_from(self.queue(client, server)? as usize);
        }
        if self.system.counting && !self.system.instances[server].is_other_place() {
            plan.crossing.counter = self.counter()?;
        }
        plan.crossing.entry = self.placed[server].image + method.entry;
        plan.crossing.index = index as u64;
        plan.crossing.services = self.nucleus.symbol(self.fences().service_table())?;
        plan.crossing.asids = self.asids();
        plan.crossing.of_manager = self.system.roles.portals == Some(server);
        Ok(plan)
    }

    /// The address of the next counter.
    fn counter(&mut self) -> Result<u64, String> {
        let number = take(&mut self.next.counter);
        match number < self.areas.counters.size / 8 {
            true => Ok(COUNTERS + number * 8),
            // [`layout`](super::layout) says it with its place.
            false => Err(format!("more than {number} portals to count")),
        }
    }

    /// The stack queue of a server for a client, wherever these are: its quota of activations.
    fn queue(&mut self, client: usize, server: usize) -> Result<u64, String> {
        let [client, server] = [client, server].map(|index| self.system.identity(index));
        if let Some(queue) = self.queues.get(&(client, server)) {
            return Ok(*queue);
        }
        let queue = take(&mut self.next.queue);
        self.queues.insert((client, server), queue);
        let head = self.areas.activations.at(stack_queue(queue as usize));
        let instance = &self.system.instances[server];
        for _ in 0..instance.stacks.per_client {
            let descriptor = self.placed[server].activations.pop().ok_or_else(|| {
                format!(
                    "instance `{}` has {} stacks, which is not enough for its clients ({} each): raise `stacks.count`",
                    *instance.name, instance.stacks.count, instance.stacks.per_client
                )
            })?;
            let first = self.memory.load(head);
            let at = self.areas.activations.at(descriptor);
            self.memory.store(at + ACTIVATION_NEXT as u64, first);
            self.memory.store(head, descriptor);
            self.record.assign_activation(descriptor, queue, self.system.instances[client].number);
        }
        Ok(queue)
    }
}
