//! Stands before a counter that counts in hundredths, for those who know one that counts in ones.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::interpose::{Answer, Interposer, Passing};
use cairn_interfaces as interfaces;

cairn::component! {
    name: "newer-adaptor",
    imports: { portals: interfaces::Portals },
    main: main,
}

/// What the other counts for one.
const ONE: u64 = 100;

struct Server;

fn main() -> Result<(), Error> {
    imports::PORTALS.stand_between::<Server>()
}

impl Interposer for Server {
    fn intercept(call: &Passing) -> Answer {
        let mut answer = call.with_argument(1, call.argument(1) * ONE).forward();
        answer.words[0] /= ONE;
        answer
    }
}
