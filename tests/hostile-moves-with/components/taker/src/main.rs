//! Takes pages and sections.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::section::Section;
use cairn::window::ReadWindow;
use cairn::{Error, InstanceId};
use cairn_interfaces as interfaces;
use cairn_test_taker::{MARK, Taker};

cairn::component! {
    name: "taker",
    imports: { memory: interfaces::Memory },
    exports: { taker: Taker = SERVER },
}

use imports::MEMORY;

struct Server;
static SERVER: Server = Server;

fn window(section: u64) -> Result<Section, Error> {
    Section::of_window(section, 1, true).ok_or(Error::BadArgument)
}

impl Taker for Server {
    fn allocate(&self) -> Result<u64, Error> {
        let address = MEMORY.allocate(2)?;
        let pages = Section::of_pages(address, 2).ok_or(Error::BadArgument)?;
        pages.store(0, MARK);
        Ok(address)
    }

    fn make(&self, with: InstanceId) -> Result<u64, Error> {
        let address = MEMORY.make_section(1)?;
        window(address)?.store(0, MARK);
        MEMORY.share(address, with, true)?;
        Ok(address)
    }

    fn accept(&self, section: u64) -> Result<(), Error> {
        MEMORY.accept(section).map(drop)
    }

    fn first(&self, section: u64) -> Result<u64, Error> {
        Ok(window(section)?.load(0))
    }

    fn leave(&self, section: u64) -> Result<(), Error> {
        MEMORY.drop_section(section)
    }

    fn sum(&self, bytes: ReadWindow<'_>) -> Result<u64, Error> {
        let mut sum = 0;
        for at in 0..bytes.len() {
            let mut byte = [0];
            bytes.read(at, &mut byte)?;
            sum += u64::from(byte[0]);
        }
        Ok(sum)
    }

    fn fail(&self) -> Result<(), Error> {
        panic!("on purpose")
    }
}
