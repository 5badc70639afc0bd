#![forbid(unsafe_code)]
#![allow(unused_imports)]
use cairn::Error;

#[derive(Clone, Copy)]
pub struct Point {
    pub x: u32,
}

#[cairn::interface]
pub trait Sample {
    fn method(&self, point: Point) -> Result<(), Error>;
}

fn main() {}
