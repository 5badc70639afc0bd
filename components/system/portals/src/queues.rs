//! Stack queues: which client has which activations of a server.

use crate::blocks::NO_INSTANCE;
use crate::machine::Machine;
use cairn_abi::domain::{ACTIVATIONS_MAXIMUM, HELD_QUEUE, QUEUES_MAXIMUM};
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::loadable::descriptor;
use cairn_abi::record::{Activation, Instance};
use cairn_abi::{Error, InstanceId};

const NOBODY: u16 = u16::MAX;
/// The stack of a first thread.
const NOT_FOR_CALLS: u16 = u16::MAX - 1;

/// A queue: its two ends, and how many blocks use it.
#[derive(Clone, Copy)]
struct Queue {
    /// No instance: the queue is free.
    client: InstanceId,
    server: InstanceId,
    blocks: u16,
    /// Activations that it has when all are at home.
    activations: u16,
    /// The next one of the same client.
    next: u16,
}

impl Queue {
    const FREE: Queue =
        Queue { client: NO_INSTANCE, server: NO_INSTANCE, blocks: 0, activations: 0, next: NOBODY };
}

/// Owners of stack queues and activations.
pub struct Queues {
    queues: [Queue; QUEUES_MAXIMUM],
    /// Queues of the description come first; they stay.
    described: u16,
    end: u16,
    /// Of each client: its queues, as a list, and how many of them were made here.
    first: [u16; INSTANCES_MAXIMUM],
    made: [u16; INSTANCES_MAXIMUM],
    owners: [u16; ACTIVATIONS_MAXIMUM],
}

impl Queues {
    /// Before [`Queues::begin`].
    pub const EMPTY: Queues = Queues {
        queues: [Queue::FREE; QUEUES_MAXIMUM],
        described: 0,
        end: 0,
        first: [NOBODY; INSTANCES_MAXIMUM],
        made: [0; INSTANCES_MAXIMUM],
        owners: [NOT_FOR_CALLS; ACTIVATIONS_MAXIMUM],
    };

    /// Takes over from the layout.
    pub fn begin<M: Machine>(&mut self, machine: &M) {
        let layout = machine.layout();
        self.described = layout.header.free_queues.start.min(HELD_QUEUE as u64) as u16;
        self.end = self.described;
        self.add_owners(layout.activations, |_| true);
        for activation in layout.activations.iter().take(ACTIVATIONS_MAXIMUM) {
            let queue = activation.queue as u16;
            match self.queues.get(activation.queue as usize) {
                None => continue,
                Some(Queue { client: NO_INSTANCE, .. }) => {
                    self.add(queue, activation.client, activation.instance);
                }
                Some(_) => {}
            }
            self.queues[usize::from(queue)].activations += 1;
        }
    }

    /// The activations of a server that comes while the system runs are nobody's, as those of the description are that no client has.
    pub fn add_server<M: Machine>(&mut self, machine: &M, server: &Instance) {
        let activations = machine.layout().activations;
        let is_its = |activation: &Activation| activation.instance == server.number;
        self.add_owners(activations, is_its);
        for activation in activations.iter().filter(|activation| is_its(activation)) {
            machine.describe_activation(activation.index, &descriptor(server, activation));
        }
    }

    fn add_owners(&mut self, activations: &[Activation], which: impl Fn(&Activation) -> bool) {
        let mut seen = NO_INSTANCE;
        for (owner, activation) in self.owners.iter_mut().zip(activations) {
            let first = activation.instance != seen;
            seen = activation.instance;
            if which(activation) {
                *owner = match activation.queue {
                    // Nobody's, until an instance comes that has it.
                    _ if activation.instance == NO_INSTANCE => NOT_FOR_CALLS,
                    // The first activation of an instance is the stack of its own first thread.
                    u32::MAX if first => NOT_FOR_CALLS,
                    u32::MAX => NOBODY,
                    queue => queue as u16,
                };
            }
        }
    }

    /// A queue is a client's from here on.
    fn add(&mut self, queue: u16, client: InstanceId, server: InstanceId) {
        let next = core::mem::replace(&mut self.first[client.index()], queue);
        self.queues[usize::from(queue)] = Queue { client, server, next, ..Queue::FREE };
    }

