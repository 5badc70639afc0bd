//! Keeps values. It believes whoever knows a number: that only those do who may is the manager's business.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_example_capabilities_contract::Vault;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Server;
static SERVER: Server = Server;
// Relaxed: a number that stands for itself.
static VALUES: [AtomicU64; 16] = [const { AtomicU64::new(0) }; 16];
static COUNT: AtomicU64 = AtomicU64::new(0);

cairn::component! {
    name: "vault",
    exports: { vault: Vault = SERVER },
}

fn at(number: u64) -> Result<&'static AtomicU64, Error> {
    VALUES.get(number as usize).ok_or(Error::NotFound)
}

impl Vault for Server {
    fn put(&self, value: u64) -> Result<u64, Error> {
        let number = COUNT.fetch_add(1, Relaxed);
        at(number).map_err(|_| Error::Exhausted)?.store(value, Relaxed);
        Ok(number)
    }

    fn value(&self, number: u64) -> Result<u64, Error> {
        Ok(at(number)?.load(Relaxed))
    }

    fn change(&self, number: u64, value: u64) -> Result<(), Error> {
        at(number)?.store(value, Relaxed);
        Ok(())
    }
}
