#![forbid(unsafe_code)]
#![allow(unused_imports)]

#[cairn::interface]
pub trait Sample {}

fn main() {}
