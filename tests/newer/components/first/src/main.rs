//! The older counter.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_interfaces as interfaces;
use cairn_test_newer_contract::{Counter, Sum};

cairn::component! {
    name: "newer-first",
    // For a newer one, which makes objects.
    imports: { portals: interfaces::Portals },
    exports: { counter: Counter = SERVER, successor: interfaces::Successor = SERVER },
}

struct Server;
static SERVER: Server = Server;
static SUM: Sum = Sum::new();

impl Counter for Server {
    fn add(&self, amount: u64) -> Result<u64, Error> {
        Ok(SUM.add(amount))
    }
}

impl interfaces::Successor for Server {
    fn call_home(&self, _: bool) -> Result<(), Error> {
        Ok(())
    }

    fn export_state(&self, _: u64, part: WriteWindow<'_>) -> Result<usize, Error> {
        SUM.export(part)
    }

    fn import_state(&self, _: u64, _: u64, part: ReadWindow<'_>) -> Result<(), Error> {
        SUM.import(part)
    }
}
