//! Uses the section that its argument names, for whoever calls.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::section::Section;
use cairn::{Error, environment};
use cairn_test_paged_contract::Probe;

const PAGE: usize = 4096;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "paged-probe",
    exports: { probe: Probe = SERVER },
}

fn section() -> Result<Section, Error> {
    environment::section(environment::argument()).ok_or(Error::NotFound)
}

impl Probe for Server {
    fn size(&self) -> Result<u64, Error> {
        Ok(section()?.size() as u64)
    }

    fn load(&self, offset: u64) -> Result<u64, Error> {
        Ok(section()?.load(offset as usize))
    }

    fn store(&self, offset: u64, word: u64) -> Result<(), Error> {
        section()?.store(offset as usize, word);
        Ok(())
    }

    fn fill(&self, pages: u64, word: u64) -> Result<u64, Error> {
        let section = section()?;
        let mut used = 0;
        for page in 0..pages as usize {
            used += u64::from(section.load(page * PAGE) != 0);
            section.store(page * PAGE, word);
        }
        Ok(used)
    }
}
