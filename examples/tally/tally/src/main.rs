//! Counts, and hands its counts over to a successor.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::exclusive::Exclusive;
use cairn::object::ObjectTable;
use cairn::successor::{self, Reader, Writer};
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, Object, Place};
use cairn_example_tally_contract::{Tally, Ticket};
use cairn_interfaces::{Portals, Successor};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "example-tally",
    imports: { portals: Portals },
    exports: { tally: Tally = SERVER, successor: Successor = SERVER },
    objects: { ticket: Ticket = TICKETS },
    arguments: { step: u64 = 1 },
}

struct Server;
static SERVER: Server = Server;
// Relaxed: sums, each by one operation.
static SUM: AtomicU64 = AtomicU64::new(0);
struct Own(AtomicU64);
static TICKETS: ObjectTable<Own, 16> = ObjectTable::new();

fn add(sum: &AtomicU64) -> u64 {
    sum.fetch_add(arguments::step(), Relaxed) + arguments::step()
}

impl Tally for Server {
    fn count(&self) -> Result<u64, Error> {
        Ok(add(&SUM))
    }

    fn ticket(&self, place: Place) -> Result<Object<dyn Ticket>, Error> {
        let control = TICKETS.insert(Own(AtomicU64::new(0)))?;
        imports::PORTALS.grant(place, control).inspect_err(|_| {
            // Nobody knows it.
            let _ = TICKETS.remove(control);
        })
    }
}

impl Ticket for Own {
    fn bump(&self) -> Result<u64, Error> {
        Ok(add(&self.0))
    }
}

/// Which meaning the records have, and their kinds.
const VERSION: u64 = 1;
const BEGIN: u8 = 0;
const TOTAL: u8 = 1;
const TICKET: u8 = 2;
const END: u8 = 3;
/// The loader calls one at a time.
static READER: Exclusive<Reader> = Exclusive::new(Reader::new());

impl Successor for Server {
    fn call_home(&self, _: bool) -> Result<(), Error> {
        Ok(())
    }

    fn export_state(&self, from: u64, part: WriteWindow<'_>) -> Result<usize, Error> {
        successor::export(from, part.len(), |at, bytes| part.write(at, bytes), write)
    }

    fn import_state(&self, size: u64, from: u64, part: ReadWindow<'_>) -> Result<(), Error> {
        READER.with(|reader| reader.import((size, from), part, take)).map(drop)
    }
}

fn write(writer: &mut Writer) -> Result<(), Error> {
    writer.record(BEGIN, &[&VERSION.to_le_bytes()])?;
    writer.record(TOTAL, &[&SUM.load(Relaxed).to_le_bytes()])?;
    let mut result = Ok(());
    TICKETS.for_each(|control, own| {
        let [control, sum] = [control, own.0.load(Relaxed)].map(u64::to_le_bytes);
        if result.is_ok() {
            result = writer.record(TICKET, &[&control, &sum]);
        }
    });
    result?;
    writer.record(END, &[&TICKETS.generation().to_le_bytes()])
}

fn take(kind: u8, content: &[u8]) -> Result<(), Error> {
    match kind {
        BEGIN if successor::word(content)?.0 == VERSION => {}
        TOTAL => SUM.store(successor::word(content)?.0, Relaxed),
        TICKET => {
            let [control, sum] = successor::words(content)?.0;
            TICKETS.restore(control, Own(AtomicU64::new(sum)))?;
        }
        // A ticket that has ended is not another one here.
        END => TICKETS.follow(u32::from_le_bytes(successor::split(content)?.0)),
        _ => return Err(Error::VersionMismatch),
    }
    Ok(())
}
