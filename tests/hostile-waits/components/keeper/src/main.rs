//! Keeps whoever calls it.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::sync::{Mutex, Semaphore};
use cairn::window::{ReadWindow, WriteWindow};
use cairn_interfaces::Portals;
use cairn_test_hostile_places::Keeper;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Server {
    ended: AtomicU64,
}
static SERVER: Server = Server { ended: AtomicU64::new(0) };
static NEVER: Semaphore = Semaphore::new(0);
static LOCK: Mutex<()> = Mutex::new(());

cairn::component! {
    name: "hostile-keeper",
    imports: { portals: Portals },
    exports: { keeper: Keeper = SERVER },
}

impl Keeper for Server {
    fn keep(&self) -> Result<u64, Error> {
        let guard = LOCK.lock()?;
        let waited = NEVER.acquire();
        drop(guard);
        self.ended.fetch_add(1, Relaxed);
        waited.map(|()| 0)
    }

    fn sum(&self, bytes: ReadWindow<'_>) -> Result<u64, Error> {
        let mut sum = 0;
        bytes.pieces::<256>(|piece| {
            sum += piece.iter().map(|byte| u64::from(*byte)).sum::<u64>();
            Ok(())
        })?;
        Ok(sum)
    }

    fn fill(&self, bytes: WriteWindow<'_>, byte: u8) -> Result<(), Error> {
        for offset in 0..bytes.len() {
            bytes.write(offset, &[byte])?;
        }
        Ok(())
    }

    fn ended(&self) -> Result<u64, Error> {
        Ok(self.ended.load(Relaxed))
    }

    fn hold(&self, _bytes: ReadWindow<'_>) -> Result<u64, Error> {
        self.keep()
    }
}
