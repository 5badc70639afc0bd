#![forbid(unsafe_code)]
use cairn::Error;

#[derive(Clone, Copy, Debug, cairn::Wire)]
pub struct Place {
    pub row: u32,
}

#[derive(Clone, Copy, Debug, cairn::Wire)]
pub struct Now {
    pub ticks: u64,
}

#[cairn::interface]
pub trait Sample {
    fn method(&self, now: Now) -> Result<(), Error>;
    fn open(&self, place: Place) -> Result<cairn::Object<dyn Sample>, Error>;
}

fn main() {}
