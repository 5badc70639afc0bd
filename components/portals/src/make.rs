//! How a block of portals is made, filled and closed.

use crate::area::{Area, GRANULE, Granules};
use crate::blocks::{Block, Blocks, Code, Wanted};
use crate::crossing::{Entry, Target, copy, describe_crossing, with_letters, write};
use crate::machine::{Layout, Machine};
use crate::queues::Queues;
use crate::reclaim::{Look, Running, names};
use crate::shares::{Shares, clients};
use crate::templates::Templates;
use cairn_abi::Error;
use cairn_abi::address::{COUNTERS, PAGE_SIZE, PORTAL_CODE};
use cairn_abi::descriptor::{LETTERS_SIZE, METHODS_MAXIMUM};
use cairn_abi::domain::{PORTALS_MAXIMUM, exception_entry, stack_queue};
use cairn_abi::semaphore::waiters_word;
use cairn_portal::generate::link;
use cairn_portal::{Crossing, Parameter, ParameterError, Parameters, Specification, Stack};

/// End of the call counters' memory.
pub const COUNTERS_END: u64 = COUNTERS + 4 * PAGE_SIZE;

/// Who asks: a thread that outlives its domain in here must not open anything for the successor.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    /// Its domain.
    pub domain: u8,
    /// How often that was started before.
    pub generation: u64,
    /// The calling thread; `None`: no code is taken back for this call.
    pub running: Option<Running>,
}

/// Code that was generated, and where each method's portal begins.
struct Made {
    code: Code,
    calls: [u64; METHODS_MAXIMUM],
}

/// Makes portals: all that this takes, and what there is of it.
pub struct Maker {
    own: u8,
    scheduler: u8,
    area: Area,
    blocks: Blocks,
    shares: Shares,
    queues: Queues,
    /// Granules that invocation stacks name.
    named: Granules,
    templates: Templates,
    /// Registered parameter types.
    types: Parameters,
    next_counter: u64,
}

impl Maker {
    /// Nothing, before [`Maker::begin`].
    pub const EMPTY: Maker = Maker {
        own: 0,
        scheduler: 0,
        area: Area::EMPTY,
        blocks: Blocks::EMPTY,
        shares: Shares::NONE,
        queues: Queues::EMPTY,
        named: Granules::NONE,
        templates: Templates::EMPTY,
        types: Parameters::NONE,
        next_counter: 0,
    };

    /// Takes over from the layout, in domain `own`. `next_counter` is the first call counter that no portal
    /// has.
    pub fn begin<M: Machine>(&mut self, machine: &M, own: u8, scheduler: u8, next_counter: u64) {
        let layout = machine.layout();
        let code = layout.header.free_portal_code;
        let granule =
            |address: u64| ((address - PORTAL_CODE) / GRANULE).min(u16::MAX.into()) as u16;
        let (first, end) = (granule(code.start + GRANULE - 1), granule(code.end));
        self.area.begin(first, end);
        let connections = layout.portals.iter().filter_map(|portal| {
            let export = layout.exports.get(portal.export as usize)?;
            Some((portal.client as u8, export.instance as u8))
        });
        self.shares.divide(&clients(connections, own), first, end);
        for instance in layout.instances {
            let number = instance.number as u8;
            let taken = (0..PORTALS_MAXIMUM)
                .filter(|index| machine.entry(number, *index) != layout.header.no_portal);
            self.blocks.add_table(number, taken);
        }
        self.queues.begin(machine);
        (self.own, self.scheduler, self.next_counter) = (own, scheduler, next_counter);
    }

    /// The manager's domain.
    pub fn own(&self) -> u8 {
        self.own
    }

    /// The scheduler's domain.
    pub fn scheduler(&self) -> u8 {
        self.scheduler
    }

    /// All blocks.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// The free code that there was at the start and what has become of it: bytes in use, and free
    /// in the upper half.
    pub fn usage<M: Machine>(&mut self, machine: &M, running: Running) -> u64 {
        self.reclaim(machine, running);
        let free = u64::from(self.area.free()) * GRANULE;
        let used = u64::from(self.area.size()) * GRANULE - free;
        used | free << 32
    }

    /// Registers a parameter type.
    pub fn register_type(&mut self, parameter: Parameter) -> Result<(), ParameterError> {
        self.types.register(parameter)
    }

    /// Whether portals can be made for these letters, which may come from an untrusted server.
    pub fn check_letters(&self, letters: &[u8; LETTERS_SIZE]) -> Result<(), Error> {
        let standard = Specification::parse("np").map_err(|_| Error::Unknown)?;
        with_letters(standard, letters, &self.types).map(drop)
    }

    /// The domain that a portal of a client's leads to.
    pub fn server_of<M: Machine>(&self, machine: &M, client: u8, index: u64) -> Result<u8, Error> {
        let index = usize::try_from(index).ok().filter(|index| *index < PORTALS_MAXIMUM);
        let code = machine.entry(client, index.ok_or(Error::NoPortal)?);
        cairn_portal::invocation::callee(machine, code)
            .map(|domain| domain as u8)
            .ok_or(Error::NoPortal)
    }

