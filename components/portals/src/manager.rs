//! The manager's state, and how a block of portals is made and closed.

use crate::memory::Memory;
use crate::queues::Queues;
use crate::registrations::Registrations;
use cairn::exclusive::Exclusive;
use cairn::{Error, privileged};
use cairn_abi::address::{PORTAL_CODE, STACK_GROUP_SIZE, STACK_GROUPS};
use cairn_abi::descriptor::LETTERS_SIZE;
use cairn_abi::domain::{DOMAINS_MAXIMUM, PORTALS_MAXIMUM, exception_entry, portal_table, stack_queue};
use cairn_abi::record::Instance;
use cairn_abi::semaphore::{semaphore_word, waiters_word};
use cairn_portal::{Crossing, End, GenerateError, SemaphoreOperation, Specification, Stack, generate};
use cairn_portals::area::{Area, GRANULE, Granules};
use cairn_portals::blocks::{Block, Blocks, Kind, State};
use cairn_portals::entries::Entries;
use cairn_portals::{PORTAL_MAXIMUM, frames};
use zerocopy::{FromBytes, IntoBytes};

/// Granules of portal code that one client may have, its closed ones included.
const QUOTA: u16 = (128 * 1024 / GRANULE) as u16;
const PORTAL_GRANULES: u16 = (PORTAL_MAXIMUM / GRANULE as usize) as u16;

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
    charged: [u16; DOMAINS_MAXIMUM],
    pub queues: Queues,
    pub registrations: Registrations,
    /// Granules that invocation stacks name.
    named: Granules,
    scratch: [u64; PORTAL_MAXIMUM / 8],
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
        charged: [0; DOMAINS_MAXIMUM],
        queues: Queues::EMPTY,
        registrations: Registrations::EMPTY,
        named: Granules::NONE,
        scratch: [0; PORTAL_MAXIMUM / 8],
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
        let granule = |address: u64| ((address - PORTAL_CODE) / GRANULE).min(u16::MAX.into()) as u16;
        self.area.begin(granule(code.start + GRANULE - 1), granule(code.end));
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
        let default = if self.runs_to_completion(memory, target.server) { "rp" } else { "np" };
        let default = Specification::parse(default).map_err(|_| Error::Unknown)?;
        Ok(target.specification.unwrap_or(default))
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
        let mut takes_activation = false;
        for index in 0..count {
            let letters = method(index).letters;
            takes_activation |= with_letters(specification, &letters)?.takes_activation();
        }
        let first = self.entries[usize::from(client)].find(count).ok_or(Error::Exhausted)?;
        let (place, start) = self.room(client, count)?;
        let queue = match takes_activation {
            true => Some(self.queue(&memory, client, target.server)?),
            false => None,
        };
        let mut crossing = self.crossing(&memory, client, target, queue)?;

        let mut code = [0u64; cairn_abi::descriptor::METHODS_MAXIMUM];
        let mut address = PORTAL_CODE + u64::from(start) * GRANULE;
        for index in 0..count {
            let method = method(index);
            crossing.entry = method.entry;
            crossing.index = (first + index) as u64;
            crossing.counter = self.counter(&memory);
            let specification = with_letters(specification, &method.letters)?;
            let words = <[u32]>::mut_from_bytes(self.scratch.as_mut_bytes()).map_err(|_| Error::Unknown)?;
            let made = match method.operation {
                Some(operation) => generate::semaphore(operation, &specification, &crossing, words, address),
                None => generate::pair(&specification, &crossing, words, address),
            };
            let made = made.map_err(|error| match error {
                GenerateError::NoSpace => Error::Exhausted,
                GenerateError::DoesNotFit => Error::NotSupported,
            })?;
            memory.write_code(address, &self.scratch[..made.size.div_ceil(8)]);
            code[index] = made.call;
            address += made.size as u64;
        }
        // Code, fence, entries, in this order: an entry never leads to what was there before.
        privileged::fence_instruction()?;
        for (index, code) in code[..count].iter().enumerate() {
            memory.set_entry(client, first + index, *code);
        }

        let end = (address - PORTAL_CODE).div_ceil(GRANULE) as u16;
        let granules = end - start;
        self.area.take(start, granules);
        self.charged[usize::from(client)] += granules;
        self.entries[usize::from(client)].take(first, count);
        self.blocks.put(place, Block {
            state: State::Open,
            kind: target.kind,
            client,
            server: target.server,
            owner: target.owner,
            count: count as u8,
            first: first as u16,
            start,
            granules,
            queue: queue.unwrap_or(u16::MAX),
        });
        Ok(first as u64)
    }

    /// A place for a block and room for its code, within the client's quota.
    fn room(&mut self, client: u8, count: usize) -> Result<(usize, u16), Error> {
        let wanted = count as u16 * PORTAL_GRANULES;
        for reclaimed in [false, true] {
            if reclaimed {
                self.reclaim();
            }
            let within = self.charged[usize::from(client)] + wanted <= QUOTA;
            if let (true, Some(place), Some(start)) = (within, self.blocks.free_place(), self.area.find(wanted)) {
                return Ok((place, start));
            }
            if self.blocks.closed() == 0 {
                break;
            }
        }
        Err(Error::Exhausted)
    }

    fn queue(&mut self, memory: &Memory, client: u8, server: u8) -> Result<u16, Error> {
        match self.queues.queue(memory, client, server) {
            Err(Error::Exhausted) if self.blocks.closed() > 0 || self.queues.unused(&self.blocks) => {
                self.reclaim();
                self.queues.queue(memory, client, server)
            }
            found => found,
        }
    }

    fn crossing(&self, memory: &Memory, client: u8, target: &Target, queue: Option<u16>) -> Result<Crossing, Error> {
        let (caller, callee) = (memory.instance(client)?, memory.instance(target.server)?);
        let stack = match self.specification(memory, target)?.stack {
            Stack::RunToCompletion => callee.stack,
            _ if caller.stack_group == u32::MAX => 0,
            _ => STACK_GROUPS + u64::from(caller.stack_group) * STACK_GROUP_SIZE,
        };
        let (mut source, mut source_size, mut source_entry) =
            (cairn_abi::address::region(caller.number), caller.entries_span, caller.entries);
        if let Kind::Semaphore(index) = target.kind {
            (source, source_size, source_entry) = (semaphore_word(index.into()), 0, 0);
        }
        Ok(Crossing {
            caller: end(caller),
            callee: end(callee),
            entry: 0,
            stub: callee.stub,
            constant: target.constant,
            index: 0,
            stack,
            queue: queue.map_or(0, |queue| stack_queue(queue.into())),
            waiters: queue.map_or(0, |queue| waiters_word(queue.into())),
            source,
            source_size,
            source_entry,
            services: memory.header.services,
            counter: 0,
            asids: memory.header.asid_bits != 0,
        })
    }

    /// In a counting build, the counter of a new portal. They are not used again.
    fn counter(&mut self, memory: &Memory) -> u64 {
        if memory.header.counting == 0 || self.next_counter >= crate::describe::COUNTERS_END {
            return 0;
        }
        self.next_counter += 8;
        self.next_counter - 8
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

    /// Frees the code of closed blocks that no invocation stack names. Nobody can enter it any more,
    /// so a name that is not there now never comes. A word of saved registers that happens to be such
    /// an address only delays this.
    pub fn reclaim(&mut self) {
        let Ok(memory) = self.memory() else { return };
        if self.blocks.closed() > 0 {
            self.named = Granules::NONE;
            for thread in (0..memory.threads()).filter(|thread| memory.thread_existed(*thread)) {
                for offset in frames::offsets() {
                    let granule = memory.thread_word(thread, offset).wrapping_sub(PORTAL_CODE) / GRANULE;
                    self.named.set(granule);
                }
            }
            let Manager { blocks, area, charged, named, .. } = self;
            blocks.forget(
                |block| !named.any(block.start, block.granules),
                |block| {
                    area.release(block.start, block.granules);
                    charged[usize::from(block.client)] -= block.granules;
                },
            );
        }
        self.queues.release_unused(&memory, &self.blocks);
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
pub fn with_letters(specification: Specification, letters: &[u8; LETTERS_SIZE]) -> Result<Specification, Error> {
    let length = letters.iter().position(|letter| *letter == 0).unwrap_or(LETTERS_SIZE);
    if letters[length..].iter().any(|letter| *letter != 0) {
        return Err(Error::BadArgument);
    }
    specification.with_letters(&letters[..length]).map_err(|_| Error::NotSupported)
}
