//! The newer counter: it serves the older interface beside its own. It refuses its state if it is told to.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::object::ObjectTable;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, Object, Place};
use cairn_interfaces as interfaces;
use cairn_test_newer_contract::{Cell, Counter, Counter2, Sum};

cairn::component! {
    name: "newer-second",
    imports: { portals: interfaces::Portals },
    exports: {
        counter: Counter = SERVER,
        successor: interfaces::Successor = SERVER,
        counter2: Counter2 = SERVER,
        hidden: Counter2 = SERVER,
    },
    objects: { cell: Cell = CELLS },
    arguments: { refuses: u64 },
}

struct Server;
static SERVER: Server = Server;
static SUM: Sum = Sum::new();
static CELLS: ObjectTable<Sum, 4> = ObjectTable::new();

impl Counter for Server {
    fn add(&self, amount: u64) -> Result<u64, Error> {
        Ok(SUM.add(amount))
    }
}

impl Counter2 for Server {
    fn add_times(&self, amount: u64, times: u64) -> Result<u64, Error> {
        Ok(SUM.add(amount.saturating_mul(times)))
    }

    fn cell(&self, place: Place) -> Result<Object<dyn Cell>, Error> {
        let control = CELLS.insert(Sum::new())?;
        imports::PORTALS.grant::<dyn Cell>(place, control)
    }
}

impl interfaces::Successor for Server {
    fn call_home(&self, _: bool) -> Result<(), Error> {
        Ok(())
    }

    fn export_state(&self, _: u64, part: WriteWindow<'_>) -> Result<usize, Error> {
        SUM.export(part)
    }

    fn import_state(&self, _: u64, _: u64, part: ReadWindow<'_>) -> Result<(), Error> {
        match arguments::refuses() {
            0 => SUM.import(part),
            _ => Err(Error::VersionMismatch),
        }
    }
}
