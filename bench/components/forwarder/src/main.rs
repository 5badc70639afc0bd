//! Stands between others, and passes on what comes.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::interpose::{Answer, Interposer, Passing};
use cairn_interfaces::Portals;

struct Forwarder;

cairn::component! {
    name: "forwarder",
    imports: { portals: Portals },
    main: main,
}

impl Interposer for Forwarder {
    fn intercept(call: &Passing) -> Answer {
        call.forward()
    }
}

fn main() -> Result<(), Error> {
    imports::PORTALS.stand_between::<Forwarder>()
}
