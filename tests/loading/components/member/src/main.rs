//! One of many: it has no thread, and does little.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::window::ReadWindow;
use cairn::{Caller, Error};
use cairn_test_loading_contract::Guest;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Server;
static SERVER: Server = Server;
static COUNT: AtomicU64 = AtomicU64::new(100);

cairn::component! {
    name: "member",
    exports: { guest: Guest = SERVER },
}

impl Guest for Server {
    fn number(&self) -> Result<u64, Error> {
        Ok(7)
    }

    fn count(&self) -> Result<u64, Error> {
        Ok(COUNT.fetch_add(1, Relaxed) + 1)
    }

    fn who(&self, caller: Caller) -> Result<u64, Error> {
        Ok(caller.0.into())
    }

    fn sum(&self, bytes: ReadWindow<'_>) -> Result<u64, Error> {
        let mut buffer = [0; 4096];
        Ok(bytes.copy(&mut buffer)?.iter().map(|byte| u64::from(*byte)).sum())
    }

    fn itself(&self) -> Result<(u64, bool), Error> {
        Err(Error::NotSupported)
    }

    fn fault(&self) -> Result<(), Error> {
        panic!("as was asked");
    }

    fn load(&self, _package: ReadWindow<'_>, _name: ReadWindow<'_>) -> Result<i64, Error> {
        Err(Error::NotSupported)
    }

    fn prepare(&self, _package: ReadWindow<'_>, _name: ReadWindow<'_>) -> Result<i64, Error> {
        Err(Error::NotSupported)
    }

    fn take_pages(&self, _pages: u64) -> Result<u64, Error> {
        Err(Error::NotSupported)
    }
}
