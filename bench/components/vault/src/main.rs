//! Locks that whoever calls may leave taken, and a thread that waits for each.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::thread::Stack;
use cairn_bench::{VAULT_LOCKS, Vault};
use cairn_interfaces::{LockProxy, Portals, SemaphoreProxy, Threads, spawn};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "vault",
    imports: { portals: Portals, threads: Threads },
    exports: { vault: Vault = SERVER },
    main: main,
}

/// Priority of the threads that wait: below the first thread's.
const FIRST_PRIORITY: u8 = 20;

static LOCKS: [AtomicU32; VAULT_LOCKS] = [const { AtomicU32::new(0) }; VAULT_LOCKS];
static STACKS: [Stack<4096>; VAULT_LOCKS] = [const { Stack::new() }; VAULT_LOCKS];
static START: AtomicU32 = AtomicU32::new(0);

fn lock(number: u64) -> Result<LockProxy, Error> {
    let place = LOCKS.get(number as usize).ok_or(Error::BadArgument)?;
    Ok(LockProxy::at(place.load(Relaxed)))
}

fn wait(number: u64) {
    if let Ok(lock) = lock(number) {
        let _ = lock.lock();
        let _ = lock.unlock();
    }
}

fn main() {
    let start = imports::PORTALS.semaphore(0).expect("the quota has room for it");
    START.store(start.first_portal(), Relaxed);
    start.proxy().p().expect("somebody says when");
    // The last lock is this thread's own.
    for (number, stack) in STACKS.iter().enumerate().skip(1) {
        let priority = FIRST_PRIORITY + number as u8;
        spawn(imports::THREADS, stack, wait, number as u64, priority).expect("spawn");
    }
    wait(0);
    let _ = imports::THREADS.sleep_until(u64::MAX);
}

impl Vault for Server {
    fn prepare(&self) -> Result<(), Error> {
        for place in &LOCKS {
            place.store(imports::PORTALS.lock()?.first_portal(), Relaxed);
        }
        Ok(())
    }
    fn take(&self, number: u64) -> Result<(), Error> {
        lock(number)?.lock().map_err(|_| Error::Busy)
    }
    fn give(&self, number: u64) -> Result<(), Error> {
        lock(number)?.unlock()
    }
    fn fill(&self) -> Result<(), Error> {
        SemaphoreProxy::at(START.load(Relaxed)).v()
    }
}
