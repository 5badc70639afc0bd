#![forbid(unsafe_code)]
#![allow(unused_imports)]
use cairn::Error;

#[cairn::interface]
pub trait Sample {
    fn method(&self, bytes: Vec<u8>) -> Result<(), Error>;
}

fn main() {}
