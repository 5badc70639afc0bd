//! Does what no component may do, when it is asked to.
#![no_std]
#![no_main]

mod hostile;

use cairn::Error;
use cairn_test_trouble::Trouble;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Server {
    calls: AtomicU64,
}
static SERVER: Server = Server { calls: AtomicU64::new(0) };

cairn::component! {
    name: "trouble",
    exports: { trouble: cairn_test_trouble::Trouble = SERVER },
}

impl Trouble for Server {
    fn count(&self) -> Result<u64, Error> {
        Ok(self.calls.fetch_add(1, Relaxed) + 1)
    }

    fn commit(&self, deed: u64, address: u64) -> Result<u64, Error> {
        hostile::commit(deed, address)
    }
}