    /// The first queue of a client.
    pub fn first_of(&self, client: InstanceId) -> Option<u16> {
        Some(self.first[client.index()]).filter(|queue| *queue != NOBODY)
    }

    /// The next queue of the same client.
    pub fn behind(&self, queue: u16) -> Option<u16> {
        Some(self.queues[usize::from(queue)].next).filter(|queue| *queue != NOBODY)
    }

    fn of_client(&self, client: InstanceId) -> impl Iterator<Item = u16> {
        core::iter::successors(self.first_of(client), |queue| self.behind(*queue))
    }

    /// The stack queue of a server for a client, if there is one.
    pub fn find(&self, client: InstanceId, server: InstanceId) -> Option<u16> {
        self.of_client(client).find(|queue| self.queues[usize::from(*queue)].server == server)
    }

    /// A new stack queue of a server for a client, with `wanted` activations. A client has at most `most` of those that
    /// are made here.
    pub fn make<M: Machine>(
        &mut self,
        machine: &M,
        client: InstanceId,
        (server, wanted): (InstanceId, usize),
        most: usize,
    ) -> Result<u16, Error> {
        if usize::from(self.made[client.index()]) >= most {
            return Err(Error::Exhausted);
        }
        let activations = machine.layout().activations;
        let is_free = |(owner, activation): (&u16, &Activation)| {
            *owner == NOBODY && activation.instance == server
        };
        if self.owners.iter().zip(activations).filter(|pair| is_free(*pair)).count() < wanted {
            return Err(Error::Exhausted);
        }
        let used = &self.queues[..usize::from(self.end)];
        let mut made = used.iter().skip(self.described.into());
        let queue = match made.position(|queue| queue.client == NO_INSTANCE) {
            Some(position) => self.described + position as u16,
            None if usize::from(self.end) < HELD_QUEUE => self.end,
            None => return Err(Error::Exhausted),
        };
        self.end = self.end.max(queue + 1);
        self.add(queue, client, server);
        self.made[client.index()] += 1;
        for (place, (owner, activation)) in self.owners.iter_mut().zip(activations).enumerate() {
            let made = &mut self.queues[usize::from(queue)];
            if usize::from(made.activations) < wanted && is_free((owner, activation)) {
                *owner = queue;
                // Before a thread can take it.
                machine.set_client(place, client, true);
                made.activations += 1;
            }
        }
        let owned = activations.iter().zip(&self.owners).filter(|(_, owner)| **owner == queue);
        machine.fill_queue(queue, owned.map(|(activation, _)| activation.index));
        Ok(queue)
    }

    /// Queues that there are beside those of the description.
    pub fn at_run_time(&self) -> usize {
        HELD_QUEUE - usize::from(self.described)
    }

    /// A block uses a queue, if it uses one.
    pub fn used(&mut self, queue: u16) {
        if let Some(queue) = self.queues.get_mut(usize::from(queue)) {
            queue.blocks += 1;
        }
    }

    /// A block that used it is gone. The queue is kept: the next one of the same two ends finds it.
    pub fn left(&mut self, queue: u16) {
        if let Some(queue) = self.queues.get_mut(usize::from(queue)) {
            queue.blocks -= 1;
        }
    }

    /// The queue made here that has the activation at a place of the layout's table, if that is a server's, and the queue
    /// [is left](Queues::is_left).
    pub fn left_of_server<M: Machine>(
        &self,
        machine: &M,
        server: InstanceId,
        place: usize,
    ) -> Option<u16> {
        let activation = machine.layout().activations.get(place)?;
        let owner = *self.owners.get(place)?;
        let can_go = activation.instance == server
            && (self.described..self.end).contains(&owner)
            && self.is_left(machine, owner);
        can_go.then_some(owner)
    }

