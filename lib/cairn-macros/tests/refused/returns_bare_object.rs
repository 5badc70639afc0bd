#![forbid(unsafe_code)]
#![allow(unused_imports)]
use cairn::Error;

#[cairn::interface]
pub trait Sample {
    fn method(&self) -> Result<cairn::Object<u32>, Error>;
}

fn main() {}
