//! The client that asks, and what it knows of what it asks for.

use crate::machine::Machine;
use cairn_abi::descriptor::LETTERS_SIZE;
use cairn_abi::signature::is_signature_of;
use cairn_abi::{DomainId, Error, InstanceId};

/// The client that asks, as the record has it: a thread that outlives its domain in here must not open anything for the
/// successor.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    /// The instance.
    pub instance: InstanceId,
    /// Its domain.
    pub domain: DomainId,
    /// How often that was started before.
    pub generation: u64,
}

impl Client {
    /// The instance, if its domain lives, and in the life in which the call was made.
    pub fn alive<M: Machine>(self, machine: &M) -> Result<InstanceId, Error> {
        machine.check_life(self.domain, self.generation)?;
        Ok(self.instance)
    }

    /// Lets a client open what it registered to be asked, or not any more.
    pub fn admit<M: Machine>(
        self,
        machine: &M,
        name: &str,
        client: InstanceId,
        admitted: bool,
    ) -> Result<(), Error> {
        machine.admit(self.alive(machine)?, name, client, admitted)
    }
}

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
pub fn refuse_itself(client: InstanceId, server: InstanceId) -> Result<(), Error> {
    if client == server { Err(Error::NotAllowed) } else { Ok(()) }
}