    /// Whether no block uses a queue and all its activations are at home, so that no thread is inside of its return
    /// portals. Threads may take and give back activations meanwhile, by portals of the description: an activation that
    /// was seen in the list was at home since the last block was gone, since when no thread can enter by a portal that was
    /// made here.
    pub fn is_left<M: Machine>(&self, machine: &M, queue: u16) -> bool {
        let Queue { blocks, client, .. } = self.queues[usize::from(queue)];
        blocks == 0 && client != NO_INSTANCE && self.is_complete(machine, queue)
    }

    /// Whether all activations of a queue are at home.
    pub fn is_complete<M: Machine>(&self, machine: &M, queue: u16) -> bool {
        self.taken(machine, queue) == 0
    }

    /// How many activations of a queue are not at home.
    fn taken<M: Machine>(&self, machine: &M, queue: u16) -> usize {
        let activations = usize::from(self.queues[usize::from(queue)].activations);
        let mut seen = [0u64; ACTIVATIONS_MAXIMUM / 64];
        let mut next = machine.free_activation(queue, None);
        for home in 0..activations {
            let Some(activation) = next else { return activations - home };
            let place = activation as usize;
            let Some(word) = seen.get_mut(place / 64) else { return activations - home };
            if *word >> (place % 64) & 1 == 1 {
                return activations - home;
            }
            *word |= 1 << (place % 64);
            next = machine.free_activation(queue, Some(activation));
        }
        0
    }

    /// The queues of which an instance is one end.
    pub fn of_end(&self, end: InstanceId) -> impl Iterator<Item = u16> {
        let queues = (0..self.end).zip(&self.queues);
        let is_end = move |queue: &Queue| {
            queue.client != NO_INSTANCE && (queue.client == end || queue.server == end)
        };
        queues.filter(move |(_, queue)| is_end(queue)).map(|(queue, _)| queue)
    }

    /// Whether no thread is in a call to a server, but for those of the clients for which `but` says so.
    pub fn is_quiet<M: Machine>(
        &self,
        machine: &M,
        server: InstanceId,
        but: impl Fn(InstanceId) -> bool,
    ) -> bool {
        let mut queues = self.of_end(server);
        queues.all(|queue| {
            let Queue { client, server: of, .. } = self.queues[usize::from(queue)];
            of != server || but(client) || self.is_complete(machine, queue)
        })
    }

    /// How many threads are in calls to a server.
    pub fn inside<M: Machine>(&self, machine: &M, server: InstanceId) -> usize {
        let own =
            self.of_end(server).filter(|queue| self.queues[usize::from(*queue)].server == server);
        own.map(|queue| self.taken(machine, queue)).sum()
    }

    /// The activations of a server that is gone are in no queue, and unused until another instance has them.
    pub fn forget(&mut self, activations: &[Activation], server: InstanceId) {
        let owners = self.owners.iter_mut().zip(activations);
        for (owner, _) in owners.filter(|(_, activation)| activation.instance == server) {
            *owner = NOT_FOR_CALLS;
        }
    }

    /// Gives a queue back that [is left](Queues::is_left), if it was made here.
    pub fn release<M: Machine>(&mut self, machine: &M, queue: u16) {
        if queue >= self.described {
            self.remove(machine, queue);
        }
    }

    /// Takes a queue apart that [is left](Queues::is_left).
    pub fn remove<M: Machine>(&mut self, machine: &M, queue: u16) {
        let Queue { client, next, .. } = self.queues[usize::from(queue)];
        let before =
            self.of_client(client).find(|other| self.queues[usize::from(*other)].next == queue);
        match before {
            Some(before) => self.queues[usize::from(before)].next = next,
            None => self.first[client.index()] = next,
        }
        self.made[client.index()] -= u16::from(queue >= self.described);
        self.queues[usize::from(queue)] = Queue::FREE;
        machine.fill_queue(queue, core::iter::empty());
        let owners = self.owners.iter_mut().enumerate();
        for (place, owner) in owners.filter(|(_, owner)| **owner == queue) {
            *owner = NOBODY;
            // All are at home: their windows are closed.
            machine.set_client(place, client, false);
        }
        while self.end > self.described
            && self.queues[usize::from(self.end) - 1].client == NO_INSTANCE
        {
            self.end -= 1;
        }
    }
}
