//! Makes coins, and serves them to whoever has them.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::object::ObjectTable;
use cairn::sync::Semaphore;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Caller, Error, Object, Passed, Place};
use cairn_interfaces::{Grants, Portals, Rights, Successor};
use cairn_test_hostile_capabilities_contract::{Bank, Coin};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

cairn::component! {
    name: "capabilities-bank",
    imports: { portals: Portals, grants: Grants },
    exports: { bank: Bank = BANK, successor: Successor = BANK },
    objects: { coins: Coin = COINS },
}

struct Server;
static BANK: Server = Server;

/// A coin.
struct Metal(u64);
static COINS: ObjectTable<Metal, 16> = ObjectTable::new();

static GATE: Semaphore = Semaphore::new(0);
// Relaxed: a number that is looked at again and again.
static WAITING: AtomicU64 = AtomicU64::new(0);
/// First portal of a coin of another bank's: the number is all that there is.
static OTHER: AtomicU32 = AtomicU32::new(0);

impl Bank for Server {
    fn coin(&self, place: Place, value: u64) -> Result<Object<dyn Coin>, Error> {
        imports::PORTALS.grant(place, COINS.insert(Metal(value))?)
    }

    fn melt(&self, value: u64) -> Result<u64, Error> {
        let mut found = None;
        COINS.for_each(|control, coin| {
            if coin.0 == value {
                found = Some(control);
            }
        });
        let control = found.ok_or(Error::NotFound)?;
        COINS.remove(control)?;
        imports::PORTALS.end_object("Coin", control)
    }

    fn release(&self) -> Result<(), Error> {
        GATE.release()
    }

    fn waiting(&self) -> Result<u64, Error> {
        Ok(WAITING.load(Ordering::Relaxed))
    }

    fn deposit(&self, coin: Passed<dyn Coin>) -> Result<(), Error> {
        imports::GRANTS.take(coin).map(drop)
    }

    fn change(&self, place: Place, coin: Passed<dyn Coin>) -> Result<Object<dyn Coin>, Error> {
        let coin = imports::GRANTS.take(coin)?;
        OTHER.store(coin.first_portal(), Ordering::Relaxed);
        imports::GRANTS.put(place, &coin, Rights::ALL).map(|(coin, _)| coin)
    }

    fn close(&self) -> Result<(), Error> {
        imports::PORTALS.close(OTHER.load(Ordering::Relaxed).into())
    }
}

/// Pairs of a control word and a value. Who waits in a coin is not called home: a replacement is refused meanwhile.
impl Successor for Server {
    fn call_home(&self, _called: bool) -> Result<(), Error> {
        Ok(())
    }

    fn export_state(&self, from: u64, part: WriteWindow<'_>) -> Result<usize, Error> {
        let (mut at, mut written) = (0, Ok(0));
        COINS.for_each(|control, coin| {
            let pair = [control.to_le_bytes(), coin.0.to_le_bytes()];
            if from == 0 && written.is_ok() {
                written = part.write(at, pair.as_flattened());
                at += 16;
            }
        });
        written.map(|_| at)
    }

    fn import_state(&self, _size: u64, _from: u64, part: ReadWindow<'_>) -> Result<(), Error> {
        let mut bytes = [0; 16 * 16];
        let (words, _) = part.copy(&mut bytes)?.as_chunks::<8>();
        words.chunks_exact(2).try_for_each(|pair| {
            let [control, value] = [pair[0], pair[1]].map(u64::from_le_bytes);
            COINS.restore(control, Metal(value))
        })
    }
}

impl Coin for Metal {
    fn value(&self) -> Result<u64, Error> {
        Ok(self.0)
    }

    fn add(&self, number: u64) -> Result<u64, Error> {
        Ok(self.0 + number)
    }

    fn caller(&self, caller: Caller) -> Result<u64, Error> {
        Ok(caller.0.0.into())
    }

    fn wait(&self) -> Result<u64, Error> {
        WAITING.fetch_add(1, Ordering::Relaxed);
        GATE.acquire().map(|()| self.0)
    }

    fn sum(&self, bytes: ReadWindow<'_>) -> Result<u64, Error> {
        let mut copy = [0; 64];
        Ok(bytes.copy(&mut copy)?.iter().map(|byte| u64::from(*byte)).sum())
    }
}
