//! Holds calls, with a lock; and the end of a chain.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::object::ObjectTable;
use cairn::sync::Mutex;
use cairn::time::{now, ticks};
use cairn::{Error, Object, Place};
use cairn_interfaces::{Portals, Threads};
use cairn_test_hostile_nest::{Holder, Hop, Token};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Server;
static SERVER: Server = Server;
static FINISHED: Mutex<u64> = Mutex::new(0);
static HOLDING: AtomicU64 = AtomicU64::new(0);
struct Number(u64);
static NUMBERS: ObjectTable<Number, 4> = ObjectTable::new();

cairn::component! {
    name: "hostile-holder",
    imports: { portals: Portals, threads: Threads },
    exports: { holder: Holder = SERVER, end: Hop = SERVER },
    objects: { token: Token = NUMBERS },
}

impl Holder for Server {
    fn hold(&self, microseconds: u64) -> Result<u64, Error> {
        let mut finished = FINISHED.lock()?;
        HOLDING.store(1, Relaxed);
        // The supervisor ends the sleep of who is on the way home to a dead domain, if it lasts.
        let _ = imports::THREADS.sleep_until(now() + ticks(microseconds));
        HOLDING.store(0, Relaxed);
        *finished += 1;
        Ok(*finished)
    }

    fn finished(&self) -> Result<u64, Error> {
        FINISHED.lock().map(|finished| *finished)
    }

    fn holding(&self) -> Result<u64, Error> {
        Ok(HOLDING.load(Relaxed))
    }

    fn token(&self, place: Place, number: u64) -> Result<Object<dyn Token>, Error> {
        let control = NUMBERS.insert(Number(number))?;
        imports::PORTALS.grant(place, control)
    }
}

impl Token for Number {
    fn number(&self) -> Result<u64, Error> {
        Ok(self.0)
    }
}

impl Hop for Server {
    fn go(&self, _steps: u64) -> Result<u64, Error> {
        Ok(0)
    }

    fn count(&self) -> Result<u64, Error> {
        Err(Error::NotSupported)
    }
}
