//! Semaphores and locks: the scheduler's objects, to which clients get portals here. What was published of them ends
//! with its maker, though the portals lead to the scheduler.

use crate::blocks::{Block, Kind};
use crate::crossing::{Entry, Target};
use crate::grants::Grant;
use crate::known::Known;
use crate::machine::Machine;
use crate::make::Maker;
use crate::refusals::Missing;
use crate::registrations::{Registration, Registrations};
use cairn_abi::descriptor::{InterfaceDescriptor, name_text};
use cairn_abi::record::Method;
use cairn_abi::{Error, InstanceId};

/// The scheduler's interfaces of what it makes for others.
#[derive(Clone, Copy)]
pub struct Interfaces {
    /// Of semaphores.
    pub semaphore: &'static InterfaceDescriptor,
    /// Of locks.
    pub lock: &'static InterfaceDescriptor,
}

/// How portals of semaphores and locks are made.
pub struct Synchronisation {
    interfaces: Option<Interfaces>,
    /// Exports of the scheduler: objects of these interfaces.
    semaphore_export: u32,
    lock_export: u32,
}

impl Synchronisation {
    /// Nothing can be made, before [`Synchronisation::begin`].
    pub const EMPTY: Synchronisation =
        Synchronisation { interfaces: None, semaphore_export: u32::MAX, lock_export: u32::MAX };

    /// Finds the scheduler's exports of these interfaces.
    pub fn begin<M: Machine>(
        &mut self,
        machine: &M,
        scheduler: InstanceId,
        interfaces: Interfaces,
    ) -> Result<(), Error> {
        let export = |interface: &InterfaceDescriptor| {
            machine.layout().object_export(scheduler, name_text(&interface.name).as_bytes())
        };
        self.semaphore_export = export(interfaces.semaphore)?;
        self.lock_export = export(interfaces.lock)?;
        self.interfaces = Some(interfaces);
        Ok(())
    }

    /// The interfaces, which are the same, lie elsewhere.
    pub fn renew(&mut self, interfaces: Interfaces) {
        self.interfaces = Some(interfaces);
    }

    /// The scheduler's export of semaphores, and of locks.
    pub fn exports(&self) -> (u32, u32) {
        (self.semaphore_export, self.lock_export)
    }

    /// Has a semaphore, with a first value, or a lock (`None`) made for a client, with portals to it; the value is the
    /// first portal.
    pub fn make<M: Machine>(
        &self,
        maker: &mut Maker,
        machine: &M,
        client: InstanceId,
        initial: Option<u64>,
    ) -> Result<u64, Error> {
        let missing = if initial.is_some() { Missing::Semaphores } else { Missing::Locks };
        let allocated = machine.allocate(client, initial);
        let index = allocated.map_err(|error| maker.refuse(client, missing, error))? as u16;
        let kind = if initial.is_some() { Kind::Semaphore(index) } else { Kind::Lock(index) };
        let made = self.connect(maker, machine, client, kind, client);
        if made.is_err() {
            // No other thread knows it yet, so none waits.
            let _ = machine.free(client, kind);
        }
        made
    }

    /// Makes portals in a client's table to what `owner` made.
    fn connect<M: Machine>(
        &self,
        maker: &mut Maker,
        machine: &M,
        client: InstanceId,
        kind: Kind,
        owner: InstanceId,
    ) -> Result<u64, Error> {
        let (target, methods) = self.target(maker, machine, kind, owner)?;
        maker.open(machine, client, &target, methods.len(), |index| entry(kind, &methods[index]))
    }

    /// What portals to what `owner` made lead to, and its methods.
    fn target<M: Machine>(
        &self,
        maker: &Maker,
        machine: &M,
        kind: Kind,
        owner: InstanceId,
    ) -> Result<(Target, &'static [Method]), Error> {
        let (export, constant) = match kind {
            Kind::Semaphore(index) => (self.semaphore_export, index),
            Kind::Lock(index) => (self.lock_export, index),
            _ => return Err(Error::BadArgument),
        };
        let export = machine.layout().export(export as usize)?;
        let target = Target::of(kind, maker.scheduler()).ends_with(owner);
        Ok((Target { constant: constant.into(), ..target }, machine.layout().methods_of(export)))
    }

    /// Whether a client knows the interface of what it gets.
    fn check(&self, kind: Kind, known: Known<'_>) -> Result<(), Error> {
        let interfaces = self.interfaces.ok_or(Error::NotSupported)?;
        let interface = match kind {
            Kind::Semaphore(_) => interfaces.semaphore,
            _ => interfaces.lock,
        };
        let methods = interface.methods.iter().take(interface.method_count as usize);
        known.check(interface.version, methods.map(|method| &method.letters))
    }

    /// Makes portals in a client's table to what `owner` published, if the client knows its interface.
    pub fn open<M: Machine>(
        &self,
        maker: &mut Maker,
        machine: &M,
        (client, owner): (InstanceId, InstanceId),
        kind: Kind,
        known: Known<'_>,
    ) -> Result<u64, Error> {
        self.check(kind, known)?;
        // Of a maker that is dying no client gets more.
        maker.living(machine, owner)?;
        self.connect(maker, machine, client, kind, owner)
    }

    /// Makes portals in a receiver's table to what `owner` made and was passed on.
    pub fn accept<M: Machine>(
        &self,
        maker: &mut Maker,
        machine: &M,
        grant: Grant,
        (kind, owner): (Kind, InstanceId),
        known: Known<'_>,
    ) -> Result<u64, Error> {
        self.check(kind, known)?;
        maker.living(machine, owner)?;
        let (target, methods) = self.target(maker, machine, kind, owner)?;
        maker.accept(machine, (grant, None), &target, methods.len(), |index| {
            entry(kind, &methods[index])
        })
    }

    /// Ends what the owner of a block closes, for all its holders, if it is a semaphore or a lock; `Busy` while threads
    /// wait for it.
    pub fn end<M: Machine>(
        &self,
        maker: &mut Maker,
        registrations: &mut Registrations,
        machine: &M,
        block: &Block,
    ) -> Result<(), Error> {
        let Block { kind: kind @ (Kind::Semaphore(_) | Kind::Lock(_)), owner, .. } = *block else {
            return Ok(());
        };
        machine.free(owner, kind)?;
        // Its number is given out again only by this manager, after all portals to it are gone.
        maker.end_all(machine, owner, |other| other.kind == kind);
        let is_it = |candidate: &Registration| candidate.published == Some(kind);
        while let Some(published) = registrations.find_of(owner, is_it) {
            let number = published.number;
            let _ = machine.remove_name(owner, published.name());
            registrations.forget_of(owner, |candidate| candidate.number == number);
        }
        Ok(())
    }
}

/// A method of a semaphore or lock; P and V are hybrids.
fn entry(kind: Kind, method: &Method) -> Entry {
    match kind {
        Kind::Semaphore(_) => Entry::of_semaphore(method),
        _ => Entry::of_lock(method),
    }
}
