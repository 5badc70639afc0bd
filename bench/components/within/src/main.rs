//! Measures calls out of the kernel domain, in which it is itself.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::cost::Cost;
use cairn_bench::{Inside, Meter, Within};

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "within",
    imports: { near: Inside, far: Inside },
    exports: { within: Within = SERVER },
}

impl Within for Server {
    fn cost(&self, to_domain: u64) -> Result<Cost, Error> {
        let callee = if to_domain == 0 { imports::NEAR } else { imports::FAR };
        // The method is known, so that its stub is linked.
        callee.pass(1, 2, 3)?;
        let own = callee.own_cost(0)?;
        let meter = Meter::new();
        Ok(meter.stub(callee.portals(), 0, &[0, 1, 2, 3, 0, 0, 0, 0]) - own)
    }
}
