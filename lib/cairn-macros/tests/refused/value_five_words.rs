#![forbid(unsafe_code)]
#![allow(unused_imports)]
use cairn::Error;

#[derive(Clone, Copy, Debug, cairn::Wire)]
pub struct Four {
    a: u64,
    b: u64,
    c: u64,
    d: u64,
}

#[cairn::interface]
pub trait Sample {
    fn method(&self) -> Result<(bool, Four), Error>;
}

fn main() {}
