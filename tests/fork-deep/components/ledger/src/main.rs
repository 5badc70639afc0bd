//! A server at the end of eight.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::sync::Semaphore;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Caller, Error};
use cairn_interfaces as interfaces;
use cairn_test_fork_deep_contract::Ledger;

struct Server;
static SERVER: Server = Server;
static DONE: Semaphore = Semaphore::new(0);

cairn::component! {
    name: "ledger",
    imports: { portals: interfaces::Portals },
    exports: { ledger: Ledger = SERVER },
}

impl Ledger for Server {
    fn who(&self, caller: Caller) -> Result<u64, Error> {
        Ok(caller.0.into())
    }

    fn exchange(&self, first: ReadWindow<'_>, others: WriteWindow<'_>) -> Result<u64, Error> {
        for place in 0..others.len() {
            others.write(place, &[place as u8])?;
        }
        let mut buffer = [0; 256];
        Ok(first.copy(&mut buffer)?.iter().map(|byte| u64::from(*byte)).sum())
    }

    fn done(&self) -> Result<(), Error> {
        DONE.release()
    }

    fn wait(&self) -> Result<(), Error> {
        DONE.acquire()
    }
}
