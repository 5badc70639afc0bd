//! Calls itself by a portal.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::{Caller, Error, InstanceId};
use cairn_test_itself_contract::Mirror;

cairn::component! {
    name: "itself-mirror",
    imports: { again: Mirror },
    exports: { mirror: Mirror = MIRROR },
}

struct Server;
static MIRROR: Server = Server;

impl Mirror for Server {
    fn down(&self, depth: u64) -> Result<u64, Error> {
        match depth {
            0 => Ok(1),
            _ => Ok(imports::AGAIN.down(depth - 1)? + 1),
        }
    }

    fn caller(&self, caller: Caller, depth: u64) -> Result<InstanceId, Error> {
        match depth {
            0 => Ok(caller.0),
            _ => imports::AGAIN.caller(depth - 1),
        }
    }

    fn fall(&self, depth: u64) -> Result<(), Error> {
        assert!(depth > 0, "on purpose, on its own stack");
        imports::AGAIN.fall(depth - 1)
    }
}
