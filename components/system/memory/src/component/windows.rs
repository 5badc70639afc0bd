//! The interface [`interfaces::Windows`].

use super::{Server, charged, interfaces};
use cairn::{Caller, Error, InstanceId};
use cairn_memory::refusal::Wanted;

impl interfaces::Windows for Server {
    fn lend(&self, caller: Caller, address: u64, pages: u64) -> Result<u64, Error> {
        charged(caller.0, Wanted::Section(1), |manager| manager.lend(caller.0, address, pages))
    }

    fn tear(
        &self,
        caller: Caller,
        address: u64,
        pages: u64,
        with: InstanceId,
    ) -> Result<u64, Error> {
        charged(caller.0, Wanted::Section(1), |manager| {
            manager.tear(caller.0, address, pages, with)
        })
    }

    fn take_torn(&self, caller: Caller, torn: u64, from: InstanceId) -> Result<(u64, u64), Error> {
        let pages = super::with(|manager| Ok(manager.pages_of(torn)))?;
        charged(caller.0, Wanted::Pages(pages), |manager| manager.take(caller.0, torn, from))
    }
}
