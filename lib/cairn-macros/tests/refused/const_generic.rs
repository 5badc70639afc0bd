#![forbid(unsafe_code)]
#![allow(unused_imports)]
use cairn::Error;

#[cairn::interface]
pub trait Sample {
    fn method<const N: usize>(&self) -> Result<(), Error>;
}

fn main() {}
