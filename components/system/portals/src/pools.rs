//! What portals are made from, and what each client may have of it: room for code, stack queues, and the return portals
//! that are kept with these.

use crate::area::{Area, GRANULE, GRANULES};
use crate::blocks::{Code, NO_INSTANCE};
use crate::machine::Machine;
use crate::queues::Queues;
use crate::returns::{List, Returns};
use crate::shares::{Kept, Shares};
use cairn_abi::address::PORTAL_CODE;
use cairn_abi::grant::{GRANTS_MAXIMUM, GRANTS_OF_CLIENT};
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::record::Instance;
use cairn_abi::{DomainId, Error, InstanceId};
use cairn_portal::Crossing;

/// The pools, and each client's parts.
pub struct Pools {
    area: Area,
    shares: Shares,
    queues: Queues,
    returns: Returns,
    /// What each domain has of its own that came while the system ran.
    domains: [Code; INSTANCES_MAXIMUM],
    /// Of these the portals of their ranges' faults.
    faults: [Code; INSTANCES_MAXIMUM],
    /// Bytes of code that the layout made.
    described: u64,
}

impl Pools {
    /// Nothing, before [`Pools::begin`].
    pub const EMPTY: Pools = Pools {
        area: Area::EMPTY,
        shares: Shares::NONE,
        queues: Queues::EMPTY,
        returns: Returns::EMPTY,
        domains: [Code { start: 0, granules: 0, queue: 0 }; INSTANCES_MAXIMUM],
        faults: [Code { start: 0, granules: 0, queue: 0 }; INSTANCES_MAXIMUM],
        described: 0,
    };

    /// Takes over from the layout: what it left free is for the clients of the manager.
    pub fn begin<M: Machine>(&mut self, machine: &M, is_client: impl Fn(InstanceId) -> bool) {
        let layout = machine.layout();
        let code = layout.header.free_portal_code;
        let granules = code.end.saturating_sub(layout.granule(0)) / GRANULE;
        let end = granules.min(GRANULES as u64) as u16;
        self.described = layout.granule(0).saturating_sub(PORTAL_CODE);
        self.area.begin(1, end);
        let clients = layout.instances.iter().filter(|one| is_client(one.number));
        // Each that comes while the system runs has an equal part.
        let loadable = layout.header.loadable;
        let loadable = (loadable.start..loadable.end).map(|_| Kept::NOTHING);
        self.shares.begin(clients.map(Kept::of).chain(loadable), end);
        self.queues.begin(machine);
    }

    /// Gives a client its parts.
    pub fn add_client(&mut self, client: &Instance) -> Result<(), Error> {
        self.shares.add(client.number, Kept::of(client))
    }

    /// The activations of a server that comes while the system runs are free.
    pub fn add_server<M: Machine>(&mut self, machine: &M, server: &Instance) {
        self.queues.add_server(machine, server);
    }

    /// Code that was taken for an instance's domain itself.
    pub fn used_by_domain(&mut self, instance: InstanceId, code: Code) {
        self.domains[instance.index()] = code;
    }

    /// Code that was taken for the portal of its range's faults.
    pub fn used_by_faults(&mut self, instance: InstanceId, code: Code) {
        self.faults[instance.index()] = code;
    }

    /// Whether it has such a portal.
    pub fn has_faults(&self, instance: InstanceId) -> bool {
        self.faults[instance.index()].granules > 0
    }

    /// All this goes back; whether there is any.
    pub fn give_back_domain(&mut self, instance: InstanceId) -> bool {
        let Pools { area, domains, faults, .. } = self;
        let [own, faults] = [domains, faults].map(|codes| {
            let Code { start, granules, .. } = codes[instance.index()];
            codes[instance.index()].granules = 0;
            area.release(start, granules);
            granules
        });
        own + faults > 0
    }

    /// Whether no thread is in a call of which an instance is one end.
    pub fn is_empty_of<M: Machine>(&self, machine: &M, instance: InstanceId) -> bool {
        self.queues.of_end(instance).all(|queue| self.queues.is_complete(machine, queue))
    }

    /// See [`Queues::is_quiet`].
    pub fn is_quiet<M: Machine>(
        &self,
        machine: &M,
        server: InstanceId,
        but: impl Fn(InstanceId) -> bool,
    ) -> bool {
        self.queues.is_quiet(machine, server, but)
    }

    /// How many threads are in calls to a server.
    pub fn inside<M: Machine>(&self, machine: &M, server: InstanceId) -> usize {
        self.queues.inside(machine, server)
    }

    /// An instance is gone, nothing of it is open, and [no thread is in it](Pools::is_empty_of): what is kept for it as a
    /// client or a server goes back, and, if no other is in its domain, by which calls came back to it from what it called for others.
    pub fn retire<M: Machine>(
        &mut self,
        machine: &M,
        instance: InstanceId,
        domain: Option<DomainId>,
    ) {
        while let Some(queue) = { self.queues.of_end(instance).next() } {
            self.forget_returns(machine, List::of(NO_INSTANCE, queue));
            self.queues.remove(machine, queue);
        }
        self.forget_returns(machine, List::of(instance, u16::MAX));
        if let Some(domain) = domain {
            let Pools { returns, area, .. } = self;
            returns.forget_of(machine, domain, |start, granules| area.release(start, granules));
        }
        self.queues.forget(machine.layout().activations, instance);
        self.shares.remove(instance);
    }

