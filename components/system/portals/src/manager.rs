//! What the manager does for clients and servers: opening, reserving and filling, revoking, registering,
//! death.

mod exchange;
mod fork;
pub mod grants;
mod hold;
mod lives;
mod loading;
pub mod wrap;

pub use wrap::ENTRANCE;

use crate::blocks::{Block, Kind, NO_INSTANCE, Wanted};
use crate::crossing::{Entry, Target};
use crate::instances::Instances;
use crate::known::{Client, Known, refuse_itself};
use crate::machine::Machine;
use crate::make::Maker;
use crate::parameter_data::ParameterData;
use crate::refusals::{Missing, Refusal};
use crate::registrations::{Registration, Registrations};
use crate::synchronisation::{Interfaces, Synchronisation};
use cairn_abi::address::REGION_SIZE;
use cairn_abi::descriptor::{LETTERS_SIZE, METHODS_MAXIMUM, is_name};
use cairn_abi::record::Export;
use cairn_abi::{Error, InstanceId};
use cairn_portal::{Parameter, ParameterError, Trust};
use core::num::NonZero;
use core::sync::atomic::Ordering::Relaxed;

/// Blocks that one step of a death closes: what bounds the time for which the manager is held.
pub(crate) const BLOCKS_PER_STEP: usize = 8;

/// The portal manager.
pub struct Manager {
    maker: Maker,
    registrations: Registrations,
    synchronisation: Synchronisation,
    parameter_data: ParameterData,
    /// Whether an instance has retired: before, all are the description's.
    has_retired: bool,
}

impl Manager {
    /// Nothing, before [`Manager::begin`].
    pub const EMPTY: Manager = Manager {
        maker: Maker::EMPTY,
        registrations: Registrations::EMPTY,
        synchronisation: Synchronisation::EMPTY,
        parameter_data: ParameterData::NONE,
        has_retired: false,
    };

    /// Takes over from the layout, as instance `own`, whose import at `scheduler_portal` leads to the
    /// scheduler. The value is the first portal of the lock around this manager, in its own table.
    pub fn begin<M: Machine>(
        &mut self,
        machine: &M,
        own: InstanceId,
        scheduler_portal: u32,
        interfaces: Interfaces,
        next_counter: u64,
    ) -> Result<u64, Error> {
        let layout = machine.layout();
        let connected = layout
            .portals
            .iter()
            .find(|portal| portal.client == own && portal.index == scheduler_portal)
            .ok_or(Error::NotFound)?;
        let scheduler = layout.export(connected.export as usize)?.instance;
        self.registrations.begin(layout.instances);
        self.maker.begin(machine, own, scheduler, next_counter)?;
        self.synchronisation.begin(machine, scheduler, interfaces)?;
        self.synchronisation.make(&mut self.maker, machine, own, None)
    }

    /// Another content goes on with this: its interfaces are in other places.
    pub fn renew(&mut self, interfaces: Interfaces) {
        self.synchronisation.renew(interfaces);
    }

    #[cfg(test)]
    pub(crate) fn maker(&mut self) -> &mut Maker {
        &mut self.maker
    }

    /// What is open at an index of a client's table, if it was made here.
    pub fn open_at(&self, client: InstanceId, index: usize) -> Option<&Block> {
        self.maker.blocks().open_at(client, index)
    }

    /// The index whose code an index of a client's import leads to.
    pub fn exchanged(&self, client: InstanceId, index: usize) -> Option<usize> {
        self.maker.exchanged(client, index)
    }

    /// The scheduler's instance.
    pub fn scheduler(&self) -> InstanceId {
        self.maker.scheduler()
    }

    /// The scheduler's export of semaphores, and of locks.
    pub fn synchronisation_exports(&self) -> (u32, u32) {
        self.synchronisation.exports()
    }

    /// A registration, by its number.
    pub fn registration(&self, number: u64) -> Option<&Registration> {
        self.registrations.find(number)
    }

    /// The instances that there are.
    pub fn instances(&self) -> &Instances {
        self.maker.instances()
    }

    /// What was refused last because there is no more of it, if it was not told yet.
    pub fn refusal(&mut self) -> Option<Refusal> {
        self.maker.refusal()
    }

    /// What an instance was refused last because there is no more of it.
    pub fn last_refusal(&self, who: InstanceId) -> Option<Refusal> {
        self.maker.last_refusal(who)
    }

