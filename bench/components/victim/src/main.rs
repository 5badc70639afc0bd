//! Faults when it is asked to.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::environment::section;
use cairn_bench::Victim;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "victim",
    exports: { victim: Victim = SERVER },
}

impl Victim for Server {
    fn answer(&self) -> Result<(), Error> {
        Ok(())
    }
    fn fault(&self) -> Result<u64, Error> {
        let words = section("faults").ok_or(Error::NotFound)?.words(2);
        Ok(cairn::measure::page_fault(words.as_array().ok_or(Error::NotFound)?))
    }
}