    /// Grants that a client may bear.
    pub fn grants(&self) -> usize {
        self.shares.of_pool(GRANTS_MAXIMUM).min(GRANTS_OF_CLIENT)
    }

    /// Whether no thread is in a call by this stack queue.
    pub fn is_complete<M: Machine>(&self, machine: &M, queue: u16) -> bool {
        self.queues.is_complete(machine, queue)
    }

    /// Blocks that a client may have.
    pub fn blocks(&self, client: InstanceId) -> usize {
        self.shares.blocks(client)
    }

    /// What has become of portal code: bytes in use, and free.
    /// Return portals, which are kept for the next opening, count as free.
    pub fn usage(&self) -> (u64, u64) {
        let free = u64::from(self.area.free() + self.returns.granules()) * GRANULE;
        let used = self.described + u64::from(self.area.size()) * GRANULE;
        (used.saturating_sub(free), free)
    }

    /// Bytes of an instance's part of code that are in use, with what it keeps for its next opening, and all of them.
    pub fn usage_of(&self, instance: InstanceId) -> Option<(u64, u64)> {
        let share = self.shares.code_of(instance)?;
        let bytes = |granules: u16| u64::from(granules) * GRANULE;
        Some((bytes(self.area.taken_of(share)), bytes(share.size())))
    }

    /// Room for code, in the client's part.
    #[inline]
    pub fn room<M: Machine>(
        &mut self,
        machine: &M,
        client: InstanceId,
        granules: u16,
    ) -> Result<u16, Error> {
        if let Some(start) = self.area.find(self.shares.code(client), granules) {
            return Ok(start);
        }
        self.trim_client(machine, client);
        self.area.find(self.shares.code(client), granules).ok_or(Error::Exhausted)
    }

    /// Takes what [`Pools::room`] found.
    #[inline]
    pub fn take(&mut self, client: InstanceId, start: u16, granules: u16) {
        self.area.take(self.shares.code(client), start, granules);
    }

    /// Takes code back that no portal table leads to. No thread is in it: interrupts are off in portal code, and
    /// invocation stacks name return portals only.
    pub fn give_back(&mut self, code: Code) {
        if code.granules > 0 {
            self.area.release(code.start, code.granules);
            self.queues.left(code.queue);
        }
    }

    /// A stack queue that was taken for a block that could not be made.
    pub fn left(&mut self, queue: u16) {
        self.queues.left(queue);
    }

    /// The stack queue of a server for a client, which is used from here on.
    #[inline]
    pub fn queue<M: Machine>(
        &mut self,
        machine: &M,
        client: InstanceId,
        server: &Instance,
    ) -> Result<u16, Error> {
        let most = self.shares.of_pool(self.queues.at_run_time());
        let wanted = (server.number, server.per_client as usize);
        let found = self.queues.find(client, server.number).ok_or(Error::Exhausted);
        let queue =
            found.or_else(|_| self.queues.make(machine, client, wanted, most)).or_else(|_| {
                self.trim_client(machine, client);
                // What others keep for their next opening may be what holds the server's stacks.
                for place in 0..machine.layout().activations.len() {
                    if let Some(kept) = self.queues.left_of_server(machine, server.number, place) {
                        self.trim(machine, kept);
                    }
                }
                self.queues.make(machine, client, wanted, most)
            })?;
        self.queues.used(queue);
        Ok(queue)
    }

    /// The return portal of a list that has this shape, of calls with the limits of this crossing.
    #[inline]
    pub fn find_return<M: Machine>(
        &self,
        machine: &M,
        list: List,
        shape: u64,
        crossing: &Crossing,
    ) -> Option<u64> {
        self.returns.find(machine, list, shape, crossing)
    }

    /// Adds a return portal to a list; the value is for its literals ([`Returns::add`]).
    pub fn add_return(&mut self, list: List, start: u16, granules: u16) -> u64 {
        self.returns.add(list, start, granules)
    }

    /// Gives back what a client has for its next opening.
    pub(crate) fn trim_client<M: Machine>(&mut self, machine: &M, client: InstanceId) {
        let mut next = self.queues.first_of(client);
        while let Some(queue) = next {
            next = self.queues.behind(queue);
            if self.queues.is_left(machine, queue) {
                self.trim(machine, queue);
            }
        }
    }

    /// Gives back a queue that is left, with its return portals; one of the description stays, without them.
    fn trim<M: Machine>(&mut self, machine: &M, queue: u16) {
        self.forget_returns(machine, List::of(NO_INSTANCE, queue));
        self.queues.release(machine, queue);
    }

    /// Gives back the code of a list's return portals, which no thread is in.
    fn forget_returns<M: Machine>(&mut self, machine: &M, list: List) {
        let Pools { returns, area, .. } = self;
        returns.forget(machine, list, |start, granules| area.release(start, granules));
    }

    #[cfg(test)]
    pub(crate) fn kept(&self) -> u16 {
        self.returns.granules()
    }
}
