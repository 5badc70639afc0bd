//! Stack queues: which activations of a server are whose.

use crate::machine::Machine;
use cairn_abi::Error;
use cairn_abi::domain::{DOMAINS_MAXIMUM, QUEUES_MAXIMUM};
use cairn_abi::record::Activation;

/// Most activations that the manager hands out.
const ACTIVATIONS_MAXIMUM: usize = 2048;
const NOBODY: u16 = u16::MAX;
/// The stack of a first thread.
const NOT_FOR_CALLS: u16 = u16::MAX - 1;

/// A queue: whose, and how many blocks use it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Queue {
    /// Zero: nobody's.
    client: u8,
    server: u8,
    blocks: u16,
}

/// Owners of stack queues and activations.
pub struct Queues {
    queues: [Queue; QUEUES_MAXIMUM],
    /// Queues of the description come first; they stay.
    described: u16,
    end: u16,
    /// Queues that were made here, of each client.
    made: [u16; DOMAINS_MAXIMUM],
    owners: [u16; ACTIVATIONS_MAXIMUM],
}

impl Queues {
    /// Before [`Queues::begin`].
    pub const EMPTY: Queues = Queues {
        queues: [Queue { client: 0, server: 0, blocks: 0 }; QUEUES_MAXIMUM],
        described: 0,
        end: 0,
        made: [0; DOMAINS_MAXIMUM],
        owners: [NOT_FOR_CALLS; ACTIVATIONS_MAXIMUM],
    };

    /// Takes over from the layout.
    pub fn begin<M: Machine>(&mut self, machine: &M) {
        let layout = machine.layout();
        self.described = layout.header.free_queues.start.min(QUEUES_MAXIMUM as u64) as u16;
        self.end = self.described;
        let mut seen = 0;
        for (owner, activation) in self.owners.iter_mut().zip(layout.activations) {
            let first = activation.domain != seen;
            seen = activation.domain;
            *owner = match activation.queue {
                // The first activation of a domain is the stack of its own first thread.
                u32::MAX if first => NOT_FOR_CALLS,
                u32::MAX => NOBODY,
                queue => queue as u16,
            };
            if let Some(queue) = self.queues.get_mut(activation.queue as usize) {
                let (client, server) = (activation.client as u8, activation.domain as u8);
                *queue = Queue { client, server, blocks: 0 };
            }
        }
    }

    /// The stack queue of a server for a client: an existing one, or a new one with as many activations as
    /// the server's description gives a client.
    /// A client has at most `most` of those that are made here.
    pub fn queue<M: Machine>(
        &mut self,
        machine: &M,
        client: u8,
        server: u8,
        most: usize,
    ) -> Result<u16, Error> {
        let used = &self.queues[..usize::from(self.end)];
        if let Some(queue) =
            used.iter().position(|queue| queue.client == client && queue.server == server)
        {
            return Ok(queue as u16);
        }
        if usize::from(self.made[usize::from(client)]) >= most {
            return Err(Error::Exhausted);
        }
        let wanted = machine.layout().instance(server)?.per_client as usize;
        let activations = machine.layout().activations;
        let is_free = |(owner, activation): (&u16, &Activation)| {
            *owner == NOBODY && activation.domain == u32::from(server)
        };
        if self.owners.iter().zip(activations).filter(|pair| is_free(*pair)).count() < wanted {
            return Err(Error::Exhausted);
        }
        let made = used.iter().skip(self.described.into());
        let queue = match made.into_iter().position(|queue| queue.client == 0) {
            Some(position) => self.described + position as u16,
            None if usize::from(self.end) < QUEUES_MAXIMUM => self.end,
            None => return Err(Error::Exhausted),
        };
        self.end = self.end.max(queue + 1);
        self.queues[usize::from(queue)] = Queue { client, server, blocks: 0 };
        self.made[usize::from(client)] += 1;
        let mut taken = 0;
        for (owner, activation) in self.owners.iter_mut().zip(activations) {
            if taken < wanted && is_free((owner, activation)) {
                *owner = queue;
                taken += 1;
            }
        }
        let owned = activations.iter().zip(&self.owners).filter(|(_, owner)| **owner == queue);
        machine.fill_queue(queue, owned.map(|(activation, _)| activation.index));
        Ok(queue)
    }

    /// Queues that there are beside those of the description.
    pub fn at_run_time(&self) -> usize {
        QUEUES_MAXIMUM - usize::from(self.described)
    }

    /// A block uses a queue, if it uses one.
    pub fn used(&mut self, queue: u16) {
        if let Some(queue) = self.queues.get_mut(usize::from(queue)) {
            queue.blocks += 1;
        }
    }

    /// The code of a block that used it is gone. With the last one, a queue that was made here goes:
    /// nobody is in their code, so all activations are at home, and nobody can take one.
    pub fn left<M: Machine>(&mut self, machine: &M, queue: u16) {
        let Some(left) = self.queues.get_mut(usize::from(queue)) else { return };
        left.blocks -= 1;
        self.release_unused(machine, queue);
    }

    /// Gives a queue back that no block uses: for who got it and then had no use for it.
    pub fn release_unused<M: Machine>(&mut self, machine: &M, queue: u16) {
        let Some(unused) = self.queues.get_mut(usize::from(queue)) else { return };
        if queue < self.described || unused.blocks > 0 || unused.client == 0 {
            return;
        }
        self.made[usize::from(unused.client)] -= 1;
        *unused = Queue { client: 0, server: 0, blocks: 0 };
        machine.fill_queue(queue, core::iter::empty());
        for owner in self.owners.iter_mut().filter(|owner| **owner == queue) {
            *owner = NOBODY;
        }
        while self.end > self.described && self.queues[usize::from(self.end) - 1].client == 0 {
            self.end -= 1;
        }
    }
}
