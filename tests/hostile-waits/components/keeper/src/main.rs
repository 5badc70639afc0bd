//! Keeps whoever calls it.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::sync::Mutex;
use cairn_interfaces::{Portals, SemaphoreProxy};
use cairn_test_hostile_places::Keeper;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

struct Server {
    ended: AtomicU64,
    semaphore: AtomicU32,
}
static SERVER: Server = Server { ended: AtomicU64::new(0), semaphore: AtomicU32::new(0) };
static LOCK: Mutex<()> = Mutex::new(());

cairn::component! {
    name: "hostile-keeper",
    imports: { portals: Portals },
    exports: { keeper: Keeper = SERVER },
}

impl Keeper for Server {
    fn keep(&self) -> Result<u64, Error> {
        if !LOCK.is_attached() {
            imports::PORTALS.attach_lock(&LOCK)?;
            self.semaphore.store(imports::PORTALS.semaphore(0)?.first_portal(), Relaxed);
        }
        let guard = LOCK.lock()?;
        let waited = SemaphoreProxy::at(self.semaphore.load(Relaxed)).p();
        drop(guard);
        self.ended.fetch_add(1, Relaxed);
        waited.map(|()| 0)
    }

    fn ended(&self) -> Result<u64, Error> {
        Ok(self.ended.load(Relaxed))
    }
}
