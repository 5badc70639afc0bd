//! Portal tables: what each begins with, and what its instance's role adds.

use super::{Layout, record};
use cairn_abi::descriptor;
use cairn_abi::domain::*;
use cairn_abi::privileged::*;
use cairn_abi::record::Instance;
use cairn_description::model::Role;
use cairn_loader::Copying;
use cairn_portal::{Crossing, End, Place, ShortCircuit, generate};

impl Layout<'_> {
    /// Fills every table: unused entries lead to the portal that answers `NoPortal`.
    pub(super) fn fill_tables(&mut self) -> Result<(), String> {
        self.no_portal = self.short_circuit(ShortCircuit::NoPortal, &Crossing::NONE)?;
        let fatal = self.nucleus.symbol("nucleus_fatal")?;
        // A domain's first instance stands for all.
        for index in self.firsts() {
            let table = self.placed[index].table_physical;
            let crossing = Crossing { caller: self.end(index), ..Crossing::NONE };
            let no_portal = match crossing.caller.place {
                Place::User | Place::Kernel => self.no_portal,
                Place::KernelToCompletion { .. } => {
                    self.short_circuit(ShortCircuit::NoPortal, &crossing)?
                }
            };
            for portal in 0..self.connected.tables().entries() as u64 {
                self.memory.store(table + portal * 8, no_portal);
            }
            for slot in 0..UPCALL_SLOTS {
                self.memory.store(table.wrapping_add_signed(upcall_entry(slot)), fatal);
            }
            let field = |offset: i64| table.wrapping_add_signed(offset);
            self.memory.store(field(FIELD_SPACE), self.placed[index].space.word());
            self.memory.store(field(FIELD_NUMBER), self.placed[index].domain.into());
            let is_alive = !self.system.instances[index].is_other_place();
            self.memory.store(field(FIELD_ALIVE), is_alive.into());
            if self.system.instances[index].is_in_kernel() {
                self.fill_kernel_words(index)?;
            }
            let name = &self.system.instances[self.system.identity(index)].name;
            self.memory.write(field(FIELD_NAME), &descriptor::name(name));

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

    /// What calls of a domain's instances in the kernel domain jump to that is no portal, and where their first threads begin: one
    /// without a main function has none, and what begins there ends.
    fn fill_kernel_words(&mut self, index: usize) -> Result<(), String> {
        let back = self.nucleus.symbol("kernel_return")?;
        // Who calls by an index has registers in use that its caller needs again, and a thread leaves only where compiled code has
        // brought them back. Of those that run to completion nobody needs any.
        let table = self.placed[index].table_physical;
        match self.end(index).place {
            Place::KernelToCompletion { .. } => self.install(index, PORTAL_RETURN, back),
            _ => self.memory.store(table.wrapping_add_signed(FIELD_KERNEL_RETURN), back),
        }
        let call = self.nucleus.symbol("kernel_call")?;
        self.install(index, PORTAL_KERNEL_CALL, call);
        let main = |at: usize| {
            let main = self.components[at].descriptor.main?;
            Some(self.placed[at].image + main)
        };
        let mut entries: Vec<u64> = self.system.fellows(index).filter_map(main).collect();
        entries.resize(FELLOWS_MAXIMUM, back);
        let fields = (FIELD_KERNEL_ENTRIES..).step_by(8);
        let mut words: Vec<(i64, u64)> = fields.zip(entries).collect();
        if let Some((owner, Copying { code, landing })) = self.copying(index) {
            let image = self.placed[owner].image;
            words.extend([
                (FIELD_COPY_BEGIN, image + code.start),
                (FIELD_COPY_END, image + code.end),
                (FIELD_COPY_LANDING, image + landing),
            ]);
        }
        for (field, word) in words {
            self.memory.store(table.wrapping_add_signed(field), word);
        }
        Ok(())
    }

    /// The copy routine of a domain in the kernel domain: that of its first instance that has one, which comes first.
    pub(super) fn copying(&self, index: usize) -> Option<(usize, &Copying)> {
        let components = self.components;
        let mut fellows = self.system.fellows(index);
        fellows.find_map(|fellow| Some((fellow, components[fellow].copying.as_ref()?)))
    }

    fn short_circuit(&mut self, kind: ShortCircuit, crossing: &Crossing) -> Result<u64, String> {
        let made = self.code.add(&mut self.memory, |words, address| {
            generate::short_circuit(kind, crossing, words, address)
        })?;
        Ok(made.call)
    }

    /// An instance as an end of a crossing.
    pub(super) fn end(&self, index: usize) -> End {
        End::of(&self.row(index))
    }

    /// What the record will say of an instance, for portals: of another place with the number of the one whose it is.
    pub(super) fn row(&self, index: usize) -> Instance {
        let number = self.system.instances[self.system.identity(index)].number;
        Instance { number, ..record::instance(self, index) }
    }

    /// Puts a portal's code into an instance's table.
    pub(super) fn install(&mut self, index: usize, portal: usize, code: u64) {
        assert!(portal < PORTALS_DESCRIBED, "the description's check counts portals");
        self.memory.store(self.placed[index].table_physical + portal as u64 * 8, code);
        for fellow in self.system.fellows(index) {
            let next = &mut self.placed[fellow].next_portal;
            *next = (*next).max(portal + 1);
        }
    }

    /// The privileged short-circuit portals of an instance's role, which lie in the nucleus.
    pub(super) fn grant(&mut self, index: usize) -> Result<(), String> {
        let set_timer = match self.system.board.sstc {
            true => "set_timer",
            false => "set_timer_by_firmware",
        };
        let place = match self.system.instances[index].is_in_kernel() {
            true => "kernel",
            false => "privileged",
        };
        let granted: &[(usize, &str)] = match self.system.instances[index].role {
            Some(Role::Scheduler) => &[
                (PORTAL_SWITCH, "switch"),
                (PORTAL_SET_UP_THREAD, "set_up_thread"),
                (PORTAL_SET_TIMER, set_timer),
            ],
            Some(Role::Supervisor) => &[
                (PORTAL_UNWIND, "unwind"),
                (PORTAL_SET_ALIVE, "set_alive"),
                (PORTAL_FIRMWARE, "firmware"),
                (PORTAL_DIVERT, "divert"),
                (PORTAL_REFUSE, "refuse"),
            ],
            Some(Role::Memory) => &[(PORTAL_FENCE_TRANSLATION, "fence_translation")],
            Some(Role::Portals) => &[(PORTAL_FENCE_INSTRUCTION, "fence_instruction")],
            Some(Role::Idle) => &[(PORTAL_WAIT, "wait")],
            _ => &[],
        };
        for (portal, symbol) in granted {
            let code = self.nucleus.symbol(&format!("{place}_{symbol}"))?;
            let table = self.placed[index].table_physical;
            self.memory.store(table + *portal as u64 * 8, code);
        }
        Ok(())
    }
}
