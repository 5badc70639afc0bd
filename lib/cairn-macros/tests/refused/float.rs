#![forbid(unsafe_code)]
#![allow(unused_imports)]
use cairn::Error;

#[cairn::interface]
pub trait Sample {
    fn method(&self, single: f32, double: f64) -> Result<(), Error>;
}

fn main() {}
