//! The manager's state, and how a block of portals is made and closed.

use crate::memory::Memory;
use crate::queues::Queues;
use crate::registrations::Registrations;
use crate::templates::Templates;
use cairn::exclusive::Exclusive;
use cairn::{Error, privileged};
use cairn_abi::address::{PORTAL_CODE, STACK_GROUP_SIZE, STACK_GROUPS};
use cairn_abi::descriptor::{LETTERS_SIZE, METHODS_MAXIMUM};
use cairn_abi::domain::{
    DOMAINS_MAXIMUM, PORTALS_MAXIMUM, exception_entry, portal_table, stack_queue,
};
use cairn_abi::record::Instance;
use cairn_abi::semaphore::{semaphore_word, waiters_word};
use cairn_portal::generate::link;
use cairn_portal::{Crossing, End, Parameters, SemaphoreOperation, Specification, Stack};
use cairn_portals::area::{Area, GRANULE, Granules};
use cairn_portals::blocks::{Block, Blocks, Kind, State};
use cairn_portals::entries::Entries;
use cairn_portals::shares::{Shares, clients};
use core::sync::atomic::{AtomicI64, Ordering};

/// The one manager.
pub static MANAGER: Exclusive<Manager> = Exclusive::new(Manager::EMPTY);

/// State of the portal manager.
pub struct Manager {
    memory: Option<Memory>,
    /// Number of this domain, and of the scheduler's.
    pub own: u8,
    pub scheduler: u8,
    pub area: Area,
    pub blocks: Blocks,
    entries: [Entries; DOMAINS_MAXIMUM],
    pub shares: Shares,
    pub queues: Queues,
    pub registrations: Registrations,
    /// Granules that invocation stacks name.
    pub named: Granules,
    templates: Templates,
    /// Registered parameter types.
    pub types: Parameters,
    /// Exports of the scheduler: objects of these interfaces.
    pub semaphore_export: u32,
    pub lock_export: u32,
    next_counter: u64,
}

/// To what a block of portals leads.
#[derive(Clone, Copy)]
pub struct Target {
    pub kind: Kind,
    pub server: u8,
    /// The domain with whose death the block ends, or zero.
    pub owner: u8,
    /// `c`.
    pub constant: u64,
    /// Stack and state; `None`: what every client gets.
    pub specification: Option<Specification>,
}

/// One method of a block.
#[derive(Clone, Copy)]
pub struct Entry {
    pub letters: [u8; LETTERS_SIZE],
    pub entry: u64,
    pub operation: Option<SemaphoreOperation>,
}

impl Target {
    /// For measuring: the client's own return stub.
    pub fn own_stub(client: u8, specification: &Specification) -> Target {
        let kind = Kind::Export(u32::MAX);
        Target { kind, server: client, owner: 0, constant: 0, specification: Some(*specification) }
    }
}

impl Manager {
    const EMPTY: Manager = Manager {
        memory: None,
        own: 0,
        scheduler: 0,
        area: Area::EMPTY,
        blocks: Blocks::EMPTY,
        entries: [Entries::TAKEN; DOMAINS_MAXIMUM],
        shares: Shares::NONE,
        queues: Queues::EMPTY,
        registrations: Registrations::EMPTY,
        named: Granules::NONE,
        templates: Templates::EMPTY,
        types: Parameters::NONE,
        semaphore_export: u32::MAX,
        lock_export: u32::MAX,
        next_counter: 0,
    };

    /// What the nucleus trusts.
    pub fn memory(&self) -> Result<Memory, Error> {
        self.memory.ok_or(Error::NotSupported)
    }

    /// Takes over from the layout. The value is the first portal of the lock around this manager.
    pub fn begin(&mut self) -> Result<u64, Error> {
        let memory = Memory::find()?;
        self.memory = Some(memory);
        self.own = cairn::environment::startup().domain as u8;
        let code = memory.header.free_portal_code;
        let granule =
            |address: u64| ((address - PORTAL_CODE) / GRANULE).min(u16::MAX.into()) as u16;
        let (first, end) = (granule(code.start + GRANULE - 1), granule(code.end));
        self.area.begin(first, end);
        let connections = memory.portals.iter().filter_map(|portal| {
            let export = memory.exports.get(portal.export as usize)?;
            Some((portal.client as u8, export.instance as u8))
        });
        self.shares.divide(&clients(connections, self.own), first, end);
        for instance in memory.instances {
            let Some(entries) = self.entries.get_mut(instance.number as usize) else { continue };
            *entries = Entries::FREE;
            for index in 0..PORTALS_MAXIMUM {
                if memory.entry(instance.number as u8, index) != memory.header.no_portal {
                    entries.take(index, 1);
                }
            }
        }
        self.queues.begin(&memory);
        self.find_scheduler(&memory)?;
        self.next_counter = crate::describe::counters_used(&memory);
        self.begin_lock()
    }