    /// Makes a block of portals in a client's table; the value is the first index.
    pub fn open<M: Machine>(
        &mut self,
        machine: &M,
        client: Client,
        target: &Target,
        count: usize,
        method: impl Fn(usize) -> Entry,
    ) -> Result<u64, Error> {
        let Target { kind, server, owner, .. } = *target;
        machine.check_alive(client.domain, Some(client.generation))?;
        machine.check_alive(server, None)?;
        self.within_share(machine, client)?;
        let first = self.blocks.room(client.domain, count)?;
        let made = self.generate(machine, client, target, first, count, method)?;
        let wanted = Wanted { kind, client: client.domain, server, owner, count };
        self.blocks.add(first, &wanted, made.code);
        install(machine, client.domain, first, &made.calls[..count]);
        Ok(first as u64)
    }

    /// Reserves a block for an object, in the client's table; the value names the reservation.
    pub fn reserve<M: Machine>(
        &mut self,
        machine: &M,
        client: Client,
        wanted: &Wanted,
    ) -> Result<u64, Error> {
        machine.check_alive(client.domain, Some(client.generation))?;
        machine.check_alive(wanted.server, None)?;
        self.within_share(machine, client)?;
        self.blocks.reserve(wanted)
    }

    /// Makes the portals of an object at what its client reserved, at `place`.
    pub fn fill<M: Machine>(
        &mut self,
        machine: &M,
        place: usize,
        target: &Target,
        running: Option<Running>,
        method: impl Fn(usize) -> Entry,
    ) -> Result<(), Error> {
        let block = *self.blocks.get(place);
        // Its client lives in the life in which it reserved: with a death all its blocks are closed.
        machine.check_alive(block.client, None)?;
        machine.check_alive(target.server, None)?;
        let client = Client { domain: block.client, generation: 0, running };
        let count = block.count.into();
        let made = self.generate(machine, client, target, block.first(), count, method)?;
        self.blocks.fill(place, target.kind, made.code);
        install(machine, block.client, block.first(), &made.calls[..count]);
        Ok(())
    }

    /// Generates the code of a block at `first`. What can fail comes before anything is taken.
    fn generate<M: Machine>(
        &mut self,
        machine: &M,
        client: Client,
        target: &Target,
        first: usize,
        count: usize,
        method: impl Fn(usize) -> Entry,
    ) -> Result<Made, Error> {
        let layout = machine.layout();
        let specification = self.specification(machine, target)?;
        let mut crossing = Crossing::default();
        describe_crossing(&mut crossing, layout, client.domain, target)?;
        if specification.stack == Stack::RunToCompletion {
            crossing.stack = layout.instance(target.server)?.stack;
        }
        let counter = self.counters(layout, count);

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
        let mut code =
            Code { start: self.code_for(machine, client, granules)?, granules, queue: u16::MAX };
        if takes_activation {
            code.queue = self.queue(machine, client, target.server)?;
            crossing.queue = stack_queue(code.queue.into());
            crossing.waiters = waiters_word(code.queue.into());
        }

        let mut calls = [0u64; METHODS_MAXIMUM];
        let mut address = PORTAL_CODE + u64::from(code.start) * GRANULE;
        for (index, (place, call)) in places.iter().zip(&mut calls).enumerate().take(count) {
            let template = self.templates.get(usize::from(*place));
            crossing.entry = method(index).entry;
            crossing.counter = if counter == 0 { 0 } else { counter + index as u64 * 8 };
            let words = machine.code(address, template.size);
            for part in template.links.code(template.size) {
                copy(words, template.code(), part.start / 8..part.end / 8);
            }
            link(&template.links, &crossing, address, |offset, literals| {
                if let Some(words) = words.get(offset / 8..offset / 8 + literals.len()) {
                    write(words, literals);
                }
            });
            *call = address + template.links.call() as u64;
            address += template.size as u64;
        }
        // Code, fence, entries, in this order: an entry never leads to what was there before.
        if let Err(error) = machine.fence_instruction() {
            self.queues.release_unused(machine, code.queue);
            return Err(error);
        }
        self.area.take(self.shares.code(client.domain), code.start, granules);
        self.queues.used(code.queue);
        Ok(Made { code, calls })
    }

    /// Whether a client may have one more block.
    fn within_share<M: Machine>(&mut self, machine: &M, client: Client) -> Result<(), Error> {
        if self.blocks.held(client.domain) >= self.shares.blocks() {
            self.reclaim_of(machine, client)?;
            if self.blocks.held(client.domain) >= self.shares.blocks() {
                return Err(Error::Exhausted);
            }
        }
        Ok(())
    }

