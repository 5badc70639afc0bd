#![forbid(unsafe_code)]
#![allow(unused_imports)]
use cairn::Error;

#[cairn::interface]
pub trait Sample {
    fn method(&self) -> Result<(u64, u64, u64, u64, u64), Error>;
}

fn main() {}
