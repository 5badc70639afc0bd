//! A server that sends its callers on to another one.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_test_hostile_budget_keeper::Keeper;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "hostile-budget-middle",
    imports: { keeper: Keeper },
    exports: { keeper: Keeper = SERVER },
}

impl Keeper for Server {
    fn work(&self, microseconds: u64) -> Result<u64, Error> {
        imports::KEEPER.work(microseconds)
    }
}
