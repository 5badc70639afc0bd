//! Measures calls out of the kernel domain, in which it is itself.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::cost::Cost;
use cairn_bench::{Inside, LEAVE, Meter, Within};

static MEMORY: [u8; 4096] = [7; 4096];

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "within",
    imports: { near: Inside, far: Inside },
    exports: { within: Within = SERVER },
}

impl Within for Server {
    fn cost(&self, to_domain: u64, method: u64) -> Result<Cost, Error> {
        let callee = if to_domain == 0 { imports::NEAR } else { imports::FAR };
        // The methods are known, so that their stubs are linked.
        callee.pass(1, 2, 3)?;
        callee.leave(&MEMORY)?;
        let own = callee.own_cost(method)?;
        let words = match method {
            LEAVE => [0, MEMORY.as_ptr() as u64, MEMORY.len() as u64, 0, 0, 0, 0, 0],
            _ => [0, 1, 2, 3, 0, 0, 0, 0],
        };
        Ok(Meter::new().stub(callee.portals(), method as u32, &words) - own)
    }
}
