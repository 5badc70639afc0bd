//! Portal tables: what each begins with, and what its instance's role adds.

use super::{Layout, record};
use cairn_abi::descriptor;
use cairn_abi::domain::*;
use cairn_abi::privileged::*;
use cairn_description::model::Role;
use cairn_portal::{Crossing, End, ShortCircuit, generate};

impl Layout<'_> {
    /// Fills every table: unused entries lead to the portal that answers `NoPortal`.
    pub(super) fn fill_tables(&mut self) -> Result<(), String> {
        self.no_portal = self.short_circuit(ShortCircuit::NoPortal, &Crossing::NONE)?;
        let fatal = self.nucleus.symbol("nucleus_fatal")?;
        for index in self.instances() {
            let table = self.placed[index].table_physical;
            for portal in 0..PORTALS_MAXIMUM as u64 {
                self.memory.store(table + portal * 8, self.no_portal);
            }
            for slot in 0..UPCALL_SLOTS {
                self.memory.store(table.wrapping_add_signed(upcall_entry(slot)), fatal);
            }
            let field = |offset: i64| table.wrapping_add_signed(offset);
            self.memory.store(field(FIELD_SPACE), self.placed[index].space.word());
            self.memory.store(field(FIELD_NUMBER), self.placed[index].domain.into());
            self.memory.store(field(FIELD_ALIVE), 1);
            let name = descriptor::name(&self.system.instances[index].name);
            self.memory.write(field(FIELD_NAME), &name);

            let crossing = Crossing { caller: self.end(index), ..Crossing::NONE };
            for (portal, kind) in [
                (PORTAL_OWN_DOMAIN, ShortCircuit::OwnDomain),
                (PORTAL_OWN_THREAD, ShortCircuit::OwnThread),
                (PORTAL_TIME, ShortCircuit::Time),
            ] {
                let code = self.short_circuit(kind, &crossing)?;
                self.install(index, portal, code);
            }
        }
        Ok(())
    }

    fn short_circuit(&mut self, kind: ShortCircuit, crossing: &Crossing) -> Result<u64, String> {
        let made = self.code.add(&mut self.memory, |words, address| {
            generate::short_circuit(kind, crossing, words, address)
        })?;
        Ok(made.call)
    }

    /// An instance as an end of a crossing.
    pub(super) fn end(&self, index: usize) -> End {
        End::of(&record::instance(self, index))
    }

    /// Puts a portal's code into an instance's table.
    pub(super) fn install(&mut self, index: usize, portal: usize, code: u64) {
        assert!(portal < PORTALS_MAXIMUM, "the description's check counts portals");
        let placed = &mut self.placed[index];
        self.memory.store(placed.table_physical + portal as u64 * 8, code);
        placed.next_portal = placed.next_portal.max(portal + 1);
    }

    /// The privileged short-circuit portals of an instance's role, which lie in the nucleus.
    pub(super) fn grant(&mut self, index: usize) -> Result<(), String> {
        let set_timer = match self.system.board.sstc {
            true => "privileged_set_timer",
            false => "privileged_set_timer_by_firmware",
        };
        let granted: &[(usize, &str)] = match self.system.instances[index].role {
            Some(Role::Scheduler) => &[
                (PORTAL_SWITCH, "privileged_switch"),
                (PORTAL_SET_UP_THREAD, "privileged_set_up_thread"),
                (PORTAL_SET_TIMER, set_timer),
            ],
            Some(Role::Supervisor) => &[
                (PORTAL_UNWIND, "privileged_unwind"),
                (PORTAL_SET_ALIVE, "privileged_set_alive"),
                (PORTAL_RESET, "privileged_reset"),
                (PORTAL_DIVERT, "privileged_divert"),
                (PORTAL_REFUSE, "privileged_refuse"),
            ],
            Some(Role::Memory) => &[(PORTAL_FENCE_TRANSLATION, "privileged_fence_translation")],
            Some(Role::Portals) => &[(PORTAL_FENCE_INSTRUCTION, "privileged_fence_instruction")],
            Some(Role::Idle) => &[(PORTAL_WAIT, "privileged_wait")],
            _ => &[],
        };
        for (portal, symbol) in granted {
            let code = self.nucleus.symbol(symbol)?;
            let table = self.placed[index].table_physical;
            self.memory.store(table + *portal as u64 * 8, code);
        }
        Ok(())
    }
}
