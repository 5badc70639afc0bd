//! Semaphores and locks: objects of the scheduler's, made for whoever asks.

use crate::component::{NAME_CONTROL, SCHEDULER};
use crate::manager::{Entry, Manager, Target};
use crate::memory::Memory;
use crate::registrations::Registration;
use crate::services::Known;
use cairn::Error;
use cairn::component::Interface;
use cairn_abi::descriptor::name_text;
use cairn_interfaces as interfaces;
use cairn_portal::SemaphoreOperation;
use cairn_portals::blocks::{Block, Kind};

impl Manager {
    /// Finds the scheduler: it is what this domain's import `scheduler` leads to.
    pub fn find_scheduler(&mut self, memory: &Memory) -> Result<(), Error> {
        let import = SCHEDULER.first_portal();
        let own = u32::from(self.own);
        let portal =
            memory.portals.iter().find(|portal| portal.client == own && portal.index == import);
        let export = portal
            .and_then(|portal| memory.exports.get(portal.export as usize))
            .ok_or(Error::NotFound)?;
        self.scheduler = export.instance as u8;
        self.semaphore_export =
            self.object_export(self.scheduler, <dyn interfaces::Semaphore>::NAME)?;
        self.lock_export = self.object_export(self.scheduler, <dyn interfaces::Lock>::NAME)?;
        Ok(())
    }

    /// The lock around this manager, in its own table.
    pub fn begin_lock(&mut self) -> Result<u64, Error> {
        let generation = self.memory()?.domain_word(self.own, cairn_abi::domain::FIELD_GENERATION);
        self.make_lock(self.own, generation)
    }

    /// Makes a semaphore for a domain.
    pub fn make_semaphore(
        &mut self,
        client: u8,
        generation: u64,
        initial: u64,
    ) -> Result<u64, Error> {
        let index = SCHEDULER.allocate_semaphore(client.into(), initial)?;
        let made = self.portals_of((client, generation), Kind::Semaphore(index as u16), client);
        if made.is_err() {
            // Nobody knows it yet, so nobody waits.
            let _ = SCHEDULER.free_semaphore(client.into(), index);
        }
        made
    }

    /// Makes a lock for a domain.
    pub fn make_lock(&mut self, client: u8, generation: u64) -> Result<u64, Error> {
        let index = SCHEDULER.allocate_lock(client.into())?;
        let made = self.portals_of((client, generation), Kind::Lock(index as u16), client);
        if made.is_err() {
            let _ = SCHEDULER.free_lock(client.into(), index);
        }
        made
    }

    /// Portals of a semaphore or lock in a client's table; P and V are hybrids.
    fn portals_of(&mut self, client: (u8, u64), kind: Kind, owner: u8) -> Result<u64, Error> {
        let memory = self.memory()?;
        let (export, constant) = match kind {
            Kind::Semaphore(index) => (self.semaphore_export, index),
            Kind::Lock(index) => (self.lock_export, index),
            _ => return Err(Error::BadArgument),
        };
        let export = memory.exports.get(export as usize).ok_or(Error::NotFound)?;
        let methods = memory.methods_of(export);
        let server = self.scheduler;
        let target = Target { kind, server, owner, constant: constant.into(), specification: None };
        self.make(client, &target, methods.len(), |index| Entry {
            letters: methods[index].letters,
            entry: methods[index].entry,
            operation: match (kind, name_text(&methods[index].name)) {
                (Kind::Semaphore(_), "p") => Some(SemaphoreOperation::P),
                (Kind::Semaphore(_), "v") => Some(SemaphoreOperation::V),
                _ => None,
            },
        })
    }

    /// Ends a semaphore or lock that its owner closes, for all who have it. The scheduler refuses as
    /// long as threads wait for it.
    pub fn end_synchronisation(&mut self, block: &Block) -> Result<(), Error> {
        match block.kind {
            Kind::Semaphore(index) => SCHEDULER.free_semaphore(block.owner.into(), index.into())?,
            Kind::Lock(index) => SCHEDULER.free_lock(block.owner.into(), index.into())?,
            _ => return Err(Error::BadArgument),
        }
        // Whoever else has it finds no portal from here on; its number is given out again only by
        // this manager, afterwards.
        let kind = block.kind;
        self.close_all(|other| other.kind == kind);
        while let Some(published) =
            self.registrations.find(|candidate| candidate.published == Some(kind)).copied()
        {
            let _ = NAME_CONTROL.remove(published.server.into(), published.name());
            self.registrations.forget(|candidate| candidate.number == published.number);
        }
        Ok(())
    }

    /// Publishes a semaphore or lock that `server` made.
    pub fn publish(
        &mut self,
        server: u8,
        first: u64,
        name: &str,
        policy: &str,
    ) -> Result<(), Error> {
        let block = *self.blocks.get(self.block_at(server, first)?);
        match block.kind {
            Kind::Semaphore(_) | Kind::Lock(_) if block.owner == server => {
                let mut registration = Registration::of(server);
                registration.published = Some(block.kind);
                self.add_registration(name, policy, registration)
            }
            _ => Err(Error::NotAllowed),
        }
    }

    /// Opens a published semaphore or lock.
    pub fn open_published(
        &mut self,
        client: u8,
        generation: u64,
        registration: &Registration,
        kind: Kind,
        known: Known<'_>,
    ) -> Result<u64, Error> {
        let interface = match kind {
            Kind::Semaphore(_) => const { &<dyn interfaces::Semaphore>::DESCRIPTOR },
            _ => const { &<dyn interfaces::Lock>::DESCRIPTOR },
        };
        let methods = interface.methods.iter().take(interface.method_count as usize);
        known.check(interface.version, methods.map(|method| &method.letters))?;
        self.portals_of((client, generation), kind, registration.server)
    }
}
