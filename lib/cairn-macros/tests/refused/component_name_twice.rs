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
    imports: { one: Sample, One: Sample },
}

fn main() {}
