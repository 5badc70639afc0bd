//! A server with a lock, in which callers work at their own cost.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::sync::Mutex;
use cairn::time::ticks;
use cairn_interfaces as interfaces;
use cairn_test_hostile_budget_keeper::Keeper;

struct Server;
static SERVER: Server = Server;
static DONE: Mutex<u64> = Mutex::new(0);

cairn::component! {
    name: "hostile-budget-keeper",
    imports: { threads: interfaces::Threads, portals: interfaces::Portals },
    exports: { keeper: Keeper = SERVER },
}

impl Keeper for Server {
    fn work(&self, microseconds: u64) -> Result<u64, Error> {
        let mut done = DONE.lock()?;
        let end = imports::THREADS.time_used()? + ticks(microseconds);
        while imports::THREADS.time_used()? < end {}
        *done += 1;
        Ok(*done)
    }
}
