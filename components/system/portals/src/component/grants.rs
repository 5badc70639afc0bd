//! Entry points for who passes on what it holds.

use super::{Server, locked, who, with_known};
use cairn::window::ReadWindow;
use cairn::{Caller, Error, InstanceId};
use cairn_abi::grant::{self, Peer};
use cairn_interfaces::{Grants, Rights};

fn peer(word: u64) -> Result<Peer, Error> {
    Peer::of_word(word).ok_or(Error::BadArgument)
}

impl Grants for Server {
    fn grant(&self, caller: Caller, first: u64, to: u64, rights: Rights) -> Result<u64, Error> {
        let (client, to) = (who(caller)?, peer(to)?);
        let Rights { methods, passes, uses, until } = rights;
        let rights = grant::Rights { methods, passes, uses, until };
        locked(|manager, machine| manager.grant(machine, client, first, to, rights))
    }

    fn accept(
        &self,
        caller: Caller,
        from: u64,
        word: u64,
        version: u64,
        signature: ReadWindow<'_>,
    ) -> Result<u64, Error> {
        let (client, from) = (who(caller)?, peer(from)?);
        with_known(version, signature, |known| {
            locked(|manager, machine| manager.accept(machine, client, from, word, known))
        })
    }

    fn revoke(&self, caller: Caller, word: u64) -> Result<(), Error> {
        let client = who(caller)?;
        locked(|manager, machine| manager.revoke_grant(machine, client, word))
    }

    fn hold(&self, caller: Caller, first: u64) -> Result<u64, Error> {
        let client = who(caller)?;
        locked(|manager, machine| manager.hold(machine, client, first))
    }

    fn fill(&self, caller: Caller, client: InstanceId, place: u64, word: u64) -> Result<(), Error> {
        let server = who(caller)?;
        locked(|manager, machine| manager.fill_with(machine, server, (client, place), word))
    }
}
