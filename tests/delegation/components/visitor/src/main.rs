//! Visits the treasure on its caller's thread.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_interfaces::Portals;
use cairn_test_delegation_contract::{Treasure, Visitor};

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "delegation-visitor",
    imports: { portals: Portals },
    exports: { visitor: Visitor = SERVER },
}

impl Visitor for Server {
    fn visit(&self) -> Result<u64, Error> {
        let treasure = imports::PORTALS.open_object::<dyn Treasure>("gate.treasure")?;
        let seen = treasure.proxy().look();
        imports::PORTALS.close(treasure.first_portal().into())?;
        seen
    }
}
