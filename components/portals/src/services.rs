//! What the manager does for servers and clients: opening, revoking, registering, death.

use crate::component::NAME_CONTROL;
use crate::manager::{Entry, Manager, Target, with_letters};
use crate::registrations::{REGISTRATIONS_MAXIMUM, Registration};
use cairn::Error;
use cairn::measure::{Cost, Stamp};
use cairn_abi::address::{REGION_SIZE, region};
use cairn_abi::descriptor::{LETTERS_SIZE, METHODS_MAXIMUM, name_text};
use cairn_abi::record::Export;
use cairn_abi::signature::is_signature_of;
use cairn_portal::Specification;
use cairn_portals::blocks::{Block, Kind};

/// Blocks that one step of a death closes: what bounds the time for which the manager is held.
const BLOCKS_PER_STEP: usize = 8;

/// The interface as a client knows it.
#[derive(Clone, Copy)]
pub struct Known<'call> {
    /// Zero: any.
    pub version: u64,
    /// Empty: any.
    pub signature: &'call [u8],
}

impl Known<'_> {
    /// Whether it is what the server has. The server says the version; the letters are what the portals
    /// are made of.
    pub fn check<'letters>(
        &self,
        version: u64,
        methods: impl Iterator<Item = &'letters [u8; LETTERS_SIZE]>,
    ) -> Result<(), Error> {
        let same_version = self.version == 0 || self.version == version;
        let same_letters = self.signature.is_empty() || is_signature_of(self.signature, methods);
        if same_version && same_letters { Ok(()) } else { Err(Error::VersionMismatch) }
    }
}

/// A call of a component into itself would wait for stacks that it may hold itself; the host tool refuses
/// such a connection as well.
fn refuse_itself(client: u8, server: u8) -> Result<(), Error> {
    if client == server { Err(Error::NotAllowed) } else { Ok(()) }
}

