//! The portal of a range's faults in a domain that came while the system runs. That of a section of the description the layout made.
//!
//! Threads' invocation stacks name its code where they come back from the pager, or have waited for one of its stacks, so the code stays
//! as long as the domain. If the pager retires before, what faults leads where it did without one.

use super::Maker;
use crate::blocks::Kind;
use crate::machine::Machine;
use crate::refusals::Missing;
use crate::returns;
use cairn_abi::arch::trap::{PAGE_FAULTS, slots};
use cairn_abi::domain::upcall_entry;
use cairn_abi::record::{FLOAT_OFF, Instance, PagedRange};
use cairn_abi::upcall::Upcall;
use cairn_abi::{Error, InstanceId};
use cairn_portal::specification::Stack;
use cairn_portal::{Crossing, Source, Trust, generate, plan};

impl Maker {
    /// Faults in the range of an instance that has not begun call its pager, an export of this number, at `entry`. `BadArgument`: it
    /// has no range, or that is another's to provide; `NotSupported`: one of the two uses the floating-point unit, whose state a
    /// fault does not keep, or the pager runs to completion.
    pub fn connect_pager<M: Machine>(
        &mut self,
        machine: &M,
        client: InstanceId,
        server: InstanceId,
        (export, entry): (u32, u64),
    ) -> Result<(), Error> {
        let ends = (self.instances.get(client)?, self.callable(machine, client, server)?);
        let number = machine.layout().header.loadable_range(client).ok_or(Error::BadArgument)?;
        let range = machine.layout().ranges.get(number).ok_or(Error::BadArgument)?;
        if (range.client, range.pager) != (client, server) {
            return Err(Error::BadArgument);
        }
        if machine.check_alive(ends.0.domain).is_ok() || self.pools.has_faults(client) {
            return Err(Error::Busy);
        }
        if ends.0.float != FLOAT_OFF || ends.1.float != FLOAT_OFF || ends.1.run_to_completion != 0 {
            return Err(Error::NotSupported);
        }
        let mut queue = u16::MAX;
        let made = self.make_faults(machine, ends, (number, range), (export, entry), &mut queue);
        if made.is_err() {
            self.pools.left(queue);
            return made;
        }
        // Who stands before that pager for all stands before it for this client.
        let mut place = 0;
        while let Some(rule) = self.rule(place) {
            self.wrap_faults(machine, &rule, number)?;
            place += 1;
        }
        Ok(())
    }

    fn make_faults<M: Machine>(
        &mut self,
        machine: &M,
        (client, pager): (&Instance, &Instance),
        (number, range): (usize, &PagedRange),
        (export, entry): (u32, u64),
        queue: &mut u16,
    ) -> Result<(), Error> {
        let (layout, who) = (machine.layout(), client.number);
        let plan = plan(client, pager, Trust::default());
        let mut crossing = Crossing {
            entry,
            constant: number as u64,
            source: Source::Memory { first: pager.start_address, size: pager.entries_span },
            source_entry: pager.entries,
            services: layout.header.services,
            asids: layout.header.asid_bits != 0,
            limits: layout.limits(Kind::Export(export)),
            counter: self.counters(layout, 1),
            ..plan.crossing
        };
        if plan.specification.stack == Stack::New {
            let taken = self.pools.queue(machine, who, pager);
            *queue =
                taken.map_err(|error| self.refuse(who, Missing::Stacks(pager.number), error))?;
            crossing.take_from((*queue).into());
        }
        let range = generate::PagedRange {
            first: range.address,
            size: range.size,
            entries: range.entries,
            is_writable: range.writable != 0,
            elsewhere: unmended(machine, client),
        };
        let code = self.put_fault(machine, who, |words, address| {
            generate::fault(&range, &crossing, words, address)
        })?;
        self.pools.used_by_faults(who, code);
        let code = returns::code(machine, code.start);
        self.hold_made(machine, who, &[code]);
        self.lead_faults(machine, client.domain, code);
        Ok(())
    }

    /// Faults of those that are loaded do not call a pager any more that retires.
    pub(super) fn end_pager<M: Machine>(&self, machine: &M, pager: InstanceId) {
        for range in machine.provided_by(pager).filter(|range| self.pools.has_faults(range.client))
        {
            if let Ok(client) = self.instances.get(range.client) {
                self.lead_faults(machine, client.domain, unmended(machine, client));
            }
        }
    }
}

/// Where a domain's faults lead that are none of pages.
fn unmended<M: Machine>(machine: &M, of: &Instance) -> u64 {
    let other = slots(Upcall::Fault).iter().find(|cause| !PAGE_FAULTS.contains(cause));
    other.map_or(0, |cause| machine.domain_word(of.domain, upcall_entry(*cause)))
}
