//! How a block of portals is made, filled and closed.

mod begin;
mod between;
mod copies;
mod domain;
mod dropped;
mod end;
mod exchange;
mod faults;
mod grants;
mod hold;
mod leads;
mod paged;
mod places;
mod repoint;
mod retire;
mod rules;
mod unwrap;
pub(crate) mod wrap;

use crate::area::GRANULE;
use crate::blocks::{Blocks, Code, Forms, Kind, NO_INSTANCE, Wanted};
use crate::crossing::{Entry, Target, with_letters, write};
use crate::grants::Grants;
use crate::instances::Instances;
use crate::machine::{Layout, Machine, Published};
use crate::pools::Pools;
use crate::refusals::{Missing, Refusal, Refusals};
use crate::returns::{self, List};
use crate::templates::{Half, InUse, Places, Recipe, Templates};
use crate::wraps::Wraps;
use cairn_abi::address::{COUNTERS, PAGE_SIZE};
use cairn_abi::descriptor::{LETTERS_SIZE, METHODS_MAXIMUM};
use cairn_abi::domain::{HELD_QUEUE, stack_queue};
use cairn_abi::record::Instance;
use cairn_abi::{DomainId, Error, InstanceId};
use cairn_portal::generate::{LITERALS, call_literals, place, return_literals};
use cairn_portal::literal::{
    LITERAL_COUNTER, LITERAL_ENTRY, LITERAL_INDEX, LITERAL_NEXT, LITERAL_QUEUE, LITERAL_RETURN,
    LITERAL_SHAPE, LITERALS_SIZE,
};
use cairn_portal::specification::{Specification, Stack, State};
use cairn_portal::{Crossing, Parameter, ParameterError, Parameters, Source, plan};
use core::num::NonZero;
#[cfg(test)]
pub(crate) use domain::GRANULES_OF_DOMAIN;
use exchange::Exchanges;
#[cfg(test)]
pub(crate) use faults::LONGEST as LONGEST_FAULT;
use hold::Hold;
pub use hold::Purpose;

/// End of the call counters' memory.
pub const COUNTERS_END: u64 = COUNTERS + 4 * PAGE_SIZE;

/// Makes portals: all that this takes, and what there is of it.
pub struct Maker {
    own: InstanceId,
    scheduler: InstanceId,
    instances: Instances,
    pools: Pools,
    blocks: Blocks,
    templates: Templates,
    /// Registered parameter types.
    types: Parameters,
    exchanges: Exchanges,
    grants: Grants,
    wraps: Wraps,
    hold: Hold,
    refusals: Refusals,
    next_counter: u64,
    /// Where portals of faults are generated.
    faults: faults::Room,
}

impl Maker {
    /// Nothing, before [`Maker::begin`].
    pub const EMPTY: Maker = Maker {
        own: NO_INSTANCE,
        scheduler: NO_INSTANCE,
        instances: Instances::EMPTY,
        pools: Pools::EMPTY,
        blocks: Blocks::EMPTY,
        templates: Templates::EMPTY,
        types: Parameters::NONE,
        exchanges: Exchanges::NONE,
        grants: Grants::EMPTY,
        wraps: Wraps::NONE,
        hold: Hold::NONE,
        refusals: Refusals::NONE,
        next_counter: 0,
        faults: faults::Room::EMPTY,
    };

    /// The instances that there are.
    pub fn instances(&self) -> &Instances {
        &self.instances
    }

