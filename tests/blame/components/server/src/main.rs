//! Takes a lock of its own that another component has opened, and may have; calls whom its own other thread calls too.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::time::{now, ticks};
use cairn_interfaces::{LockError, LockProxy, Portals, Threads};
use cairn_test_blame_contract::{Keep, Work};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

struct Server {
    lock: AtomicU32,
    done: AtomicU64,
    shall_occupy: AtomicBool,
    occupies: AtomicBool,
}
static SERVER: Server = Server {
    lock: AtomicU32::new(0),
    done: AtomicU64::new(0),
    shall_occupy: AtomicBool::new(false),
    occupies: AtomicBool::new(false),
};

cairn::component! {
    name: "blame-server",
    imports: { portals: Portals, threads: Threads, keeper: Keep },
    exports: { work: Work = SERVER },
    main: main,
}

fn main() {
    while !SERVER.shall_occupy.load(Relaxed) {
        let _ = imports::THREADS.sleep_until(now() + ticks(1000));
    }
    SERVER.occupies.store(true, Relaxed);
    let _ = imports::KEEPER.keep();
}

impl Work for Server {
    fn prepare(&self) -> Result<(), Error> {
        let first = imports::PORTALS.lock()?.first_portal();
        imports::PORTALS.publish(first.into(), "server.lock", "*")?;
        self.lock.store(first, Relaxed);
        Ok(())
    }

    fn work(&self) -> Result<u64, Error> {
        let lock = LockProxy::at(self.lock.load(Relaxed));
        match lock.lock() {
            // Nothing is protected, so nothing is half done.
            Ok(()) | Err(LockError::OwnerEnded) => {}
            Err(LockError::Portal(error)) => return Err(error),
        }
        // Two thirds of what its export declares: it has that again when others have held it up.
        imports::THREADS.sleep_until(now() + ticks(20_000))?;
        lock.unlock()?;
        Ok(self.done.fetch_add(1, Relaxed) + 1)
    }

    fn occupy(&self) -> Result<bool, Error> {
        self.shall_occupy.store(true, Relaxed);
        Ok(self.occupies.load(Relaxed))
    }

    fn wait(&self) -> Result<u64, Error> {
        match imports::KEEPER.keep() {
            // Its own thread has the only stack there.
            Err(Error::Cancelled) => Ok(self.done.fetch_add(1, Relaxed) + 1),
            other => other.and(Err(Error::Unknown)),
        }
    }
}
