#![forbid(unsafe_code)]
#![allow(unused_imports)]
use cairn::Error;

#[cairn::interface]
pub trait Sample {
    type Item;
    const LIMIT: u64;
    fn method(&self) -> Result<(), Error>;
}

fn main() {}
