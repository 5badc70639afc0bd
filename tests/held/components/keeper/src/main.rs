//! Holds others, as a loader does that exchanges them.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::{Error, InstanceId};
use cairn_interfaces as interfaces;
use cairn_test_held_contract::{Keeper, Work};

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "held-keeper",
    imports: { domains: interfaces::DomainPortals, work: Work },
    exports: { keeper: Keeper = SERVER },
}

use imports::{DOMAINS, WORK};

impl Keeper for Server {
    fn hold(&self, instance: InstanceId) -> Result<(), Error> {
        DOMAINS.hold(instance, false)
    }

    fn is_quiet(&self, instance: InstanceId) -> Result<bool, Error> {
        DOMAINS.is_quiet(instance)
    }

    fn relink(&self, instance: InstanceId) -> Result<(), Error> {
        DOMAINS.relink(instance)
    }

    fn leave(&self, instance: InstanceId) -> Result<u64, Error> {
        DOMAINS.leave_domain(instance, 0)
    }

    fn release(&self, instance: InstanceId) -> Result<(), Error> {
        DOMAINS.release(instance)
    }

    fn call(&self) -> Result<u64, Error> {
        WORK.work()
    }

    fn watch(&self) -> Result<(), Error> {
        WORK.watch()
    }
}
