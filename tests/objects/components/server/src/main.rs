//! Makes objects, as many as are asked for.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::object::{Object, ObjectTable, Place};
use cairn_interfaces::Portals;
use cairn_test_objects_contract::{Item, Shelf};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

const OBJECTS: usize = 1000;

struct Server;
static SERVER: Server = Server;
static ITEMS: ObjectTable<Numbered, OBJECTS> = ObjectTable::new();
// Relaxed: one thread at a time calls.
static MADE: AtomicU64 = AtomicU64::new(0);
static CONTROLS: [AtomicU64; OBJECTS] = [const { AtomicU64::new(0) }; OBJECTS];

cairn::component! {
    name: "objects-server",
    imports: { portals: Portals },
    exports: { shelf: Shelf = SERVER },
    objects: { item: Item = ITEMS },
}

struct Numbered(u64);

impl Item for Numbered {
    fn number(&self) -> Result<u64, Error> {
        Ok(self.0)
    }
}

impl Shelf for Server {
    fn take(&self, place: Place, number: u64) -> Result<Object<dyn Item>, Error> {
        let control = ITEMS.insert(Numbered(number))?;
        let object = imports::PORTALS.grant(place, control)?;
        let made = MADE.fetch_add(1, Relaxed) as usize;
        CONTROLS.get(made).ok_or(Error::Exhausted)?.store(control, Relaxed);
        Ok(object)
    }

    fn clear(&self) -> Result<(), Error> {
        let made = MADE.swap(0, Relaxed) as usize;
        CONTROLS.iter().take(made).try_for_each(|control| ITEMS.remove(control.load(Relaxed)))
    }
}
