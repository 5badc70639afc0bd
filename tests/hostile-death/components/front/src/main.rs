//! Calls the holder on its own account, and passes calls on to it.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::{Error, Object, Place};
use cairn_test_hostile_nest::{Holder, Token};

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "hostile-front",
    imports: { holder: Holder },
    exports: { holder: Holder = SERVER },
    objects: {},
    main: main,
}

/// Long enough to be killed meanwhile.
fn main() {
    let _ = imports::HOLDER.hold(300_000);
}

impl Holder for Server {
    fn hold(&self, microseconds: u64) -> Result<u64, Error> {
        imports::HOLDER.hold(microseconds)
    }

    fn finished(&self) -> Result<u64, Error> {
        imports::HOLDER.finished()
    }

    fn holding(&self) -> Result<u64, Error> {
        imports::HOLDER.holding()
    }

    fn token(&self, _place: Place, _number: u64) -> Result<Object<dyn Token>, Error> {
        Err(Error::NotSupported)
    }
}
