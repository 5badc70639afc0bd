#![forbid(unsafe_code)]
#![allow(unused_imports)]
use cairn::Error;

#[cairn::interface]
pub trait Sample {
    fn method<'a>(&self, text: &'a str) -> Result<(), Error>;
}

fn main() {}
