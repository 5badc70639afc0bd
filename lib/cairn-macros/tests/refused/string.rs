#![forbid(unsafe_code)]
#![allow(unused_imports)]
use cairn::Error;

#[cairn::interface]
pub trait Sample {
    fn method(&self, text: String) -> Result<(), Error>;
}

fn main() {}
