//! Portals of exceptions and interrupts: each domain has some of its own, which say where the
//! thread was.

use super::{Error, Layout};
use cairn_abi::arch::trap::{ACCESS_FAULTS, ILLEGAL, slots};
use cairn_abi::domain::upcall_entry;
use cairn_abi::upcall::Upcall;
use cairn_loader::Interface;
use cairn_portal::{Crossing, End, Trust, generate};

/// The portals that come from no domain.
pub(super) struct Upcalls {
    /// The machine starts.
    pub boot: u64,
    /// A thread ends.
    pub exit: u64,
}

impl Layout<'_> {
    pub(super) fn connect_upcalls(&mut self) -> Result<Upcalls, Error> {
        let roles = self.system.roles;
        let scheduler = (roles.scheduler, self.served(roles.scheduler, "SchedulerUpcalls")?);
        let dispatcher = match roles.interrupts {
            Some(dispatcher) => Some((dispatcher, self.served(dispatcher, "InterruptUpcalls")?)),
            None => None,
        };
        let boot = self.upcall_crossing(&scheduler, "boot")?;
        let exit = self.upcall_crossing(&scheduler, "exit")?;
        let upcalls = Upcalls {
            boot: self.upcall(&boot, None, false)?,
            exit: self.upcall(&exit, None, false)?,
        };
        let timer = self.upcall_crossing(&scheduler, "timer")?;
        let software = self.upcall_crossing(&scheduler, "software")?;
        let fault = self.upcall_crossing(&scheduler, "fault")?;
        let stack_wait = self.upcall_crossing(&scheduler, "stack_wait")?;
        let external = match &dispatcher {
            Some(dispatcher) => Some(self.upcall_crossing(dispatcher, "external")?),
            None => None,
        };
        for index in self.firsts() {
            let mut entries = Vec::new();
            if index != roles.scheduler && Some(index) != roles.interrupts {
                let essential = *self.system.instances[index].essential;
                if !essential && roles.supervisor.is_some() {
                    entries.push((Upcall::Fault, &fault));
                }
                entries.push((Upcall::StackWait, &stack_wait));
            }
            entries.extend([(Upcall::Software, &software), (Upcall::Timer, &timer)]);
            entries.extend(external.as_ref().map(|external| (Upcall::External, external)));
            let table = self.placed[index].table_physical;
            for (upcall, crossing) in entries {
                let code = self.upcall(crossing, Some(index), upcall == Upcall::Software)?;
                for slot in slots(upcall) {
                    self.memory.store(table.wrapping_add_signed(upcall_entry(*slot)), code);
                }
            }
            if self.row(index).has_float() {
                let code = self.nucleus.symbol("float_first_use")?;
                self.memory.store(table.wrapping_add_signed(upcall_entry(ILLEGAL)), code);
            }
            let copies = self.copying(index).is_some();
            if copies && self.system.instances[index].is_in_kernel() {
                let code = self.nucleus.symbol("kernel_access_fault")?;
                for slot in ACCESS_FAULTS {
                    self.memory.store(table.wrapping_add_signed(upcall_entry(slot)), code);
                }
            }
        }
        Ok(upcalls)
    }

    /// The crossing into a server's method for an upcall, but for where it comes from.
    fn upcall_crossing(
        &mut self,
        (server, interface): &(usize, Interface),
        name: &str,
    ) -> Result<Crossing, String> {
        let method = interface
            .methods
            .iter()
            .find(|method| method.name == name)
            .ok_or_else(|| format!("interface `{}` has no method `{name}`", interface.name))?;
        Ok(self.plan((*server, *server), Trust::default(), method, 0)?.crossing)
    }

    /// The portal of an upcall in a domain.
    fn upcall(
        &mut self,
        crossing: &Crossing,
        domain: Option<usize>,
        acknowledge: bool,
    ) -> Result<u64, String> {
        let caller = domain.map_or(End::NONE, |index| self.end(index));
        let crossing = Crossing { caller, ..*crossing };
        let made = self.code.add(&mut self.memory, |words, address| {
            generate::upcall(&crossing, acknowledge, words, address)
        })?;
        Ok(made.call)
    }
}
