#![forbid(unsafe_code)]
#![allow(unused_imports)]
use cairn::Error;

#[cairn::interface]
pub trait Sample {
    fn method(&self, value: &mut str) -> Result<(), Error>;
}

fn main() {}