    /// The free code that there was at the start and what has become of it: bytes in use, and free
    /// in the upper half.
    pub fn usage(&mut self) -> u64 {
        self.reclaim();
        let free = u64::from(self.area.free()) * GRANULE;
        let used = u64::from(self.area.size()) * GRANULE - free;
        used | free << 32
    }

    /// Whether calls to a domain run to completion: scheduler and dispatcher are the domains whose
    /// empty stack queues lead where the scheduler's do, to the nucleus' halt.
    fn runs_to_completion(&self, memory: &Memory, domain: u8) -> bool {
        let stack_wait = |domain| memory.domain_word(domain, exception_entry(8));
        stack_wait(domain) == stack_wait(self.scheduler)
    }

    /// What every client gets of a server: it trusts nobody.
    fn specification(&self, memory: &Memory, target: &Target) -> Result<Specification, Error> {
        if let Some(specification) = target.specification {
            return Ok(specification);
        }
        let default = if self.runs_to_completion(memory, target.server) { "rp" } else { "np" };
        Specification::parse(default).map_err(|_| Error::Unknown)
    }

    /// Makes a block of portals in the table of a client that was started `generation` times before.
    /// The value is the first index.
    pub fn make(
        &mut self,
        (client, generation): (u8, u64),
        target: &Target,
        count: usize,
        method: impl Fn(usize) -> Entry,
    ) -> Result<u64, Error> {
        let memory = self.memory()?;
        memory.check_alive(client, Some(generation))?;
        memory.check_alive(target.server, None)?;
        let specification = self.specification(&memory, target)?;
        let first = self.entries[usize::from(client)].find(count).ok_or(Error::Exhausted)?;
        let mut crossing = Crossing::default();
        self.describe_crossing(&mut crossing, &memory, client, target)?;
        if specification.stack == Stack::RunToCompletion {
            crossing.stack = memory.instance(target.server)?.stack;
        }
        let counter = self.counters(&memory, count);

        // Templates first: they say how much room there must be.
        let mut places = [0u8; METHODS_MAXIMUM];
        let (mut size, mut takes_activation) = (0, false);
        for (index, place) in places.iter_mut().enumerate().take(count) {
            crossing.index = (first + index) as u64;
            crossing.counter = counter;
            *place =
                self.templates.find((&specification, &self.types), &method(index), &crossing)?
                    as u8;
            let template = self.templates.get(usize::from(*place));
            size += template.size as u64;
            takes_activation |= template.takes_activation;
        }
        let granules = size.div_ceil(GRANULE) as u16;
        if let Kind::Object(..) = target.kind {
            // So that one server cannot use up what its client has.
            let (count, used) = self.blocks.objects(target.server, client);
            let (most, most_granules) = self.shares.objects(client);
            if count >= most || used + granules > most_granules {
                return Err(Error::Exhausted);
            }
        }
        let (place, start) = self.room(client, granules)?;
        let mut queue = u16::MAX;
        if takes_activation {
            queue = self.queue(&memory, client, target.server)?;
            crossing.queue = stack_queue(queue.into());
            crossing.waiters = waiters_word(queue.into());
        }

        let mut calls = [0u64; METHODS_MAXIMUM];
        let mut address = PORTAL_CODE + u64::from(start) * GRANULE;
        for (index, (place, call)) in places.iter().zip(&mut calls).enumerate().take(count) {
            let template = self.templates.get(usize::from(*place));
            crossing.entry = method(index).entry;
            crossing.counter = if counter == 0 { 0 } else { counter + index as u64 * 8 };
            let words = memory.code_words(address, template.size);
            copy(words, template.code());
            link(&template.links, &crossing, address, |offset, value| {
                if let Some(word) = words.get(offset / 8) {
                    word.store(value as i64, Ordering::Relaxed);
                }
            });
            *call = address + template.links.call() as u64;
            address += template.size as u64;
        }
        // Code, fence, entries, in this order: an entry never leads to what was there before.
        privileged::fence_instruction()?;
        for (index, call) in calls[..count].iter().enumerate() {
            memory.set_entry(client, first + index, *call);
        }

        self.area.take(self.shares.code(client), start, granules);
        self.entries[usize::from(client)].take(first, count);
        self.blocks.put(
            place,
            Block {
                state: State::Open,
                kind: target.kind,
                client,
                server: target.server,
                owner: target.owner,
                count: count as u8,
                first: first as u16,
                start,
                granules,
                queue,
            },
        );
        Ok(first as u64)
    }

