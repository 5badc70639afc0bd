//! What each client may have of the pools: an equal part, and beside it what is kept for its quotas of the description
//! (`semaphores`, `locks`, `portals`). They add up to the pools, so that no set of clients keeps another from opening.

use crate::area::{GRANULE, Share};
use crate::blocks::NO_INSTANCE;
use cairn_abi::domain::{BLOCKS_MAXIMUM, GRANULES_MAXIMUM, PORTAL_CODE_EACH};
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::record::Instance;
use cairn_abi::{Error, InstanceId};

/// Granules that are kept for a portal.
const GRANULES_EACH: u64 = PORTAL_CODE_EACH / GRANULE;

/// What is kept for a client beside its equal part: blocks, and the portals in them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    blocks: u16,
    portals: u16,
}

impl Kept {
    /// Nothing.
    pub const NOTHING: Kept = Kept { blocks: 0, portals: 0 };

    /// As the layout says. Beside the part of one that comes while the system runs nothing is kept.
    pub fn of(client: &Instance) -> Kept {
        if client.parent.index() != 0 {
            return Kept::NOTHING;
        }
        let limited = |number: u64| number.min(GRANULES_MAXIMUM as u64) as u16;
        Kept { blocks: limited(client.blocks), portals: limited(client.portals) }
    }
}

/// A part of the area of code, and of the blocks.
#[derive(Clone, Copy)]
struct Part {
    /// The client that has it.
    holder: InstanceId,
    kept: Kept,
    /// Granules.
    first: u16,
    end: u16,
}

/// The clients' parts.
pub struct Shares {
    code: [Share; INSTANCES_MAXIMUM],
    /// As many as clients.
    parts: [Part; INSTANCES_MAXIMUM],
    clients: usize,
    /// Blocks that each client has beside those that are kept for it, and with them.
    blocks: usize,
    blocks_of: [u16; INSTANCES_MAXIMUM],
}

impl Shares {
    /// No client has anything.
    pub const NONE: Shares = Shares {
        code: [Share::NONE; INSTANCES_MAXIMUM],
        parts: [Part {
            holder: NO_INSTANCE,
            kept: Kept { blocks: 0, portals: 0 },
            first: 0,
            end: 0,
        }; INSTANCES_MAXIMUM],
        clients: 0,
        blocks: 0,
        blocks_of: [0; INSTANCES_MAXIMUM],
    };

    /// Divides granules `1 .. end` and the blocks among clients for each of which this is kept.
    pub fn begin(&mut self, kept: impl Iterator<Item = Kept> + Clone, end: u16) {
        *self = Shares::NONE;
        let clients = kept.clone().take(INSTANCES_MAXIMUM).count().max(1);
        // The host tool sees to it that there is more than this: otherwise the last ones have less.
        let portals: u64 = kept.clone().map(|kept| u64::from(kept.portals)).sum();
        let blocks: usize = kept.clone().map(|kept| usize::from(kept.blocks)).sum();
        let granules = u64::from(end).saturating_sub(1 + portals * GRANULES_EACH) / clients as u64;
        self.blocks = BLOCKS_MAXIMUM.saturating_sub(blocks) / clients;
        self.clients = clients;
        let mut first = 1;
        for (part, kept) in self.parts.iter_mut().zip(kept) {
            let last = first + granules + u64::from(kept.portals) * GRANULES_EACH;
            let last = last.min(end.into());
            *part = Part { kept, first: first as u16, end: last as u16, ..*part };
            first = last;
        }
    }

    /// Gives a client a part that no other client has, of those with so much kept.
    pub fn add(&mut self, client: InstanceId, kept: Kept) -> Result<(), Error> {
        let mut parts = self.parts.iter_mut().take(self.clients);
        let is_free = |part: &&mut Part| part.holder == NO_INSTANCE && part.kept == kept;
        let part = parts.find(is_free).ok_or(Error::Exhausted)?;
        part.holder = client;
        self.code[client.index()] = Share::new(part.first, part.end);
        self.blocks_of[client.index()] = self.blocks as u16 + kept.blocks;
        Ok(())
    }

