#![forbid(unsafe_code)]
#![allow(unused_imports)]
use cairn::Error;

#[cairn::interface]
pub trait Sample {
    fn method(&self) -> Result<String, Error>;
    fn other(&self) -> Result<&[u8], Error>;
}

fn main() {}