    /// A place for a block and room for its code, within the client's share.
    fn room(&mut self, client: u8, wanted: u16) -> Result<(usize, u16), Error> {
        for reclaimed in [false, true] {
            if reclaimed {
                self.reclaim();
            }
            let within = self.blocks.held(client) < self.shares.blocks();
            let found = self.area.find(self.shares.code(client), wanted);
            if let (true, Some(place), Some(start)) = (within, self.blocks.free_place(), found) {
                return Ok((place, start));
            }
            if self.blocks.closed() == 0 {
                break;
            }
        }
        Err(Error::Exhausted)
    }

    fn queue(&mut self, memory: &Memory, client: u8, server: u8) -> Result<u16, Error> {
        let most = self.shares.of_pool(self.queues.at_run_time());
        match self.queues.queue(memory, client, server, most) {
            Err(Error::Exhausted)
                if self.blocks.closed() > 0 || self.queues.unused(&self.blocks) =>
            {
                self.reclaim();
                self.queues.queue(memory, client, server, most)
            }
            found => found,
        }
    }

    /// What is the same for all methods of a block, but the stack queue.
    /// It is filled in where it is, since it is long.
    fn describe_crossing(
        &self,
        crossing: &mut Crossing,
        memory: &Memory,
        client: u8,
        target: &Target,
    ) -> Result<(), Error> {
        let (caller, callee) = (memory.instance(client)?, memory.instance(target.server)?);
        let stack = match caller.stack_group {
            u32::MAX => 0,
            group => STACK_GROUPS + u64::from(group) * STACK_GROUP_SIZE,
        };
        (crossing.source, crossing.source_size, crossing.source_entry) = match target.kind {
            Kind::Semaphore(index) => (semaphore_word(index.into()), 0, 0),
            _ => (cairn_abi::address::region(caller.number), caller.entries_span, caller.entries),
        };
        (crossing.caller, crossing.callee) = (end(caller), end(callee));
        crossing.stub = callee.stub;
        crossing.constant = target.constant;
        crossing.stack = stack;
        crossing.services = memory.header.services;
        crossing.asids = memory.header.asid_bits != 0;
        crossing.longest_execution = memory.longest_execution(target.kind);
        Ok(())
    }

    /// In a counting build, the counters of a new block; zero: none are left, and nothing is counted.
    /// They are not used again.
    fn counters(&mut self, memory: &Memory, count: usize) -> u64 {
        let size = count as u64 * 8;
        if memory.header.counting == 0 || self.next_counter + size > crate::describe::COUNTERS_END {
            return 0;
        }
        self.next_counter += size;
        self.next_counter - size
    }

    /// Clears a block's entries; its code stays until no invocation stack names it.
    pub fn close_place(&mut self, place: usize) {
        let block = *self.blocks.get(place);
        let Ok(memory) = self.memory() else { return };
        let (first, count) = (usize::from(block.first), usize::from(block.count));
        for index in first..first + count {
            memory.set_entry(block.client, index, memory.header.no_portal);
        }
        self.entries[usize::from(block.client)].release(first, count);
        self.blocks.close(place);
    }

    /// Closes every open block that `which` accepts; the value is how many.
    pub fn close_all(&mut self, which: impl Fn(&Block) -> bool) -> u64 {
        let mut count = 0;
        let mut from = 0;
        while let Some(place) = self.blocks.find(from, &which) {
            self.close_place(place);
            from = place + 1;
            count += 1;
        }
        count
    }
}

/// Copies code, four words at a time: most of what making a portal costs.
fn copy(words: &[AtomicI64], code: &[u64]) {
    let (words, words_rest) = words.as_chunks::<4>();
    let (code, code_rest) = code.as_chunks::<4>();
    for (words, code) in words.iter().zip(code) {
        for (word, value) in words.iter().zip(code) {
            word.store(*value as i64, Ordering::Relaxed);
        }
    }
    for (word, value) in words_rest.iter().zip(code_rest) {
        word.store(*value as i64, Ordering::Relaxed);
    }
}

fn end(instance: &Instance) -> End {
    End {
        domain: instance.number.into(),
        satp: instance.satp,
        table: portal_table(instance.number as usize),
    }
}

/// The specification of one method. Letters may come from an untrusted server.
pub fn with_letters(
    specification: Specification,
    letters: &[u8; LETTERS_SIZE],
    types: &Parameters,
) -> Result<Specification, Error> {
    let length = letters.iter().position(|letter| *letter == 0).unwrap_or(LETTERS_SIZE);
    if letters[length..].iter().any(|letter| *letter != 0) {
        return Err(Error::BadArgument);
    }
    specification.with_types(&letters[..length], types).map_err(|_| Error::NotSupported)
}
