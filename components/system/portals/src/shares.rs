//! What each client may have of the pools: equal parts that add up to them, so that no set of clients
//! keeps another from opening.

use crate::area::Share;
use crate::blocks::BLOCKS_MAXIMUM;
use cairn_abi::InstanceId;
use cairn_abi::domain::DOMAINS_MAXIMUM;

/// The clients' parts.
pub struct Shares {
    code: [Share; DOMAINS_MAXIMUM],
    blocks: usize,
    clients: usize,
}

impl Shares {
    /// Nobody has anything.
    pub const NONE: Shares = Shares { code: [Share::NONE; DOMAINS_MAXIMUM], blocks: 0, clients: 0 };

    /// Gives each of the instances that are clients an equal part of granules `first .. end` and of the
    /// blocks.
    pub fn divide(&mut self, clients: &[bool; DOMAINS_MAXIMUM], first: u16, end: u16) {
        let count = clients.iter().filter(|client| **client).count().max(1);
        let part = end.saturating_sub(first) / count as u16;
        let mut next = first;
        for (share, client) in self.code.iter_mut().zip(clients) {
            *share = Share::NONE;
            if *client {
                *share = Share::new(next, next + part);
                next += part;
            }
        }
        self.blocks = BLOCKS_MAXIMUM / count;
        self.clients = count;
    }

    /// A client's part of the area of portal code.
    pub fn code(&mut self, client: InstanceId) -> &mut Share {
        &mut self.code[client.index()]
    }

    /// Blocks that a client may have.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// A client's part of a pool of this size; one at least.
    pub fn of_pool(&self, size: usize) -> usize {
        (size / self.clients.max(1)).max(1)
    }
}

/// Who can be a client: who is connected to the portal manager. Nobody else is given portals at run time, since
/// nobody makes them for who did not ask. `connections` are pairs of client and server.
pub fn clients(
    connections: impl Iterator<Item = (InstanceId, InstanceId)>,
    manager: InstanceId,
) -> [bool; DOMAINS_MAXIMUM] {
    let mut clients = [false; DOMAINS_MAXIMUM];
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
            let mut clients = [false; DOMAINS_MAXIMUM];
            clients[1..=count].fill(true);
            let mut shares = Shares::NONE;
            shares.divide(&clients, 100, GRANULES as u16);
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
        }
    }

    #[test]
    fn clients_are_connected_to_the_manager() {
        let connections = [(2, 1), (3, 2), (4, 3), (5, 1), (6, 7)];
        let connections =
            connections.map(|(client, server)| (InstanceId(client), InstanceId(server)));
        let found = clients(connections.into_iter(), InstanceId(1));
        let expected: Vec<usize> = (0..DOMAINS_MAXIMUM).filter(|client| found[*client]).collect();
        assert_eq!(expected, [1, 2, 5]);
    }
}
