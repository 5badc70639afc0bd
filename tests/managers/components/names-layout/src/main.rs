//! What is no name server, and says of its state what is not so.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::in_place::State;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, InstanceId};
use cairn_interfaces::{self as interfaces, RUN_TIME_NAMES, StatePlace};
use cairn_names::Additions;

struct Server;
static SERVER: Server = Server;
static ADDITIONS: State<Additions> = State::new(Additions::new(RUN_TIME_NAMES));
static CONSTANTS: &str = "a constant";

cairn::component! {
    name: "managers-names",
    exports: {
        names: interfaces::Names = SERVER,
        control: interfaces::NameControl = SERVER,
        in_place: interfaces::InPlace = SERVER,
    },
}

impl interfaces::InPlace for Server {
    fn state(&self) -> Result<StatePlace, Error> {
        let place = StatePlace::of(&ADDITIONS, 1);
        Ok(match env!("CARGO_PKG_VERSION_MAJOR").as_bytes() {
            b"1" => StatePlace::of(&ADDITIONS, 2),
            // Nobody writes there.
            b"2" => StatePlace { at: CONSTANTS.as_ptr().addr() as u64 & !0xfff, ..place },
            _ => StatePlace { at: place.at + (1 << 20), ..place },
        })
    }

    fn version(&self, text: WriteWindow<'_>) -> Result<usize, Error> {
        text.write(0, env!("CARGO_PKG_VERSION").as_bytes())
    }
}

impl interfaces::Names for Server {
    fn look_up(&self, _: InstanceId, _: ReadWindow<'_>) -> Result<u64, Error> {
        Err(Error::NotSupported)
    }

    fn list(&self, _: u64, _: WriteWindow<'_>) -> Result<(usize, u64), Error> {
        Err(Error::NotSupported)
    }

    fn describe_method(
        &self,
        _: ReadWindow<'_>,
        _: u64,
        _: WriteWindow<'_>,
    ) -> Result<usize, Error> {
        Err(Error::NotSupported)
    }
}

impl interfaces::NameControl for Server {
    fn add(&self, _: InstanceId, _: ReadWindow<'_>, _: ReadWindow<'_>) -> Result<u64, Error> {
        Err(Error::NotSupported)
    }

    fn admit(&self, _: InstanceId, _: ReadWindow<'_>, _: InstanceId, _: bool) -> Result<(), Error> {
        Err(Error::NotSupported)
    }

    fn remove(&self, _: InstanceId, _: ReadWindow<'_>) -> Result<u64, Error> {
        Err(Error::NotSupported)
    }

    fn remove_all(&self, _: InstanceId) -> Result<u64, Error> {
        Err(Error::NotSupported)
    }

    fn add_domain(&self, _: InstanceId) -> Result<(), Error> {
        Err(Error::NotSupported)
    }

    fn retire_domain(&self, _: InstanceId) -> Result<(), Error> {
        Err(Error::NotSupported)
    }
}