    /// Bytes of portal code in use, and free ones.
    pub fn usage(&self) -> (u64, u64) {
        self.maker.pools().usage()
    }

    /// Bytes of an instance's part of portal code that are in use, and all of them.
    pub fn usage_of(&self, instance: InstanceId) -> Option<(u64, u64)> {
        self.maker.pools().usage_of(instance)
    }

    /// Bytes of the portal code that the description gives an instance.
    pub fn described_code(&self, instance: InstanceId) -> Result<u64, Error> {
        Ok(self.maker.instances().get(instance)?.portal_code)
    }

    /// Registers a parameter type.
    pub fn register_type(&mut self, parameter: Parameter) -> Result<(), ParameterError> {
        self.maker.register_type(parameter)
    }

    /// Private data of parameter types.
    pub fn parameter_data(&mut self) -> &mut ParameterData {
        &mut self.parameter_data
    }

    /// Sets a word of them, for who keeps them.
    pub fn set_parameter_data<M: Machine>(
        &self,
        machine: &M,
        owner: InstanceId,
        letter: u64,
        (place, word): (u64, u64),
    ) -> Result<(), Error> {
        let place = self.parameter_data.word(owner, letter, place)?;
        let words = machine.parameter_data().ok_or(Error::NotSupported)?;
        // Relaxed: a portal's code loads one word.
        words.get(place).ok_or(Error::BadArgument)?.store(word as i64, Relaxed);
        Ok(())
    }

    /// Whether the instance is the description's, and none that came under its number since.
    fn is_described<M: Machine>(&self, machine: &M, instance: InstanceId) -> bool {
        !self.has_retired || self.maker.instances().is_described(machine.layout(), instance)
    }

