//! Stack queues: which activations of a server are whose.

use crate::memory::Memory;
use cairn::Error;
use cairn_abi::domain::QUEUES_MAXIMUM;
use cairn_portals::blocks::{Blocks, State};

/// Most activations that the manager hands out.
const ACTIVATIONS_MAXIMUM: usize = 2048;
const NOBODY: u16 = u16::MAX;
/// The stack of a first thread.
const NOT_FOR_CALLS: u16 = u16::MAX - 1;

/// Owners of stack queues and activations.
pub struct Queues {
    /// Client and server of each queue; zero: unused.
    pairs: [(u8, u8); QUEUES_MAXIMUM],
    /// Queues of the description come first; they stay.
    described: u16,
    end: u16,
    owners: [u16; ACTIVATIONS_MAXIMUM],
}

impl Queues {
    /// Before [`Queues::begin`].
    pub const EMPTY: Queues = Queues {
        pairs: [(0, 0); QUEUES_MAXIMUM],
        described: 0,
        end: 0,
        owners: [NOT_FOR_CALLS; ACTIVATIONS_MAXIMUM],
    };

    /// Takes over from the layout.
    pub fn begin(&mut self, memory: &Memory) {
        self.described = memory.header.free_queues.start.min(QUEUES_MAXIMUM as u64) as u16;
        self.end = self.described;
        let mut seen = 0;
        for (owner, activation) in self.owners.iter_mut().zip(memory.activations) {
            let first = activation.domain != seen;
            seen = activation.domain;
            *owner = match activation.queue {
                // The first activation of a domain is the stack of its own first thread.
                u32::MAX if first => NOT_FOR_CALLS,
                u32::MAX => NOBODY,
                queue => queue as u16,
            };
            if let Some(pair) = self.pairs.get_mut(activation.queue as usize) {
                *pair = (activation.client as u8, activation.domain as u8);
            }
        }
    }

    /// The stack queue of a server for a client: an existing one, or a new one with as many activations as
    /// the server's description gives a client.
    /// A client has at most `most` of those that are made here.
    pub fn queue(
        &mut self,
        memory: &Memory,
        client: u8,
        server: u8,
        most: usize,
    ) -> Result<u16, Error> {
        let used = &self.pairs[..usize::from(self.end)];
        if let Some(queue) = used.iter().position(|pair| *pair == (client, server)) {
            return Ok(queue as u16);
        }
        let made = used.iter().skip(self.described.into());
        if made.filter(|pair| pair.0 == client).count() >= most {
            return Err(Error::Exhausted);
        }
        let wanted = memory.instance(server)?.per_client as usize;
        let of_server =
            memory.activations.iter().map(|activation| activation.domain == u32::from(server));
        let free = self
            .owners
            .iter()
            .zip(of_server.clone())
            .filter(|(owner, of_server)| **owner == NOBODY && *of_server);
        if free.count() < wanted {
            return Err(Error::Exhausted);
        }
        let unused = used.iter().skip(self.described.into()).position(|pair| *pair == (0, 0));
        let queue = match unused {
            Some(position) => self.described + position as u16,
            None if usize::from(self.end) < QUEUES_MAXIMUM => self.end,
            None => return Err(Error::Exhausted),
        };
        self.end = self.end.max(queue + 1);
        self.pairs[usize::from(queue)] = (client, server);
        let free = self
            .owners
            .iter_mut()
            .zip(of_server)
            .filter(|(owner, of_server)| **owner == NOBODY && *of_server);
        free.take(wanted).for_each(|(owner, _)| *owner = queue);
        let owned =
            memory.activations.iter().zip(&self.owners).filter(|(_, owner)| **owner == queue);
        memory.fill_queue(queue, owned.map(|(activation, _)| activation.index));
        Ok(queue)
    }

    /// Queues that there are beside those of the description.
    pub fn at_run_time(&self) -> usize {
        QUEUES_MAXIMUM - usize::from(self.described)
    }

    fn is_unused(&self, queue: u16, blocks: &Blocks) -> bool {
        self.pairs[usize::from(queue)] != (0, 0)
            && !blocks.used().iter().any(|block| block.state != State::Free && block.queue == queue)
    }

    /// Whether a queue could be released.
    pub fn unused(&self, blocks: &Blocks) -> bool {
        (self.described..self.end).any(|queue| self.is_unused(queue, blocks))
    }

    /// Gives back the activations of queues that no block uses, the closed ones included: nobody is in
    /// their code, so all activations are at home, and nobody can take one.
    pub fn release_unused(&mut self, memory: &Memory, blocks: &Blocks) {
        for queue in self.described..self.end {
            if self.is_unused(queue, blocks) {
                memory.fill_queue(queue, core::iter::empty());
                self.pairs[usize::from(queue)] = (0, 0);
                for owner in self.owners.iter_mut().filter(|owner| **owner == queue) {
                    *owner = NOBODY;
                }
            }
        }
        while self.end > self.described && self.pairs[usize::from(self.end) - 1] == (0, 0) {
            self.end -= 1;
        }
    }
}
