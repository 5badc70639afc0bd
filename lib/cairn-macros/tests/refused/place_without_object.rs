#![forbid(unsafe_code)]
#![allow(unused_imports)]
use cairn::{Error, Object, Place};

#[cairn::interface]
pub trait Other {
    fn method(&self) -> Result<(), Error>;
}

#[cairn::interface]
pub trait Sample {
    fn method(&self, place: Place) -> Result<u64, Error>;
}

fn main() {}
