//! Gets pages in windows of all kinds, and keeps them.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::exclusive::Exclusive;
use cairn::window::WriteWindow;
use cairn::{Caller, Error, InstanceId, environment};
use cairn_interfaces::{Joined, Memory, Pages, Torn, Windows};
use cairn_test_windows_contract::Keeper;

cairn::component! {
    name: "windows-keeper",
    imports: { memory: Memory, windows: Windows },
    exports: { keeper: Keeper = KEEPER },
}

struct Server {
    pages: Exclusive<Option<Pages>>,
    joined: Exclusive<Option<Joined>>,
}
static KEEPER: Server = Server { pages: Exclusive::new(None), joined: Exclusive::new(None) };

impl Keeper for Server {
    fn number(&self) -> Result<InstanceId, Error> {
        Ok(environment::startup().instance)
    }

    fn put(&self, caller: Caller, pages: Torn) -> Result<u64, Error> {
        let pages = imports::MEMORY.take(&imports::WINDOWS, pages, caller.0)?;
        let sum = (0..pages.size()).step_by(8).map(|at| pages.load(at)).sum();
        self.pages.with(|kept| *kept = Some(pages));
        Ok(sum)
    }

    fn get(&self, caller: Caller) -> Result<Torn, Error> {
        let pages = self.pages.with(Option::take).ok_or(Error::NotFound)?;
        pages.tear(&imports::WINDOWS, caller.0)
    }

    fn take(&self, pages: Torn, from: InstanceId) -> Result<u64, Error> {
        imports::MEMORY.take(&imports::WINDOWS, pages, from).map(|pages| pages.size() as u64)
    }

    fn join(&self, caller: Caller, window: u64, writable: bool) -> Result<(), Error> {
        let joined = imports::MEMORY.join(window, caller.0, writable)?;
        self.joined.with(|kept| *kept = Some(joined));
        Ok(())
    }

    fn close(&self, window: u64) -> Result<(), Error> {
        imports::MEMORY.drop_section(window)
    }

    fn leave(&self) -> Result<(), Error> {
        self.joined.with(Option::take).map(drop).ok_or(Error::NotFound)
    }

    fn swap(&self, at: u64, word: u64) -> Result<u64, Error> {
        self.joined.with(|joined| {
            let joined = joined.as_ref().ok_or(Error::NotFound)?;
            let before = joined.load(at as usize);
            joined.store(at as usize, word);
            Ok(before)
        })
    }

    fn same(&self, one: WriteWindow, other: WriteWindow) -> Result<bool, Error> {
        let mut read = [0; 4];
        one.write(0, b"mark")?;
        other.as_read().read(0, &mut read)?;
        Ok(&read == b"mark")
    }
}
