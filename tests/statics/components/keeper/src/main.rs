//! Has as many locks and semaphores as its statics need, and no thread that could prepare them: its callers come first.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::sync::{Channel, Condvar, Mutex, Once, RwLock, Semaphore, Signal};
use cairn::window::{ReadWindow, WriteWindow};
use cairn_app_interfaces::Echo;
use cairn_interfaces::Portals;

static COUNT: Mutex<u64> = Mutex::new(0);
static FREE: Semaphore = Semaphore::new(2);
static PASSED: Channel<u64, 4> = Channel::new();
static LEVEL: RwLock<u64> = RwLock::new(0);
static BASE: Once<u64> = Once::new();
static RAISED: Condvar = Condvar::new();
static DONE: Signal = Signal::new();

struct Keeper;
static KEEPER: Keeper = Keeper;

cairn::component! {
    name: "keeper",
    imports: { portals: Portals },
    exports: { echo: Echo = KEEPER },
}

impl Echo for Keeper {
    /// With 0, adds a number by way of all statics; the value is the sum. With 1, waits until the sum is the number.
    fn add(&self, what: u64, number: u64) -> Result<u64, Error> {
        if what == 1 {
            let count = COUNT.lock()?;
            return RAISED.wait_while(count, |count| *count != number).map(|count| *count);
        }
        let base = BASE.get_or_init(|| Ok(1000))?;
        FREE.acquire()?;
        PASSED.send(number)?;
        let mut count = COUNT.lock()?;
        *count += PASSED.receive()?;
        *LEVEL.write()? = *count;
        FREE.release()?;
        DONE.signal()?;
        RAISED.notify_all()?;
        drop(count);
        Ok(base + *LEVEL.read()?)
    }

    /// It was done, once or more often.
    fn say(&self, _: ReadWindow) -> Result<(), Error> {
        DONE.wait()?;
        if DONE.try_wait()? { Err(Error::Malformed) } else { Ok(()) }
    }

    fn fill(&self, _: WriteWindow) -> Result<usize, Error> {
        Ok(0)
    }
}
