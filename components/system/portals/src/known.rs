//! What a client knows of what it asks for.

use cairn_abi::Error;
use cairn_abi::descriptor::LETTERS_SIZE;
use cairn_abi::signature::is_signature_of;

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
pub fn refuse_itself(client: u8, server: u8) -> Result<(), Error> {
    if client == server { Err(Error::NotAllowed) } else { Ok(()) }
}
