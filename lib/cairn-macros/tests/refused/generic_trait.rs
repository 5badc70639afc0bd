#![forbid(unsafe_code)]
#![allow(unused_imports)]
use cairn::Error;

#[cairn::interface]
pub trait Sample<T> {
    fn method(&self) -> Result<(), Error>;
}

fn main() {}
