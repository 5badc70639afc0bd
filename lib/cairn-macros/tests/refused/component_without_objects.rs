#![forbid(unsafe_code)]
#![allow(unused_imports)]
use cairn::object::ObjectTable;
use cairn::{Error, Object, Place};

#[cairn::interface]
pub trait Item {
    fn number(&self) -> Result<u64, Error>;
}

#[cairn::interface]
pub trait Other {
    fn number(&self) -> Result<u64, Error>;
}

#[cairn::interface]
pub trait Sample {
    fn item(&self, place: Place) -> Result<Object<dyn Item>, Error>;
}

pub struct Server;
static SERVER: Server = Server;
static OTHERS: ObjectTable<Server, 1> = ObjectTable::new();

impl Sample for Server {
    fn item(&self, _: Place) -> Result<Object<dyn Item>, Error> {
        Err(Error::NotSupported)
    }
}

impl Other for Server {
    fn number(&self) -> Result<u64, Error> {
        Ok(1)
    }
}

cairn::component! {
    name: "sample",
    exports: { sample: Sample = SERVER },
    objects: { other: Other = OTHERS },
}

fn main() {}
