//! What clients pass on to each other.

use super::Manager;
use crate::blocks::{Block, Kind};
use crate::crossing::{Entry, Target};
use crate::grants::Grant;
use crate::known::{Client, Known, refuse_itself};
use crate::machine::Machine;
use cairn_abi::grant::{Peer, Rights};
use cairn_abi::record::Method;
use cairn_abi::{Error, InstanceId};

/// A grant, for people.
pub struct Given<'manager> {
    /// What it leads to, and the instance that serves it.
    pub kind: Kind,
    /// See [`Given::kind`].
    pub server: InstanceId,
    /// Its methods, those without a right included.
    pub count: usize,
    /// Who has it, or may accept it.
    pub receiver: InstanceId,
    /// Whether that has accepted it.
    pub is_accepted: bool,
    /// What may be done with it.
    pub rights: &'manager Rights,
    /// How many calls are left; none: any number.
    pub uses_left: Option<u64>,
}

impl Manager {
    fn peer<M: Machine>(
        &self,
        machine: &M,
        client: InstanceId,
        peer: Peer,
    ) -> Result<InstanceId, Error> {
        match peer {
            Peer::Behind(index) => self.maker.server_of(machine, client, index.into()),
            Peer::Instance(instance) => Ok(instance),
        }
    }

    /// Offers what a client holds, the block that begins at `first` of its table, to another instance, with these rights. The
    /// word names the grant; that instance alone can accept it, once, as this client's.
    pub fn grant<M: Machine>(
        &mut self,
        machine: &M,
        client: Client,
        first: u64,
        receiver: Peer,
        rights: Rights,
    ) -> Result<u64, Error> {
        let client = client.alive(machine)?;
        let receiver = self.peer(machine, client, receiver)?;
        self.maker.grant(machine, (client, first), receiver, rights)
    }

    /// Makes portals in a client's table to what another offered it, if the client knows its interface: the first index.
    pub fn accept<M: Machine>(
        &mut self,
        machine: &M,
        client: Client,
        granter: Peer,
        word: u64,
        known: Known<'_>,
    ) -> Result<u64, Error> {
        let client = client.alive(machine)?;
        let granter = self.peer(machine, client, granter)?;
        let grant = self.maker.offered(machine, client, granter, word)?;
        let Block { kind, server, owner, .. } = *self.maker.granted(grant);
        refuse_itself(client, server)?;
        match kind {
            Kind::Export(number) | Kind::Object(number, _) => {
                let export = machine.layout().export(number as usize)?;
                let methods = machine.layout().methods_of(export);
                known.check(export.version, methods.iter().map(|method| &method.letters))?;
                self.make_accepted(machine, (grant, None), methods)
            }
            Kind::Registration(number) => {
                // What its server took back is passed on no more.
                let registration = self.registrations.find(number).ok_or(Error::NotFound)?;
                let methods = &registration.methods[..registration.count];
                known.check(registration.version, methods.iter().map(|(letters, _)| letters))?;
                let target = Target::of(kind, server).ends_with(owner);
                let method = |index: usize| Entry::plain(methods[index].0, methods[index].1);
                self.maker.accept(machine, (grant, None), &target, methods.len(), method)
            }
            Kind::Semaphore(_) | Kind::Lock(_) => {
                let Manager { maker, synchronisation, .. } = self;
                synchronisation.accept(maker, machine, grant, (kind, owner), known)
            }
        }
    }

    /// Makes the portals of what was made of an export or object, with these methods. There is one of it, as quick as it can be.
    #[inline(never)]
    fn make_accepted<M: Machine>(
        &mut self,
        machine: &M,
        grant: (Grant, Option<usize>),
        methods: &'static [Method],
    ) -> Result<u64, Error> {
        let Block { kind, server, owner, .. } = *self.maker.granted(grant.0);
        let constant = if let Kind::Object(_, control) = kind { control } else { 0 };
        let target = Target::of(kind, server).ends_with(owner);
        let target = Target { constant, ..target };
        self.maker
            .accept(machine, grant, &target, methods.len(), |index| Entry::of(&methods[index]))
    }

    /// Takes back what a client granted, with all that came of it.
    pub fn revoke_grant<M: Machine>(
        &mut self,
        machine: &M,
        client: Client,
        word: u64,
    ) -> Result<(), Error> {
        let client = client.alive(machine)?;
        self.maker.revoke_grant(machine, client, word)
    }

    /// What a server granted to a client by this word, an object, comes where the client reserved a place for an object of the server's.
    pub fn fill_with<M: Machine>(
        &mut self,
        machine: &M,
        server: Client,
        (client, place): (InstanceId, u64),
        word: u64,
    ) -> Result<(), Error> {
        let server = server.alive(machine)?;
        self.maker.living(machine, client)?;
        let layout = machine.layout();
        let place = self.maker.blocks().reserved(client, place)?;
        let grant = self.maker.offered(machine, client, server, word)?;
        let kinds = (self.maker.blocks().get(place).kind, self.maker.granted(grant).kind);
        let (Kind::Object(wanted, _), Kind::Object(number, _)) = kinds else {
            return Err(Error::NotSupported);
        };
        let (wanted, export) = (layout.export(wanted as usize)?, layout.export(number as usize)?);
        // It was reserved for who serves this export.
        if wanted.instance != server {
            return Err(Error::NotAllowed);
        }
        let methods = layout.methods_of(export);
        let letters = |methods: &'static [Method]| methods.iter().map(|method| &method.letters);
        if (wanted.version, &wanted.interface) != (export.version, &export.interface)
            || letters(layout.methods_of(wanted)).ne(letters(methods))
        {
            return Err(Error::VersionMismatch);
        }
        self.make_accepted(machine, (grant, Some(place)), methods).map(drop)
    }

    /// Opens what an import of a client leads to that begins at an index, as the description lets it: the first index of a block that it
    /// may pass on.
    pub fn hold<M: Machine>(
        &mut self,
        machine: &M,
        client: Client,
        first: u64,
    ) -> Result<u64, Error> {
        let client = client.alive(machine)?;
        let first = usize::try_from(first).map_err(|_| Error::NotFound)?;
        let number = self.maker.export_behind(machine, client, first).ok_or(Error::NotFound)?;
        let export = self.described(machine, number as usize)?;
        let domain = |number| self.maker.instances().get(number).map(|one| one.domain);
        // Calls inside of a domain have no portals.
        if domain(client)? == domain(export.instance)? {
            return Err(Error::NotSupported);
        }
        let methods = machine.layout().methods_of(export);
        let target = Target::of(Kind::Export(number), export.instance);
        self.maker.open(machine, client, &target, methods.len(), |index| Entry::of(&methods[index]))
    }

    /// The next grant that a client made, at this place of the table of grants or behind it, and its place.
    pub fn given<M: Machine>(
        &self,
        machine: &M,
        client: InstanceId,
        from: usize,
    ) -> Option<(Given<'_>, usize)> {
        let (grants, blocks) = (self.maker.grants(), self.maker.blocks());
        let next = |grant: &Grant| grants.from_place(grant.place() + 1);
        let mut all = core::iter::successors(grants.from_place(from), next);
        let grant = all.find(|grant| blocks.get(grants.get(*grant).from()).client == client)?;
        let node = grants.get(grant);
        let block = blocks.get(node.from());
        let given = Given {
            kind: block.kind,
            server: block.server,
            count: block.indexes().len(),
            receiver: node.receiver,
            is_accepted: node.to().is_some(),
            rights: &node.rights,
            uses_left: self.maker.uses_left(machine, grant),
        };
        Some((given, grant.place()))
    }
}
