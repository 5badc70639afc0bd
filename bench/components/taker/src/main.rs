//! Gets objects that are passed on, and serves what they lead to.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Caller, Error, Grant, InstanceId, Object, Passed};
use cairn_bench::{Purse, Taker};
use cairn_interfaces::{Grants, Portals, Rights};

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "taker",
    imports: { portals: Portals, grants: Grants },
    exports: { purse: Purse = SERVER, taker: Taker = SERVER },
}

use imports::GRANTS;

impl Purse for Server {
    fn first(&self) -> Result<(), Error> {
        Ok(())
    }
    fn second(&self, word: u64) -> Result<u64, Error> {
        Ok(word)
    }
    fn third(&self, left: u64, right: u64) -> Result<u64, Error> {
        Ok(left + right)
    }
    fn fourth(&self, bytes: ReadWindow<'_>) -> Result<u64, Error> {
        Ok(bytes.len() as u64)
    }
    fn fifth(&self, bytes: WriteWindow<'_>) -> Result<u64, Error> {
        Ok(bytes.len() as u64)
    }
}

impl Taker for Server {
    fn take(&self, purse: Passed<dyn Purse>) -> Result<u64, Error> {
        GRANTS.take(purse).map(|purse| purse.first_portal().into())
    }

    fn leave(&self, first: u64) -> Result<(), Error> {
        imports::PORTALS.close(first)
    }

    fn pass(&self, first: u64, to: u64) -> Result<u64, Error> {
        let purse = Object::<dyn Purse>::from_first_portal(first as u32);
        let to = Caller(InstanceId(to as u16));
        GRANTS.pass_to(&purse, to, Rights::ALL).map(|grant| grant.word())
    }

    fn take_word(&self, granter: u64, word: u64) -> Result<u64, Error> {
        self.take(Passed::new(Caller(InstanceId(granter as u16)), Grant::from_word(word)))
    }
}
