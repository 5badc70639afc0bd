//! Carries a capability, and tries other numbers.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_example_capabilities_contract::{Courier, Vault};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Server;
static SERVER: Server = Server;
// Relaxed: a number that stands for itself.
static CARRIED: AtomicU64 = AtomicU64::new(0);

cairn::component! {
    name: "courier",
    imports: { vault: Vault },
    exports: { courier: Courier = SERVER },
}

impl Courier for Server {
    fn hand(&self, capability: u64) -> Result<u64, Error> {
        CARRIED.store(capability, Relaxed);
        Ok(capability)
    }

    fn back(&self) -> Result<u64, Error> {
        Ok(CARRIED.load(Relaxed))
    }

    fn look(&self, number: u64) -> Result<u64, Error> {
        imports::VAULT.value(number)
    }

    fn change(&self, number: u64, value: u64) -> Result<(), Error> {
        imports::VAULT.change(number, value)
    }
}
