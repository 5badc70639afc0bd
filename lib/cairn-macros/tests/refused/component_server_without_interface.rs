#![forbid(unsafe_code)]
#![allow(unused_imports)]
use cairn::Error;

#[cairn::interface]
pub trait Sample {
    fn method(&self) -> Result<(), Error>;
}

pub struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "sample",
    exports: { sample: Sample = SERVER },
}

fn main() {}
