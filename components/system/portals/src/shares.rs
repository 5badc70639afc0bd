//! What each client may have of the pools: equal parts that add up to them, so that no set of clients
//! keeps another from opening.

use crate::area::Share;
use crate::blocks::{BLOCKS_MAXIMUM, NO_INSTANCE};
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::{Error, InstanceId};

/// The clients' parts.
pub struct Shares {
    code: [Share; INSTANCES_MAXIMUM],
    /// The client that has each part of the area; there are as many parts as clients.
    holders: [InstanceId; INSTANCES_MAXIMUM],
    clients: usize,
    /// The first granule of all parts, and granules of each.
    first: u16,
    part: u16,
}

impl Shares {
    /// No client has anything.
    pub const NONE: Shares = Shares {
        code: [Share::NONE; INSTANCES_MAXIMUM],
        holders: [NO_INSTANCE; INSTANCES_MAXIMUM],
        clients: 0,
        first: 0,
        part: 0,
    };

    /// Divides granules `first .. end` and the blocks into equal parts for so many clients.
    pub fn begin(&mut self, clients: usize, first: u16, end: u16) {
        let clients = clients.clamp(1, INSTANCES_MAXIMUM);
        let part = end.saturating_sub(first) / clients as u16;
        *self = Shares { clients, first, part, ..Shares::NONE };
    }

    /// Gives a client a part that no other client has.
    pub fn add(&mut self, client: InstanceId) -> Result<(), Error> {
        let mut parts = self.holders.iter_mut().take(self.clients);
        let part = parts.position(|holder| *holder == NO_INSTANCE).ok_or(Error::Exhausted)?;
        let first = self.first + part as u16 * self.part;
        self.holders[part] = client;
        self.code[client.index()] = Share::new(first, first + self.part);
        Ok(())
    }

    /// A client that has nothing of its part any more gives it back.
    pub fn remove(&mut self, client: InstanceId) {
        for holder in self.holders.iter_mut().filter(|holder| **holder == client) {
            *holder = NO_INSTANCE;
        }
        self.code[client.index()] = Share::NONE;
    }

    /// A client's part of the area of portal code.
    pub fn code(&mut self, client: InstanceId) -> &mut Share {
        &mut self.code[client.index()]
    }

    /// Blocks that a client may have.
    pub fn blocks(&self) -> usize {
        BLOCKS_MAXIMUM / self.clients.max(1)
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
            shares.begin(count, 100, GRANULES as u16);
            let clients = (1..=count as u16).map(InstanceId);
            clients.for_each(|client| shares.add(client).unwrap());
            assert_eq!(shares.add(InstanceId(count as u16 + 1)), Err(Error::Exhausted));
            let mut area = Area::EMPTY;
            area.begin(100, GRANULES as u16);
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
            assert_eq!(usize::from(own.size()), (GRANULES - 100) / count);
            assert!(area.find(&own, own.size()).is_some(), "{count}");
            assert_eq!(area.find(&own, own.size() + 1), None);
            assert!(shares.blocks() >= 1 && shares.blocks() * count <= BLOCKS_MAXIMUM);
            // Another one has the part of one that is gone.
            shares.remove(InstanceId(1));
            let next = InstanceId(count as u16 + 1);
            assert_eq!(shares.add(next), Ok(()));
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