    /// A client that has nothing of its part any more gives it back.
    pub fn remove(&mut self, client: InstanceId) {
        for part in self.parts.iter_mut().filter(|part| part.holder == client) {
            part.holder = NO_INSTANCE;
        }
        self.code[client.index()] = Share::NONE;
        self.blocks_of[client.index()] = 0;
    }

    /// A client's part of the area of portal code.
    pub fn code(&mut self, client: InstanceId) -> &mut Share {
        &mut self.code[client.index()]
    }

    /// The same, to look at.
    pub fn code_of(&self, client: InstanceId) -> Option<&Share> {
        self.code.get(client.index())
    }

    /// Blocks that a client may have.
    pub fn blocks(&self, client: InstanceId) -> usize {
        self.blocks_of[client.index()].into()
    }

    /// A client's part of a pool of this size; one at least.
    pub fn of_pool(&self, size: usize) -> usize {
        (size / self.clients.max(1)).max(1)
    }
}

/// The clients: every instance that is connected to the portal manager. No other instance gets portals at run time,
/// because they are made at the request of their holder only. `connections` are pairs of client and server.
pub fn clients(
    connections: impl Iterator<Item = (InstanceId, InstanceId)>,
    manager: InstanceId,
) -> [bool; INSTANCES_MAXIMUM] {
    let mut clients = [false; INSTANCES_MAXIMUM];
    // Its own lock.
    clients[manager.index()] = true;
    for (client, server) in connections {
        clients[client.index()] |= server == manager;
    }
    clients
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::area::{Area, GRANULES};

    #[test]
    fn whatever_others_take_a_client_has_its_part() {
        for count in [1, 2, 7, 60, 250] {
            let mut shares = Shares::NONE;
            // For the first something is kept, beside what all have.
            let given = |client: u16| match client {
                1 => Kept { blocks: 600, portals: 1000 },
                _ => Kept { blocks: 0, portals: 0 },
            };
            let end = GRANULES as u16;
            shares.begin((1..=count as u16).map(given), end);
            let clients = 1..=count as u16;
            clients.for_each(|client| shares.add(InstanceId(client), given(client)).unwrap());
            assert_eq!(shares.add(InstanceId(count as u16 + 1), given(2)), Err(Error::Exhausted));
            let mut area = Area::EMPTY;
            area.begin(1, end);
            // All others take what they can, in pieces of every size, and leave holes.
            for client in (2..=count as u16).map(InstanceId) {
                let mut taken = 0;
                for wanted in (1..40).cycle() {
                    let share = *shares.code(client);
                    let Some(start) = area.find(&share, wanted) else { break };
                    area.take(shares.code(client), start, wanted);
                    taken += wanted;
                }
                assert!(taken <= shares.code(client).size());
            }
            let own = *shares.code(InstanceId(1));
            let equal = (GRANULES - 1 - 4000) / count;
            assert_eq!(usize::from(own.size()), equal + 4000);
            assert!(area.find(&own, own.size()).is_some(), "{count}");
            assert_eq!(area.find(&own, own.size() + 1), None);
            let blocks = (1..=count as u16).map(|client| shares.blocks(InstanceId(client)));
            assert!(shares.blocks(InstanceId(1)) > 600 && blocks.sum::<usize>() <= BLOCKS_MAXIMUM);
            // Another one has the part of one that is gone.
            shares.remove(InstanceId(1));
            let next = InstanceId(count as u16 + 1);
            assert_eq!(shares.add(next, given(2)), Err(Error::Exhausted), "it is not for this one");
            assert_eq!(shares.add(next, given(1)), Ok(()));
            assert_eq!(shares.code(next).size(), own.size());
            assert_eq!(shares.code(InstanceId(1)).size(), 0);
        }
    }

    #[test]
    fn clients_are_connected_to_the_manager() {
        let connections = [(2, 1), (3, 2), (4, 3), (5, 1), (6, 7)];
        let connections =
            connections.map(|(client, server)| (InstanceId(client), InstanceId(server)));
        let found = clients(connections.into_iter(), InstanceId(1));
        let expected: Vec<usize> = (0..INSTANCES_MAXIMUM).filter(|client| found[*client]).collect();
        assert_eq!(expected, [1, 2, 5]);
    }
}
