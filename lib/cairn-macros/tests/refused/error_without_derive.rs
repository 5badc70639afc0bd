#![forbid(unsafe_code)]
#![allow(unused_imports)]

pub enum Failure {
    Full,
}

#[cairn::interface]
pub trait Sample {
    fn method(&self) -> Result<(), Failure>;
}

fn main() {}
