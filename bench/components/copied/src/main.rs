//! Three copies come with each call and go back.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::window::WriteWindow;
use cairn_bench::Copies;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "copied",
    exports: { copies: Copies = SERVER },
}

impl Copies for Server {
    fn three(&self, _: WriteWindow, _: WriteWindow, _: WriteWindow) -> Result<(), Error> {
        Ok(())
    }
}
