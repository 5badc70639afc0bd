//! Counts each client's calls.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_test_growth_contract::{CLIENTS, Roll};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "growth-server",
    exports: { roll: Roll = ROLL },
}

struct Calls([AtomicU64; CLIENTS as usize]);
static ROLL: Calls = Calls([const { AtomicU64::new(0) }; CLIENTS as usize]);

impl Roll for Calls {
    fn call(&self, client: u64) -> Result<u64, Error> {
        let place = client.checked_sub(1).ok_or(Error::NotFound)? as usize;
        // Relaxed: each counts for itself, and nothing else is said by it.
        let calls = self.0.get(place).ok_or(Error::NotFound)?;
        Ok(calls.fetch_add(1, Relaxed) + 1)
    }

    fn count(&self, calls: u64) -> Result<u64, Error> {
        Ok(self.0.iter().filter(|one| one.load(Relaxed) >= calls).count() as u64)
    }
}