    /// An export of the description, whose instance has not retired.
    fn described<M: Machine>(&self, machine: &M, number: usize) -> Result<&'static Export, Error> {
        let export = machine.layout().export(number)?;
        match self.is_described(machine, export.instance) {
            true => Ok(export),
            false => Err(Error::NotFound),
        }
    }

    /// The number of a server's object interface of that name, and the export itself.
    fn object_export<M: Machine>(
        &self,
        machine: &M,
        server: InstanceId,
        interface: &[u8],
    ) -> Result<(u32, &'static Export), Error> {
        let number = machine.layout().object_export(server, interface)?;
        Ok((number, self.described(machine, number as usize)?))
    }

    /// Opens an export of the description for a client that the name server admitted.
    pub fn open_export<M: Machine>(
        &mut self,
        machine: &M,
        client: Client,
        number: usize,
        known: Known<'_>,
    ) -> Result<u64, Error> {
        let client = client.alive(machine)?;
        let export = self.described(machine, number)?;
        // An object is made by its server, for a client that reserved a place for it.
        if export.is_object != 0 {
            return Err(Error::NotFound);
        }
        // What another content says of its state nobody waits for but who asks.
        if !is_name(&export.interface, b"InPlace") {
            refuse_itself(client, export.instance)?;
        }
        let methods = machine.layout().methods_of(export);
        known.check(export.version, methods.iter().map(|method| &method.letters))?;
        let target = Target::of(Kind::Export(number as u32), export.instance);
        self.maker.open(machine, client, &target, methods.len(), |index| Entry::of(&methods[index]))
    }

    /// Opens what a server registered.
    pub fn open_registration<M: Machine>(
        &mut self,
        machine: &M,
        client: Client,
        number: u64,
        known: Known<'_>,
    ) -> Result<u64, Error> {
        let client = client.alive(machine)?;
        let registration = self.registrations.find(number).ok_or(Error::NotFound)?;
        if let Some(kind) = registration.published {
            let server = registration.server;
            let maker = &mut self.maker;
            return self.synchronisation.open(maker, machine, (client, server), kind, known);
        }
        let Registration { server, count, methods, version, .. } = registration;
        refuse_itself(client, *server)?;
        let methods = &methods[..*count];
        known.check(*version, methods.iter().map(|(letters, _)| letters))?;
        let target = Target::of(Kind::Registration(number), *server).ends_with(*server);
        self.maker.open(machine, client, &target, methods.len(), |index| {
            Entry::plain(methods[index].0, methods[index].1)
        })
    }

    /// Gives a block of the client's up.
    pub fn close<M: Machine>(
        &mut self,
        machine: &M,
        client: Client,
        first: u64,
    ) -> Result<(), Error> {
        let client = client.alive(machine)?;
        let place = self.maker.blocks().at(client, first)?;
        let block = self.maker.blocks().get(place);
        if block.is_live() && block.owner == client {
            let block = *block;
            // For all its holders; the scheduler refuses as long as threads wait for it.
            let Manager { maker, registrations, synchronisation, .. } = self;
            synchronisation.end(maker, registrations, machine, &block)?;
        }
        self.maker.close(machine, place);
        Ok(())
    }

    /// How many portals the block has that begins at an index of the client's table.
    pub fn size(&self, client: InstanceId, first: u64) -> Result<u64, Error> {
        let blocks = self.maker.blocks();
        Ok(blocks.get(blocks.at(client, first)?).count.into())
    }

    /// Takes back what clients opened of an export or registration.
    pub fn revoke<M: Machine>(
        &mut self,
        machine: &M,
        server: Client,
        name: &str,
        client: InstanceId,
    ) -> Result<u64, Error> {
        let server = server.alive(machine)?;
        let described = machine.layout().exports.iter().position(|export| {
            export.instance == server
                && export.is_object == 0
                && is_name(&export.name, name.as_bytes())
        });
        let kind = match described.filter(|_| self.is_described(machine, server)) {
            Some(number) => Kind::Export(number as u32),
            None => {
                let registered = |candidate: &Registration| candidate.is_called(name);
                let found = self.registrations.find_of(server, registered);
                let registration = found.ok_or(Error::NotFound)?;
                registration.published.unwrap_or(Kind::Registration(registration.number))
            }
        };
        Ok(self.maker.end_all(machine, server, |block| {
            block.kind == kind
                && block.client != block.owner
                && (client == NO_INSTANCE || block.client == client)
        }))
    }

    /// Reserves a block in the client's table for an object of the server that the client's portal `via`
    /// leads to: of the interface with this name, as the client knows it. That server alone can fill it, with
    /// nothing else. The value names the reservation.
    pub fn reserve<M: Machine>(
        &mut self,
        machine: &M,
        client: Client,
        via: u64,
        interface: &[u8],
        known: Known<'_>,
    ) -> Result<u64, Error> {
        let domain = client.domain;
        let client = client.alive(machine)?;
        let server = self.maker.server_of(machine, client, via)?;
        // The scheduler's objects are made here.
        if server == self.maker.scheduler() {
            return Err(Error::NotAllowed);
        }
        refuse_itself(client, server)?;
        let (number, export) = self.object_export(machine, server, interface)?;
        let methods = machine.layout().methods_of(export);
        known.check(export.version, methods.iter().map(|method| &method.letters))?;
        let wanted = Wanted {
            kind: Kind::Object(number, 0),
            client,
            domain,
            server,
            owner: server,
            count: methods.len(),
            is_import: false,
        };
        self.maker.reserve(machine, &wanted)
    }

    /// Makes a server's object where a client reserved a place for one of this interface.
    pub fn make_object<M: Machine>(
        &mut self,
        machine: &M,
        server: Client,
        (client, place): (InstanceId, u64),
        interface: &[u8],
        control: u64,
    ) -> Result<(), Error> {
        let server = server.alive(machine)?;
        let (number, export) = self.object_export(machine, server, interface)?;
        let place = self.maker.blocks().reserved(client, place)?;
        let block = self.maker.blocks().get(place);
        // An export is one server's: any other server has another export.
        if !matches!(block.kind, Kind::Object(export, _) if export == number) {
            return Err(Error::NotAllowed);
        }
        let methods = machine.layout().methods_of(export);
        let target = Target::of(Kind::Object(number, control), server).ends_with(server);
        let target = Target { constant: control, ..target };
        self.maker.fill(machine, place, &target, |index| Entry::of(&methods[index]))
    }

    /// Takes the portals of a server's object back.
    pub fn end_object<M: Machine>(
        &mut self,
        machine: &M,
        server: Client,
        interface: &[u8],
        control: u64,
    ) -> Result<u64, Error> {
        let server = server.alive(machine)?;
        let kind = Kind::Object(self.object_export(machine, server, interface)?.0, control);
        Ok(self.maker.end_all(machine, server, |block| block.is_open() && block.kind == kind))
    }

    /// Registers entry points; `bytes` is the version, then each method's letters and entry. What this takes of the stack is not below what
    /// the first call of all does.
    #[inline(never)]
    pub fn register<M: Machine>(
        &mut self,
        machine: &M,
        server: Client,
        name: &str,
        policy: &str,
        bytes: &[u8],
    ) -> Result<(), Error> {
        let server = server.alive(machine)?;
        let (version, methods) = bytes.split_first_chunk::<8>().ok_or(Error::BadArgument)?;
        let (methods, rest) = methods.as_chunks::<24>();
        if methods.is_empty() || methods.len() > METHODS_MAXIMUM || !rest.is_empty() {
            return Err(Error::BadArgument);
        }
        let own = self.maker.instances().get(server)?.start_address;
        let own = own..own + REGION_SIZE;
        let mut registration = Registration::of(server);
        registration.count = methods.len();
        registration.version = u64::from_le_bytes(*version);
        for (method, bytes) in registration.methods.iter_mut().zip(methods) {
            method.0.copy_from_slice(&bytes[..LETTERS_SIZE]);
            method.1 = bytes.last_chunk::<8>().map_or(0, |entry| u64::from_le_bytes(*entry));
            self.maker.check_letters(&method.0)?;
            if method.0[0] != b'c' || !own.contains(&method.1) {
                return Err(Error::BadArgument);
            }
        }
        self.add_registration(machine, name, policy, &mut registration)
    }

    /// Takes a registration into the table and its name into the name server.
    fn add_registration<M: Machine>(
        &mut self,
        machine: &M,
        name: &str,
        policy: &str,
        registration: &mut Registration,
    ) -> Result<(), Error> {
        let server = registration.server;
        let place = self.registrations.free(server);
        let place = place.map_err(|error| self.maker.refuse(server, Missing::Names, error))?;
        registration.number = machine.add_name(registration.server, name, policy)?;
        self.registrations.put(place, name, registration);
        Ok(())
    }

    /// Takes a registration back.
    pub fn unregister<M: Machine>(
        &mut self,
        machine: &M,
        server: Client,
        name: &str,
    ) -> Result<(), Error> {
        let server = server.alive(machine)?;
        let number = machine.remove_name(server, name)?;
        self.registrations.forget_of(server, |registration| registration.number == number);
        Ok(())
    }

    /// Makes a semaphore, with a first value, or a lock (`None`) for a client.
    pub fn make<M: Machine>(
        &mut self,
        machine: &M,
        client: Client,
        initial: Option<u64>,
    ) -> Result<u64, Error> {
        let client = client.alive(machine)?;
        self.synchronisation.make(&mut self.maker, machine, client, initial)
    }

    /// The same, unless the client has one with this label of its own already, which it gets then.
    pub fn make_once<M: Machine>(
        &mut self,
        machine: &M,
        client: Client,
        label: NonZero<u32>,
        initial: Option<u64>,
    ) -> Result<u64, Error> {
        if let Some(first) = self.maker.blocks().labelled(client.alive(machine)?, label) {
            return Ok(first as u64);
        }
        let first = self.make(machine, client, initial)?;
        self.maker.label(client.instance, first, label)?;
        Ok(first)
    }

    /// Publishes a semaphore or lock that `server` made.
    pub fn publish<M: Machine>(
        &mut self,
        machine: &M,
        server: Client,
        first: u64,
        name: &str,
        policy: &str,
    ) -> Result<(), Error> {
        let server = server.alive(machine)?;
        let blocks = self.maker.blocks();
        let block = *blocks.get(blocks.at(server, first)?);
        match block.kind {
            Kind::Semaphore(_) | Kind::Lock(_) if block.is_open() && block.owner == server => {
                let mut registration = Registration::of(server);
                registration.published = Some(block.kind);
                self.add_registration(machine, name, policy, &mut registration)
            }
            _ => Err(Error::NotAllowed),
        }
    }

    /// Makes one portal of such trust in the client's table, for measuring: it calls the client's own
    /// return stub. The value is its index.
    pub fn make_measured<M: Machine>(
        &mut self,
        machine: &M,
        client: Client,
        trust: Trust,
        letters: [u8; LETTERS_SIZE],
    ) -> Result<u64, Error> {
        let client = client.alive(machine)?;
        let entry = self.maker.instances().get(client)?.stub;
        let target = Target { trust, ..Target::of(Kind::Export(u32::MAX), client) };
        self.maker.open(machine, client, &target, 1, |_| Entry::plain(letters, entry))
    }
}
