//! Counts by a counter in its domain, and keeps how often.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::sync::Mutex;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, time};
use cairn_interfaces as interfaces;
use cairn_test_replaced_contract::{Counter, kinds};
use cairn_test_replaced_fellows_contract::{Front, Keeper, misbehaves};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "replaced-fellows-front",
    imports: { counter: Counter, portals: interfaces::Portals, threads: interfaces::Threads, keeper: Keeper },
    exports: { front: Front = SERVER, successor: interfaces::Successor = SERVER },
    arguments: { kind: u64 },
    init: init,
    main: main,
}

struct Server;
static SERVER: Server = Server;
// Relaxed: a sum and a word, each by one operation.
static ASKED: AtomicU64 = AtomicU64::new(0);
static HOW: AtomicU64 = AtomicU64::new(0);
static LOCKED: Mutex<u64> = Mutex::new(0);

/// Before it serves.
fn init() {
    if arguments::kind() == kinds::FAULTS {
        panic!("on purpose");
    }
}

/// It has a lock and is in calls out of its domain, and into its fellow, most of the time.
fn main() {
    loop {
        if HOW.load(Relaxed) == misbehaves::LINGERS {
            let _ = imports::KEEPER.keep(time::ticks(600_000));
        }
        if let Ok(mut count) = LOCKED.lock() {
            *count += imports::COUNTER.kind().unwrap_or(0);
            let _ = imports::THREADS.sleep_until(time::now() + time::ticks(50));
        }
    }
}

impl Front for Server {
    fn add(&self, amount: u64) -> Result<(u64, u64), Error> {
        let sum = imports::COUNTER.add(amount)?;
        Ok((sum, ASKED.fetch_add(1, Relaxed) + 1))
    }

    fn kinds(&self) -> Result<(u64, u64), Error> {
        Ok((imports::COUNTER.kind()?, arguments::kind()))
    }

    fn stay(&self, ticks: u64) -> Result<(), Error> {
        imports::COUNTER.stay(ticks)
    }

    fn misbehave(&self, how: u64) -> Result<(), Error> {
        HOW.store(how, Relaxed);
        Ok(())
    }
}

impl interfaces::Successor for Server {
    fn call_home(&self, called: bool) -> Result<(), Error> {
        match (HOW.load(Relaxed), called) {
            (misbehaves::STAYS, true) => Err(Error::NotAllowed),
            _ => Ok(()),
        }
    }

    fn export_state(&self, _: u64, part: WriteWindow<'_>) -> Result<usize, Error> {
        match HOW.load(Relaxed) {
            misbehaves::KEEPS => return Err(Error::NotAllowed),
            misbehaves::DIES => panic!("on purpose"),
            _ => {}
        }
        let words = [ASKED.load(Relaxed), HOW.load(Relaxed)].map(u64::to_le_bytes);
        part.write(0, words.as_flattened())
    }

    fn import_state(&self, _: u64, _: u64, part: ReadWindow<'_>) -> Result<(), Error> {
        let mut words = [[0; 8]; 2];
        part.copy(words.as_flattened_mut())?;
        let [asked, how] = words.map(u64::from_le_bytes);
        match (arguments::kind(), how) {
            (kinds::REFUSES, _) | (_, misbehaves::REFUSES) => return Err(Error::VersionMismatch),
            (kinds::DIES, _) | (_, misbehaves::CHOKES) => panic!("on purpose"),
            _ => {}
        }
        ASKED.store(asked, Relaxed);
        Ok(())
    }
}
