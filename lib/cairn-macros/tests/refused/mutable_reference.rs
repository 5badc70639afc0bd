#![forbid(unsafe_code)]
#![allow(unused_imports)]
use cairn::Error;

#[cairn::interface]
pub trait Sample {
    fn method(&self, value: &mut u64) -> Result<(), Error>;
}

fn main() {}