    /// Room for code, in the client's share.
    fn code_for<M: Machine>(
        &mut self,
        machine: &M,
        client: Client,
        granules: u16,
    ) -> Result<u16, Error> {
        if let Some(start) = self.area.find(self.shares.code(client.domain), granules) {
            return Ok(start);
        }
        self.reclaim_of(machine, client)?;
        self.area.find(self.shares.code(client.domain), granules).ok_or(Error::Exhausted)
    }

    fn queue<M: Machine>(&mut self, machine: &M, client: Client, server: u8) -> Result<u16, Error> {
        let most = self.shares.of_pool(self.queues.at_run_time());
        match self.queues.queue(machine, client.domain, server, most) {
            Err(Error::Exhausted) => {
                // Another client's code that was left may be what holds the server's stacks.
                self.reclaim(machine, client.running.ok_or(Error::Exhausted)?);
                self.queues.queue(machine, client.domain, server, most)
            }
            found => found,
        }
    }

    /// Looks for code of the client's own to take back: nothing of others would be in its share.
    fn reclaim_of<M: Machine>(&mut self, machine: &M, client: Client) -> Result<(), Error> {
        match client.running {
            Some(running) if self.blocks.left(client.domain) > 0 => {
                self.reclaim(machine, running);
                Ok(())
            }
            _ => Err(Error::Exhausted),
        }
    }

    /// Frees the code of closed and ended blocks that no invocation stack names.
    fn reclaim<M: Machine>(&mut self, machine: &M, running: Running) {
        for look in [Look::Words, Look::Frames] {
            if !self.blocks.any_left() {
                return;
            }
            names(machine, running, look, &mut self.named);
            let Maker { blocks, area, queues, named, .. } = self;
            blocks.forget(
                |code| !named.any(code.start, code.granules),
                |code| {
                    area.release(code.start, code.granules);
                    queues.left(machine, code.queue);
                },
            );
        }
    }

    /// Whether calls to a domain run to completion: scheduler and dispatcher are the domains whose
    /// empty stack queues lead where the scheduler's do, to the nucleus' halt.
    fn runs_to_completion<M: Machine>(&self, machine: &M, domain: u8) -> bool {
        let stack_wait = |domain| machine.domain_word(domain, exception_entry(8));
        stack_wait(domain) == stack_wait(self.scheduler)
    }

    /// What every client gets of a server: it trusts nobody.
    fn specification<M: Machine>(
        &self,
        machine: &M,
        target: &Target,
    ) -> Result<Specification, Error> {
        if let Some(specification) = target.specification {
            return Ok(specification);
        }
        let default = if self.runs_to_completion(machine, target.server) { "rp" } else { "np" };
        Specification::parse(default).map_err(|_| Error::Unknown)
    }

    /// In a counting build, the counters of a new block; zero: none are left, and nothing is counted.
    /// They are not used again.
    fn counters(&mut self, layout: &Layout, count: usize) -> u64 {
        let size = count as u64 * 8;
        if layout.header.counting == 0 || self.next_counter + size > COUNTERS_END {
            return 0;
        }
        self.next_counter += size;
        self.next_counter - size
    }

    /// Gives a block up for its holder.
    pub fn close<M: Machine>(&mut self, machine: &M, place: usize) {
        clear(machine, self.blocks.get(place));
        self.blocks.close(place);
    }

    /// Ends every live block of a maker that `which` accepts: its holder keeps the indexes, which lead nowhere.
    /// The value is how many.
    pub fn end_all<M: Machine>(
        &mut self,
        machine: &M,
        maker: u8,
        which: impl Fn(&Block) -> bool,
    ) -> u64 {
        let which = |block: &Block| block.is_live() && which(block);
        let (mut count, mut last) = (0, None);
        while let Some(place) = self.blocks.made_by(maker, last, which) {
            clear(machine, self.blocks.get(place));
            // It stays in the list until its holder closes it.
            self.blocks.end(place);
            last = Some(place);
            count += 1;
        }
        count
    }

    /// One step of a domain's end, with at most `most` blocks: closes what it had, and ends what others have of
    /// it. The value is whether there is more.
    pub fn end_domain<M: Machine>(&mut self, machine: &M, domain: u8, most: usize) -> bool {
        for _ in 0..most {
            let Some(place) = self.blocks.ending_with(domain) else { return false };
            let block = *self.blocks.get(place);
            clear(machine, &block);
            match block.client == domain {
                true => self.blocks.close(place),
                false => self.blocks.end(place),
            }
        }
        self.is_left(domain)
    }

    /// Whether something of a domain is left that its successor must not be handed.
    pub fn is_left(&self, domain: u8) -> bool {
        self.blocks.ending_with(domain).is_some()
    }
}

/// Lets a table lead to new code.
fn install<M: Machine>(machine: &M, client: u8, first: usize, calls: &[u64]) {
    for (index, call) in (first..).zip(calls) {
        machine.set_entry(client, index, *call);
    }
}

/// Lets the indexes of a block lead nowhere.
fn clear<M: Machine>(machine: &M, block: &Block) {
    for index in block.indexes() {
        machine.set_entry(block.client, index, machine.layout().header.no_portal);
    }
}
