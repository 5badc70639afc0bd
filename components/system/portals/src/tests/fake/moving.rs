//! The same with two that move, the server and a client of it.

use super::*;
use crate::blocks::NO_INSTANCE;

/// In a machine of those that move: the server's other place, and that of a client.
pub const PLACE: InstanceId = InstanceId(7);
pub const CLIENTS_PLACE: InstanceId = InstanceId(8);

/// The return stub of a place in the kernel domain, and how its methods' entries differ.
pub const PLACE_STUB: u64 = 0xffff_ffc0_0000_1000;
pub const PLACE_ENTRY: u64 = 0x4000_0000;

impl Fake {
    /// One with two that move: the server and a client of it.
    pub fn that_moves() -> Fake {
        Fake::that_moves_to(None)
    }

    /// The same, the server into the page table of another, if one is named.
    pub fn that_moves_to(host: Option<InstanceId>) -> Fake {
        let mut layout = layout(None);
        let mut instances = layout.instances.to_vec();
        for (of, place) in [(SERVER, PLACE), (CLIENT, CLIENTS_PLACE)] {
            let one = &mut instances[of.index() - 1];
            one.other_place = place;
            let domain = domain_of(place);
            let table = Tables::LEAST.portal_table(domain);
            // Quotas are the instance's.
            let other = Instance { number: place, domain, table, successor_of: of, ..*one };
            let other = Instance { other_place: of, is_away: 1, per_client: 0, ..other };
            let other = Instance { names: Range { start: 0, end: 0 }, ..other };
            instances.push(match host.filter(|_| of == SERVER) {
                Some(host) => Instance { host, space: Space::new(0, host.into()), ..other },
                None => Instance { in_kernel: 1, stub: PLACE_STUB, space: Space::NONE, ..other },
            });
        }
        let mut portals = layout.portals.to_vec();
        let own = portals.clone();
        for (of, place) in [(SERVER, PLACE), (CLIENT, CLIENTS_PLACE)] {
            let of_place = own.iter().filter(|one| one.client == of);
            portals.extend(of_place.map(|one| Portal {
                client: place,
                code: one.code + 0x4000,
                ..*one
            }));
        }
        for portal in &mut portals {
            if layout.exports[portal.export as usize].instance == SERVER {
                portal.code_elsewhere = portal.code + 0x100;
            }
        }
        (layout.instances, layout.portals) = (leak(instances), leak(portals));
        let fake = Fake::of(layout);
        for portal in fake.layout.portals.iter().filter(|one| one.code_elsewhere != 0) {
            let (code, back) = (portal.code_elsewhere, portal.code_elsewhere + 0x200);
            let (caller, callee) = (domain_of(portal.client), domain_of(PLACE));
            fake.put(code, LITERAL_MARK, MARK_CALL);
            fake.put(code, LITERAL_RETURN, back);
            fake.put(back, LITERAL_MARK, MARK_RETURN);
            fake.put(
                back,
                LITERAL_FRAME,
                CallFrame { size: 64, of_carrier: false, caller, callee }.word(),
            );
            if host.is_some() && portal.queue != u64::MAX {
                // With the same stacks.
                fake.put(code, LITERAL_QUEUE, stack_queue(portal.queue as usize));
                fake.put(back, LITERAL_QUEUE, stack_queue(portal.queue as usize));
            }
        }
        fake.set_alive(PLACE, false);
        fake.set_alive(CLIENTS_PLACE, false);
        fake
    }

    /// The space of an instance, or of a place, whatever the record has there now.
    pub fn space_of(&self, of: InstanceId) -> Space {
        let domain = domain_of(of);
        self.layout.instances.iter().find(|one| one.domain == domain).unwrap().space
    }

    /// The memory manager exchanges what two records say of a place; the server's methods are entered elsewhere then.
    pub fn exchange_places(&mut self, of: InstanceId) {
        let mut instances = self.layout.instances.to_vec();
        let (one, other) = (of.index() - 1, instances[of.index() - 1].other_place.index() - 1);
        let [mut ours, mut theirs] = [instances[one], instances[other]];
        std::mem::swap(&mut ours.domain, &mut theirs.domain);
        std::mem::swap(&mut ours.in_kernel, &mut theirs.in_kernel);
        std::mem::swap(&mut ours.is_away, &mut theirs.is_away);
        std::mem::swap(&mut ours.table, &mut theirs.table);
        std::mem::swap(&mut ours.space, &mut theirs.space);
        std::mem::swap(&mut ours.stub, &mut theirs.stub);
        (instances[one], instances[other]) = (ours, theirs);
        let mut methods = self.layout.methods.to_vec();
        for export in self.layout.exports.iter().filter(|export| export.instance == of) {
            let first = export.first_method as usize;
            let all = &mut methods[first..first + export.method_count as usize];
            // In another page table it has the same image.
            let differs = if theirs.host == NO_INSTANCE { PLACE_ENTRY } else { 0 };
            all.iter_mut().for_each(|method| method.entry ^= differs);
        }
        let mut portals = self.layout.portals.to_vec();
        for index in 0..PORTALS_DESCRIBED as u32 {
            let find = |client: InstanceId| {
                portals.iter().position(|portal| (portal.client, portal.index) == (client, index))
            };
            let Some((one, other)) = find(of).zip(find(ours.other_place)) else { continue };
            let [ours, theirs] = [portals[one], portals[other]];
            (portals[one].code, portals[other].code) = (theirs.code, ours.code);
            (portals[one].code_elsewhere, portals[other].code_elsewhere) =
                (theirs.code_elsewhere, ours.code_elsewhere);
        }
        let layout = &mut self.layout;
        layout.instances = leak(instances);
        (layout.methods, layout.portals) = (leak(methods), leak(portals));
    }
}
