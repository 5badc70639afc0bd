//! Does not let its callers go before their time, whoever calls them home.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::{Error, time};
use cairn_interfaces as interfaces;
use cairn_test_replaced_fellows_contract::Keeper;

cairn::component! {
    name: "replaced-fellows-keeper",
    imports: { threads: interfaces::Threads },
    exports: { keeper: Keeper = SERVER },
}

struct Server;
static SERVER: Server = Server;

impl Keeper for Server {
    fn keep(&self, ticks: u64) -> Result<(), Error> {
        let until = time::now() + ticks;
        while time::now() < until {
            let _ = imports::THREADS.sleep_until(time::now() + time::ticks(1000));
        }
        Ok(())
    }
}
