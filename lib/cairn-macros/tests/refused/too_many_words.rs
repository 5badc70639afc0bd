#![forbid(unsafe_code)]
#![allow(unused_imports)]
use cairn::Error;

#[cairn::interface]
pub trait Sample {
    fn words(&self, a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64, h: u64) -> Result<(), Error>;
    fn slices(&self, a: &[u8], b: &[u8], c: &[u8], d: &str) -> Result<(), Error>;
}

fn main() {}