impl Manager {
    fn export(&self, number: usize) -> Result<&'static Export, Error> {
        self.memory()?.exports.get(number).ok_or(Error::NotFound)
    }

    /// Opens an export of the description for a client whom the name server admitted.
    pub fn open_export(
        &mut self,
        client: u8,
        generation: u64,
        number: usize,
        known: Known<'_>,
    ) -> Result<u64, Error> {
        let memory = self.memory()?;
        let export = self.export(number)?;
        // An object is made by its server, for a client that is inside.
        if export.is_object != 0 {
            return Err(Error::NotFound);
        }
        refuse_itself(client, export.instance as u8)?;
        let methods = memory.methods_of(export);
        known.check(export.version, methods.iter().map(|method| &method.letters))?;
        let kind = Kind::Export(number as u32);
        let target = Target {
            kind,
            server: export.instance as u8,
            owner: 0,
            constant: 0,
            specification: None,
        };
        self.make((client, generation), &target, methods.len(), |index| Entry {
            letters: methods[index].letters,
            entry: methods[index].entry,
            operation: None,
        })
    }

    /// Opens what a server registered.
    pub fn open_registration(
        &mut self,
        client: u8,
        generation: u64,
        number: u64,
        known: Known<'_>,
    ) -> Result<u64, Error> {
        let registration = *self
            .registrations
            .find(|candidate| candidate.number == number)
            .ok_or(Error::NotFound)?;
        if let Some(kind) = registration.published {
            return self.open_published(client, generation, &registration, kind, known);
        }
        let Registration { server, count, methods, version, .. } = registration;
        refuse_itself(client, server)?;
        known.check(version, methods[..count].iter().map(|(letters, _)| letters))?;
        let kind = Kind::Registration(number);
        let target = Target { kind, server, owner: server, constant: 0, specification: None };
        self.make((client, generation), &target, count, |index| Entry {
            letters: methods[index].0,
            entry: methods[index].1,
            operation: None,
        })
    }

    /// Closes a block of the client's.
    pub fn close(&mut self, client: u8, first: u64) -> Result<(), Error> {
        let place = self.block_at(client, first)?;
        let block = *self.blocks.get(place);
        match block.kind {
            Kind::Semaphore(_) | Kind::Lock(_) if block.owner == client => {
                self.end_synchronisation(&block)
            }
            _ => {
                self.close_place(place);
                Ok(())
            }
        }
    }

    /// Place of the block that begins at an index of a client's table.
    pub fn block_at(&self, client: u8, first: u64) -> Result<usize, Error> {
        let place =
            self.blocks.find(0, |block| block.client == client && u64::from(block.first) == first);
        place.ok_or(Error::NotFound)
    }

    /// Takes back what clients opened of an export or registration.
    pub fn revoke(&mut self, server: u8, name: &str, client: u64) -> Result<u64, Error> {
        let exports = self.memory()?.exports;
        let described = exports.iter().position(|export| {
            export.instance == u32::from(server)
                && export.is_object == 0
                && name_text(&export.name) == name
        });
        let kind = match described {
            Some(number) => Kind::Export(number as u32),
            None => {
                let registered = |candidate: &Registration| {
                    candidate.server == server && candidate.is_called(name)
                };
                let registration = self.registrations.find(registered).ok_or(Error::NotFound)?;
                registration.published.unwrap_or(Kind::Registration(registration.number))
            }
        };
        let revoked = |block: &Block| {
            block.kind == kind
                && block.client != block.owner
                && (client == 0 || u64::from(block.client) == client)
        };
        Ok(self.close_all(revoked))
    }

    /// The server's object interface of that name: the trait's, or the component's own.
    pub fn object_export(&self, server: u8, interface: &str) -> Result<u32, Error> {
        let exports = self.memory()?.exports;
        let position = exports.iter().position(|export| {
            export.instance == u32::from(server)
                && export.is_object != 0
                && (name_text(&export.interface) == interface
                    || name_text(&export.name) == interface)
        });
        position.map(|position| position as u32).ok_or(Error::NotFound)
    }

    /// Makes an object of a server's in a client's table.
    pub fn make_object(
        &mut self,
        client: (u8, u64),
        server: u8,
        interface: &str,
        control: u64,
    ) -> Result<u64, Error> {
        let memory = self.memory()?;
        let number = self.object_export(server, interface)?;
        let methods = memory.methods_of(self.export(number as usize)?);
        let kind = Kind::Object(number, control);
        let target = Target { kind, server, owner: server, constant: control, specification: None };
        self.make(client, &target, methods.len(), |index| Entry {
            letters: methods[index].letters,
            entry: methods[index].entry,
            operation: None,
        })
    }

    /// Registers entry points; `bytes` is the version, then each method's letters and entry.
    pub fn register(
        &mut self,
        server: u8,
        name: &str,
        policy: &str,
        bytes: &[u8],
    ) -> Result<(), Error> {
        let (version, methods) = bytes.split_first_chunk::<8>().ok_or(Error::BadArgument)?;
        let (methods, rest) = methods.as_chunks::<24>();
        if methods.is_empty() || methods.len() > METHODS_MAXIMUM || !rest.is_empty() {
            return Err(Error::BadArgument);
        }
        let own = region(server.into())..region(server.into()) + REGION_SIZE;
        let standard = Specification::parse("np").map_err(|_| Error::Unknown)?;
        let mut registration = Registration::of(server);
        registration.count = methods.len();
        registration.version = u64::from_le_bytes(*version);
        for (method, bytes) in registration.methods.iter_mut().zip(methods) {
            method.0.copy_from_slice(&bytes[..LETTERS_SIZE]);
            method.1 = bytes.last_chunk::<8>().map_or(0, |entry| u64::from_le_bytes(*entry));
            with_letters(standard, &method.0, &self.types)?;
            if method.0[0] != b'c' || !own.contains(&method.1) {
                return Err(Error::BadArgument);
            }
        }
        self.add_registration(name, policy, registration)
    }

    /// Takes a registration into the table and its name into the name server.
    pub fn add_registration(
        &mut self,
        name: &str,
        policy: &str,
        mut registration: Registration,
    ) -> Result<(), Error> {
        self.memory()?.check_alive(registration.server, None)?;
        let part = self.shares.of_pool(REGISTRATIONS_MAXIMUM);
        let place = self.registrations.free(registration.server, part)?;
        registration.number = NAME_CONTROL.add(registration.server.into(), name, policy)?;
        self.registrations.put(place, name, registration);
        Ok(())
    }

    /// Takes a registration back.
    pub fn unregister(&mut self, server: u8, name: &str) -> Result<(), Error> {
        let number = NAME_CONTROL.remove(server.into(), name)?;
        self.registrations.forget(|registration| registration.number == number);
        Ok(())
    }

    /// One step of the end of a domain: what it had opened, and whatever others have of it that a
    /// successor must not be handed.
    pub fn domain_died(&mut self, domain: u8, cursor: u64) -> Result<u64, Error> {
        self.memory()?.instance(domain)?;
        if domain == self.own {
            return Err(Error::NotAllowed);
        }
        let mut from = usize::try_from(cursor).unwrap_or(usize::MAX);
        for _ in 0..BLOCKS_PER_STEP {
            match self.blocks.find(from, |block| block.client == domain || block.owner == domain) {
                Some(place) => {
                    self.close_place(place);
                    from = place + 1;
                }
                None => {
                    self.registrations.forget(|registration| registration.server == domain);
                    // Without a name server there are no names.
                    let _ = NAME_CONTROL.remove_all(domain.into());
                    self.reclaim();
                    return Ok(0);
                }
            }
        }
        Ok(from as u64)
    }

    /// Checks that nothing of its predecessor is left in a domain's table. Stack queues need nothing:
    /// every activation comes home by the return portal's normal, abort or dead entry.
    pub fn domain_starts(&mut self, domain: u8) -> Result<(), Error> {
        self.memory()?.instance(domain)?;
        match self.blocks.find(0, |block| block.client == domain || block.owner == domain) {
            Some(_) => Err(Error::Busy),
            None => Ok(()),
        }
    }

    /// What it takes to make one portal in the client's table, which is closed again.
    pub fn measure(
        &mut self,
        client: (u8, u64),
        target: &Target,
        letters: [u8; LETTERS_SIZE],
    ) -> Result<Cost, Error> {
        let entry = self.memory()?.instance(client.0)?.stub;
        let before = Stamp::begin();
        let made = self.make(client, target, 1, |_| Entry { letters, entry, operation: None });
        let after = Stamp::end();
        self.close(client.0, made?)?;
        Ok(after - before)
    }
}
