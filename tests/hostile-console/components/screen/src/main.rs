//! A console that keeps whoever writes; its argument says how.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, Object, Place, environment};
use cairn_interfaces::{Console, Portals, Terminal, Threads};

struct Screen;
static SCREEN: Screen = Screen;

cairn::component! {
    name: "hostile-screen",
    imports: { threads: Threads, portals: Portals },
    exports: { console: Console = SCREEN },
}

impl Console for Screen {
    fn write(&self, _: ReadWindow<'_>) -> Result<(), Error> {
        loop {
            match environment::argument() {
                "waits" => imports::THREADS.sleep_until(u64::MAX)?,
                "deaf" => drop(imports::THREADS.sleep_until(u64::MAX)),
                _ => core::hint::spin_loop(),
            }
        }
    }

    fn read(&self, _: WriteWindow<'_>) -> Result<usize, Error> {
        Err(Error::NotSupported)
    }

    fn try_read(&self, _: WriteWindow<'_>) -> Result<usize, Error> {
        Err(Error::NotSupported)
    }

    fn read_line(&self, _: WriteWindow<'_>) -> Result<usize, Error> {
        Err(Error::NotSupported)
    }

    fn open(&self, _: Place) -> Result<Object<dyn Terminal>, Error> {
        Err(Error::NotSupported)
    }
}
