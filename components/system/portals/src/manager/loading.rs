//! Instances that come while the system runs, and what they are connected to.

use super::Manager;
use crate::blocks::Kind;
use crate::crossing::{Entry, Target};
use crate::known::{Known, refuse_itself};
use crate::machine::Machine;
use cairn_abi::descriptor::is_name;
use cairn_abi::domain::{PORTAL_FIRST_IMPORT, PORTAL_OF_FAULTS};
use cairn_abi::{Error, InstanceId};

impl Manager {
    /// There is a new instance, as the record has it, which has not begun. What this takes of the stack is not below what the first call of all does.
    #[inline(never)]
    pub fn make_domain<M: Machine>(
        &mut self,
        machine: &M,
        instance: InstanceId,
    ) -> Result<(), Error> {
        let record = self.maker.make_domain(machine, instance)?;
        self.registrations.add(record);
        machine.add_instance(instance).inspect_err(|_| {
            // Nothing is left of it in one step: it has neither blocks nor threads.
            let _ = self.maker.retire_domain(machine, instance, u64::MAX, 1);
        })
    }

    /// Connects an import of an instance that has not begun, at the index `first`, to an export that it may open, of the interface called
    /// `interface` as it knows it; or of one that lives, for a successor, if it is connected so already or has nothing there.
    pub fn connect<M: Machine>(
        &mut self,
        machine: &M,
        (client, first): (InstanceId, u64),
        export: usize,
        interface: &[u8],
        known: Known<'_>,
    ) -> Result<(), Error> {
        let record = self.maker.instances().get(client)?;
        let number = export as u32;
        let export = self.described(machine, export)?;
        // An object is made by its server, for a client that reserved a place for it.
        if export.is_object != 0 {
            return Err(Error::NotFound);
        }
        refuse_itself(client, export.instance)?;
        // It may be gone when that has its successor.
        if export.is_added != 0 && self.maker.held() == Some(export.instance) {
            return Err(Error::Busy);
        }
        let methods = machine.layout().methods_of(export);
        if !is_name(&export.interface, interface) {
            return Err(Error::VersionMismatch);
        }
        known.check(export.version, methods.iter().map(|method| &method.letters))?;
        let first = usize::try_from(first).map_err(|_| Error::BadArgument)?;
        if first == PORTAL_OF_FAULTS && interface == b"Pager" {
            let entry = methods.first().ok_or(Error::VersionMismatch)?.entry;
            return self.maker.connect_pager(machine, client, export.instance, (number, entry));
        }
        if first < PORTAL_FIRST_IMPORT {
            return Err(Error::BadArgument);
        }
        if machine.check_alive(record.domain).is_ok() {
            match self.maker.import_at(machine, client, first) {
                Some(found) if found == number => return Ok(()),
                Some(_) => return Err(Error::Busy),
                None => {}
            }
        }
        let target = Target::of(Kind::Export(number), export.instance);
        self.maker.import(machine, client, first, &target, methods.len(), |index| {
            Entry::of(&methods[index])
        })
    }

    /// The next instance from a number on whose imports lead to one.
    pub fn user_of<M: Machine>(
        &self,
        machine: &M,
        server: InstanceId,
        from: InstanceId,
    ) -> Result<InstanceId, Error> {
        self.maker.instances().get(server)?;
        let users = self.maker.users_of(machine, server).filter(|user| user.0 >= from.0);
        users.min_by_key(|user| user.0).ok_or(Error::NotFound)
    }
}
