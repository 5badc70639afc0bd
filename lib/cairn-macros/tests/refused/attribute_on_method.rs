#![forbid(unsafe_code)]
#![allow(unused_imports)]
use cairn::Error;

#[cairn::interface]
pub trait Sample {
    #[cfg(test)]
    fn method(&self) -> Result<(), Error>;
}

fn main() {}
