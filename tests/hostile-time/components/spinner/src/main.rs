//! A server that never returns.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_test_hostile_beat::Spinner;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "hostile-spinner",
    exports: { spinner: Spinner = SERVER },
}

impl Spinner for Server {
    fn spin(&self) -> Result<u64, Error> {
        loop {
            core::hint::spin_loop();
        }
    }
}
