//! Serves what one that stands between others serves, and never says where calls are to go through it.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_interfaces::{Portals, Threads};
use cairn_test_interposed_contract::{Between, Manner};

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "deaf",
    imports: { portals: Portals, threads: Threads },
    exports: { between: Between = SERVER },
    arguments: { faults: u64 = 0 },
    main: main,
}

fn main() {
    if arguments::faults() != 0 {
        panic!("told to die");
    }
}

impl Between for Server {
    fn behave(&self, _: Manner) -> Result<(), Error> {
        Err(Error::NotSupported)
    }

    fn passed(&self) -> Result<(u64, u64), Error> {
        Err(Error::NotSupported)
    }

    fn later(&self) -> Result<u64, Error> {
        Err(Error::NotSupported)
    }
}
