//! Portals from one instance to another: of imports, and of devices' interrupts.

use super::{Error, Layout, take};
use cairn_abi::address::*;
use cairn_abi::domain::*;
use cairn_abi::semaphore;
use cairn_description::model::{Connection, StackMode, StateMode};
use cairn_loader::{Interface, Method};
use cairn_portal::{Crossing, Limits, SemaphoreOperation, Specification, Stack, generate};

impl Layout<'_> {
    /// The portals of an instance's imports, at the indexes that the component was built with.
    pub(super) fn connect_imports(&mut self, client: usize) -> Result<(), String> {
        let connected = self.connected;
        for import in &connected.imports[client] {
            let connection = &self.system.instances[client].imports[import.connection];
            let export = &self.components[import.target].descriptor.exports[import.export];
            let limits = self.limits(import.target, import.export);
            for (method_index, method) in export.interface.methods.iter().enumerate() {
                let text = self.specification(client, connection, method);
                let specification = parse(&text, method)?;
                let index = import.first_portal + method_index;
                let mut crossing =
                    self.crossing(client, import.target, method.entry, &specification, index)?;
                crossing.limits = limits;
                let made = self.code.add(&mut self.memory, |words, address| {
                    generate::pair(&specification, &crossing, words, address)
                })?;
                self.install(client, index, made.call);
                self.record.portal(
                    (client, index),
                    (import.target, import.export, method_index),
                    &made,
                    &text,
                    crossing.queue,
                );
                self.placed[client].report.portals.push(format!(
                    "{index:4} {text:10} {} -> {}.{} {}",
                    *connection.import,
                    *self.system.instances[import.target].name,
                    export.name,
                    method.name
                ));
            }
        }
        Ok(())
    }

    /// The specification of a method's portal, which the description of the connection decides.
    fn specification(&self, client: usize, connection: &Connection, method: &Method) -> String {
        let dispatcher = self.system.roles.interrupts == Some(client);
        let stack = connection.stack.letter();
        let state = match (*connection.stack, *connection.state) {
            (StackMode::RunToCompletion, _) if dispatcher => 'd',
            (StackMode::RunToCompletion, StateMode::Minimal) => 'p',
            (_, state) => state.letter(),
        };
        format!("{stack}{state}{}", method.letters)
    }

    /// What an export of a component declares.
    fn limits(&self, server: usize, export: usize) -> Limits {
        let described = self.connected.exports[server].iter().position(|at| *at == export);
        let Some(at) = described else { return Limits::default() };
        let export = &self.system.instances[server].exports[at];
        let ticks = |limit: &Option<cairn_description::Located<u64>>| {
            let nanoseconds = limit.as_ref().map_or(0, |longest| u128::from(**longest));
            (nanoseconds * u128::from(self.system.board.time_base)).div_ceil(1_000_000_000) as u64
        };
        Limits {
            execution: ticks(&export.longest_execution),
            call: ticks(&export.longest_call),
            cancelled: ticks(&export.cancelled_for),
        }
    }

    /// A driver's portals for each of its devices that interrupts: the semaphore's, then the
    /// dispatcher's acknowledgement.
    pub(super) fn connect_devices(&mut self, client: usize) -> Result<(), Error> {
        let Some(dispatcher) = self.system.roles.interrupts else { return Ok(()) };
        if dispatcher == client {
            return Ok(());
        }
        for (position, device) in self.system.instances[client].devices.iter().enumerate() {
            let Some(source) = &self.system.board.devices[**device].interrupt else { continue };
            let source = **source;
            let semaphore = take(&mut self.next.semaphore);
            let first = self.placed[client].next_portal;
            self.connect_semaphore(client, semaphore, first)?;
            let interface = self.served(dispatcher, "Interrupt")?;
            let index = self.placed[client].next_portal;
            let method = &interface.methods[0];
            let specification = parse(&format!("rp{}", method.letters), method)?;
            let mut crossing =
                self.crossing(client, dispatcher, method.entry, &specification, index)?;
            crossing.constant = u64::from(source);
            let made = self.code.add(&mut self.memory, |words, address| {
                generate::pair(&specification, &crossing, words, address)
            })?;
            self.install(client, index, made.call);
            let number = self.placed[client].number;
            self.record.interrupt(source, semaphore, number, (client, position), first);
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
            let specification = parse(&format!("rp{}", method.letters), method)?;
            let index = first + position;
            let mut crossing =
                self.crossing(client, scheduler, method.entry, &specification, index)?;
            crossing.constant = semaphore;
            crossing.source = semaphore::semaphore_word(semaphore as usize);
            crossing.source_size = semaphore::NOTED_WORD;
            let operation = match method.name.as_str() {
                "p" => Some(SemaphoreOperation::P),
                "v" => Some(SemaphoreOperation::V),
                _ => None,
            };
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

    /// The crossing from one instance to a method of another.
    pub(super) fn crossing(
        &mut self,
        client: usize,
        server: usize,
        entry: u64,
        specification: &Specification,
        index: usize,
    ) -> Result<Crossing, String> {
        let queue = match specification.takes_activation() {
            true => Some(self.queue(client, server)? as usize),
            false => None,
        };
        let counter = match self.system.counting {
            true => self.counter()?,
            false => 0,
        };
        let group = self.system.instances[client].stack_group;
        let (source, target) = (&self.placed[client], &self.placed[server]);
        let stack = match specification.stack {
            Stack::RunToCompletion => target.stack,
            _ => group.map_or(0, |group| STACK_GROUPS + group as u64 * STACK_GROUP_SIZE),
        };
        Ok(Crossing {
            caller: self.end(client),
            callee: self.end(server),
            entry: target.image + entry,
            stub: target.image + self.components[server].stub,
            constant: 0,
            index: index as u64,
            stack,
            queue: queue.map_or(0, stack_queue),
            waiters: queue.map_or(0, semaphore::waiters_word),
            source: source.region,
            source_size: source.entries_span,
            source_entry: source.entries,
            services: self.nucleus.symbol(self.fences().service_table())?,
            counter,
            limits: Limits::default(),
            asids: self.asids(),
        })
    }

    /// The address of the next counter.
    fn counter(&mut self) -> Result<u64, String> {
        let number = take(&mut self.next.counter);
        match number < self.areas.counters.size / 8 {
            true => Ok(COUNTERS + number * 8),
            false => Err(format!(
                "the connections have more than {number} portals, which is as many as can be counted: leave out \
                 `counting`"
            )),
        }
    }

    /// The stack queue of a server for a client: its quota of activations.
    fn queue(&mut self, client: usize, server: usize) -> Result<u64, String> {
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

fn parse(text: &str, method: &Method) -> Result<Specification, String> {
    Specification::parse(text).map_err(|error| format!("method `{}`: {error}", method.name))
}
