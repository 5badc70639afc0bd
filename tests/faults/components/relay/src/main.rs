//! Passes calls on.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_test_relay::Relay;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "relay",
    imports: { next: cairn_test_relay::Relay },
    exports: { relay: cairn_test_relay::Relay = SERVER },
}

impl Relay for Server {
    fn hold(&self, microseconds: u64) -> Result<u64, Error> {
        imports::NEXT.hold(microseconds)
    }
}