    /// The instance with this number, if its domain lives.
    pub fn living<M: Machine>(
        &self,
        machine: &M,
        number: InstanceId,
    ) -> Result<&'static Instance, Error> {
        let instance = self.instances.get(number)?;
        machine.check_alive(instance.domain).map(|()| instance)
    }

    /// The manager's instance.
    pub fn own(&self) -> InstanceId {
        self.own
    }

    /// The scheduler's instance.
    pub fn scheduler(&self) -> InstanceId {
        self.scheduler
    }

    /// All blocks.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// Gives the block of a client that begins at an index of its table a label.
    pub fn label(
        &mut self,
        client: InstanceId,
        first: u64,
        label: NonZero<u32>,
    ) -> Result<(), Error> {
        self.blocks.label(client, first, label)
    }

    /// The pools from which portals are made.
    pub fn pools(&self) -> &Pools {
        &self.pools
    }

    #[cfg(test)]
    pub(crate) fn instances_mut(&mut self) -> &mut Instances {
        &mut self.instances
    }

    #[cfg(test)]
    pub(crate) fn pools_mut(&mut self) -> &mut Pools {
        &mut self.pools
    }

    /// Registers a parameter type.
    pub fn register_type(&mut self, parameter: Parameter) -> Result<(), ParameterError> {
        self.types.register(parameter)
    }

    /// Whether portals can be made for these letters, which may come from an untrusted server.
    pub fn check_letters(&self, letters: &[u8; LETTERS_SIZE]) -> Result<(), Error> {
        let standard = Specification::without_letters(Stack::New, State::Partial);
        with_letters(standard, letters, &self.types).map(drop)
    }

    /// The instance that a client's portal leads to.
    pub fn server_of<M: Machine>(
        &self,
        machine: &M,
        client: InstanceId,
        index: u64,
    ) -> Result<InstanceId, Error> {
        let index = usize::try_from(index).map_err(|_| Error::NoPortal)?;
        // An exchanged import leads where its block does.
        let place = self.exchanged(client, index).unwrap_or(index);
        if let Some(block) = self.blocks.open_at(client, place) {
            return Ok(block.server);
        }
        let layout = machine.layout();
        let connection = layout.connection(client, index).ok_or(Error::NoPortal)?;
        // The client, its server, or what this led to can be another than the layout's.
        let leads = connection.is_code(self.original(machine, client, index));
        let export = layout.exports.get(connection.export as usize).filter(|_| leads);
        Ok(export.ok_or(Error::NoPortal)?.instance)
    }

    /// Makes a block of portals in a client's table; the value is the first index.
    pub fn open<M: Machine>(
        &mut self,
        machine: &M,
        client: InstanceId,
        target: &Target,
        count: usize,
        method: impl Fn(usize) -> Entry,
    ) -> Result<u64, Error> {
        let room = self.blocks.room(self.instances.get(client)?.domain, count);
        let first = room.map_err(|error| self.refuse(client, Missing::Entries, error))?;
        self.make_at(machine, client, target, (first, count, false), method)?;
        Ok(first as u64)
    }

    /// The same at entries that are free. In each of its callers, so that one that knows what is opened is as quick as it can be.
    #[inline(always)]
    fn make_at<M: Machine>(
        &mut self,
        machine: &M,
        client: InstanceId,
        target: &Target,
        (first, count, is_import): (usize, usize, bool),
        method: impl Fn(usize) -> Entry,
    ) -> Result<(), Error> {
        let Target { kind, server, owner, .. } = *target;
        let ends =
            (self.instances.get(client)?, self.callable_for(machine, client, (kind, server))?);
        let domain = ends.0.domain;
        self.within_share(client)?;
        let mut calls = [0; METHODS_MAXIMUM];
        let calls = calls.get_mut(..count).ok_or(Error::TooLarge)?;
        let (forms, published) = self.generate(machine, ends, target, first, &method, calls)?;
        let wanted = Wanted { kind, client, domain, server, owner, count, is_import };
        let place = self.blocks.add(first, &wanted, forms);
        // A portal that is measured stays as it is.
        if kind != Kind::Export(u32::MAX) && self.has_rules() {
            self.wrap_made(machine, (place, false, 0), &method, calls)?;
        }
        install(machine, domain, first, calls, published);
        Ok(())
    }

    /// Reserves a block for an object, in the client's table; the value names the reservation.
    pub fn reserve<M: Machine>(&mut self, machine: &M, wanted: &Wanted) -> Result<u64, Error> {
        self.callable(machine, wanted.client, wanted.server)?;
        self.within_share(wanted.client)?;
        let made = self.blocks.reserve(wanted);
        made.map_err(|error| self.refuse(wanted.client, Missing::Entries, error))
    }

    /// Makes the portals of an object at what its client reserved, at `place`.
    pub fn fill<M: Machine>(
        &mut self,
        machine: &M,
        place: usize,
        target: &Target,
        method: impl Fn(usize) -> Entry,
    ) -> Result<(), Error> {
        let block = *self.blocks.get(place);
        // Its client lives in the life in which it reserved: with a death all its blocks are closed.
        let ends = (self.living(machine, block.client)?, self.living(machine, target.server)?);
        let mut calls = [0; METHODS_MAXIMUM];
        let calls = calls.get_mut(..block.count.into()).ok_or(Error::TooLarge)?;
        let (forms, published) =
            self.generate(machine, ends, target, block.first(), &method, calls)?;
        self.blocks.fill(place, target.kind, forms);
        if self.has_rules() {
            self.wrap_made(machine, (place, true, 0), &method, calls)?;
        }
        install(machine, block.domain, block.first(), calls, published);
        Ok(())
    }

    /// Generates the code of a block at `first`, a portal for each of `calls`, which gets its address. What can fail
    /// comes before anything is taken.
    fn generate<M: Machine>(
        &mut self,
        machine: &M,
        ends: (&Instance, &Instance),
        target: &Target,
        first: usize,
        method: impl Fn(usize) -> Entry,
        calls: &mut [u64],
    ) -> Result<(Forms, Published), Error> {
        let (caller, callee) = ends;
        if callee.other_place != NO_INSTANCE {
            return self.generate_forms(machine, ends, target, first, &method, calls);
        }
        let ends = (caller, callee, callee);
        let (code, published) = self.generate_form(machine, ends, target, first, method, calls)?;
        Ok((Forms::of(code), published))
    }

    /// The same of calls of one who is at the place that `callee` says; `server` is the record of the instance.
    fn generate_form<M: Machine>(
        &mut self,
        machine: &M,
        (caller, callee, server): (&Instance, &Instance, &Instance),
        target: &Target,
        first: usize,
        method: impl Fn(usize) -> Entry,
        calls: &mut [u64],
    ) -> Result<(Code, Published), Error> {
        let mut code = Code::NONE;
        let ends = (caller, callee, server);
        let made = self.generate_with(machine, (ends, target), first, method, calls, &mut code);
        if made.is_err() {
            self.pools.left(code.queue);
        }
        made.map(|published| (code, published))
    }

    /// The same; the stack queue that was taken for it, if one was, is in `code` in any case.
    fn generate_with<M: Machine>(
        &mut self,
        machine: &M,
        ((caller, callee, server), target): ((&Instance, &Instance, &Instance), &Target),
        first: usize,
        method: impl Fn(usize) -> Entry,
        calls: &mut [u64],
        code: &mut Code,
    ) -> Result<Published, Error> {
        let layout = machine.layout();
        let client = caller.number;
        // Used where it is, since it is long.
        let mut plan = plan(caller, callee, target.trust);
        let (specification, crossing) = (&plan.specification, &mut plan.crossing);
        if let Kind::Semaphore(index) = target.kind {
            crossing.source = Source::Semaphore(index.into());
        }
        crossing.grant = target.limits;
        crossing.constant = target.constant;
        crossing.services = layout.header.services;
        crossing.asids = layout.header.asid_bits != 0;
        crossing.limits = layout.limits(target.kind);
        crossing.counter = self.counters(layout, calls.len());

        // Templates first, and where the portals lead back, in the place of their own addresses.
        let (mut in_use, mut size) = (InUse::default(), places::table_size(server, calls.len()));
        let recipe = Recipe::of(target.kind, specification, crossing);
        let known = self.templates.recall(&recipe);
        let mut places = known.unwrap_or(Places::NONE);
        let (mut shape, mut back) = (0, 0);
        for (index, (place, call)) in places.0.iter_mut().zip(&mut *calls).enumerate() {
            let found = if known.is_some() {
                self.templates.hold((*place).into(), &mut in_use)
            } else {
                crossing.index = (first + index) as u64;
                let method = method(index);
                crossing.grant = method.limits(target.limits);
                let of = (specification, &self.types);
                self.templates.find(of, (&method, Half::Call), crossing, &mut in_use)?
            };
            let template = self.templates.get(found);
            size += template.size as u64;
            if template.shape != shape {
                shape = template.shape;
                if template.takes_activation && code.queue == u16::MAX {
                    let missing = Missing::Stacks(server.number);
                    let queue = self.pools.queue(machine, client, server);
                    code.queue = queue.map_err(|error| self.refuse(client, missing, error))?;
                    crossing.take_from(code.queue.into());
                }
                let list = List::of(client, code.queue);
                back = match self.pools.find_return(machine, list, shape, crossing) {
                    Some(back) => back,
                    None => {
                        let half = (specification, &method(index), Half::Back(shape));
                        self.make_return(machine, client, list, half, crossing, &mut in_use)?
                    }
                };
            }
            (*place, *call) = (found as u8, back);
        }
        if known.is_none() {
            self.templates.remember(recipe, calls.len(), places);
            crossing.grant = target.limits;
        }
        code.granules = size.div_ceil(GRANULE) as u16;
        let start = self.pools.room(machine, client, code.granules);
        code.start = start.map_err(|error| self.refuse(client, Missing::Portals, error))?;

        let mut address = layout.granule(code.start);
        let mut literals = call_literals(crossing, 0);
        if self.holds(client, server.number) && callee.is_away == 0 {
            literals[place(LITERAL_QUEUE)] = stack_queue(HELD_QUEUE);
        }
        for (index, (found, call)) in places.0.iter().zip(&mut *calls).enumerate() {
            let template = self.templates.get(usize::from(*found));
            literals[place(LITERAL_RETURN)] = *call;
            literals[place(LITERAL_ENTRY)] = method(index).entry;
            literals[place(LITERAL_INDEX)] = (first + index) as u64;
            let words = machine.code(address, template.size);
            write(words, &literals);
            write(words.get(LITERALS..).unwrap_or(&[]), template.code());
            *call = address + LITERALS_SIZE as u64;
            address += template.size as u64;
            if crossing.counter != 0 {
                literals[place(LITERAL_COUNTER)] += 8;
            }
        }
        let published = machine.publish()?;
        self.pools.take(client, code.start, code.granules);
        Ok(published)
    }

    /// Makes a return portal for a list that has none of this shape. It is kept whatever becomes of the block for which
    /// it was made.
    fn make_return<M: Machine>(
        &mut self,
        machine: &M,
        client: InstanceId,
        list: List,
        (specification, method, half): (&Specification, &Entry, Half),
        crossing: &Crossing,
        in_use: &mut InUse,
    ) -> Result<u64, Error> {
        let of = (specification, &self.types);
        let found = self.templates.find(of, (method, half), crossing, in_use)?;
        let granules = (self.templates.get(found).size as u64).div_ceil(GRANULE) as u16;
        let start = self.pools.room(machine, client, granules);
        let start = start.map_err(|error| self.refuse(client, Missing::Portals, error))?;
        self.pools.take(client, start, granules);
        let template = self.templates.get(found);
        let address = machine.layout().granule(start);
        let words = machine.code(address, template.size);
        let (mut literals, dead) = return_literals(&template.links, crossing, address);
        literals[place(LITERAL_SHAPE)] = template.shape;
        literals[place(LITERAL_NEXT)] = self.pools.add_return(list, start, granules);
        write(words, &literals);
        write(words.get(LITERALS..).unwrap_or(&[]), template.code());
        write(words.get(template.links.dead_literals() / 8..).unwrap_or(&[]), &dead);
        Ok(returns::code(machine, start))
    }

    /// Whether a client may have one more block.
    fn within_share(&mut self, client: InstanceId) -> Result<(), Error> {
        if self.blocks.held(client) < self.pools.blocks(client) {
            Ok(())
        } else {
            Err(self.refuse(client, Missing::Portals, Error::Exhausted))
        }
    }

    /// Notes why an instance gets an error; the same error.
    #[cold]
    pub fn refuse(&mut self, who: InstanceId, missing: Missing, error: Error) -> Error {
        self.refusals.note(who, missing, error)
    }

    /// What was refused, to be told.
    pub fn refusal(&mut self) -> Option<Refusal> {
        self.refusals.take(&self.instances)
    }

    /// What an instance was refused last.
    pub fn last_refusal(&self, who: InstanceId) -> Option<Refusal> {
        self.refusals.last(who, &self.instances)
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
}

/// Lets a table lead to new code.
fn install<M: Machine>(
    machine: &M,
    domain: DomainId,
    first: usize,
    calls: &[u64],
    published: Published,
) {
    for (index, call) in (first..).zip(calls) {
        machine.set_entry(domain, index, *call, published);
    }
}
